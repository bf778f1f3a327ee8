// Finds the order of a container's layers and the values that they read, by names given and generated.
#include "wiring.hpp"

#include "custom_node.hpp"

#include <algorithm>
#include <limits>
#include <queue>

namespace coldpress::dynamic {
namespace {

constexpr std::size_t nobody = std::numeric_limits<std::size_t>::max();

/// Which layer computes each value, and which layers wait for it.
class Ordering {
 public:
  Ordering(std::vector<LayerConfig> const& layers, Scope const& scope, bool nameless)
      : layers_(layers), needs_(layers.size()), waits_(layers.size()), in_place_(layers.size()), taken_(layers.size()) {
    for (std::size_t i = 0; i < layers.size(); ++i) {
      Names const inputs{layers[i].inputs};
      for (std::string const& name : layers[i].outputs) {
        ++steps_;
        if (inputs.contains(name)) {
          in_place_[i] = true;
          continue;
        }
        Made& made = made_[name];
        made.first = std::min(made.first, i), made.last = i;
      }
    }
    for (std::size_t i = 0; i < layers.size(); ++i) {
      for (std::string const& name : layers[i].inputs) {
        ++steps_;
        if (scope.find(name) || (nameless && i == 0)) continue;
        auto const found = made_.find(name);
        if (found == made_.end()) continue;  // no layer computes it, which is reported later
        needs_[i].push_back(&found->second);
        found->second.wanted_by.push_back(i);
        as_listed_ = as_listed_ && found->second.first < i;
      }
      waits_[i] = needs_[i].size() + follows(i);
    }
  }

  Order order() {
    std::vector<std::size_t> order;
    if (as_listed_) {
      for (std::size_t i = 0; i < layers_.size(); ++i) order.push_back(i);
      return {std::move(order), steps_};
    }
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      if (waits_[i] == 0) ready(i);
    }
    while (!ready_.empty()) {
      std::size_t const next = ready_.top().second;
      ready_.pop();
      order.push_back(next);
      take(next);
    }
    if (order.size() < layers_.size()) throw ConfigError{cycle()};
    return {std::move(order), steps_};
  }

 private:
  /// The layers that compute a value of one name, except those that work on it in place: the first and the last of them
  /// in the list. If these differ, the name is given twice, which is reported when the layers are added.
  struct Made {
    std::size_t first = nobody, last = nobody;  // indices of layers
    std::vector<std::size_t> wanted_by = {};
    bool there = false;
  };

  /// Whether layer i reads the output of the layer before it.
  bool follows(std::size_t i) const { return i > 0 && layers_[i].inputs.empty() && !is_source(layers_[i].layer_type); }
  void ready(std::size_t i) { ready_.emplace(!in_place_[i], i); }
  void release(std::size_t i) {
    ++steps_;
    if (--waits_[i] == 0) ready(i);
  }
  void take(std::size_t i) {
    taken_[i] = true;
    for (std::string const& name : layers_[i].outputs) {
      ++steps_;
      auto const found = made_.find(name);
      if (found == made_.end() || found->second.there) continue;
      if (in_place_[i] && Names{layers_[i].inputs}.contains(name)) continue;
      found->second.there = true;
      for (std::size_t const reader : found->second.wanted_by) release(reader);
    }
    if (i + 1 < layers_.size() && follows(i + 1)) release(i + 1);
  }
  /// A layer whose output layer i is waiting for.
  std::size_t awaited(std::size_t i) const {
    for (Made const* made : needs_[i]) {
      if (!made->there) return made->last;
    }
    return i - 1;
  }
  std::string cycle() const {
    std::vector<std::size_t> next(layers_.size());
    for (std::size_t i = 0; i < layers_.size(); ++i) next[i] = taken_[i] ? i : awaited(i);
    auto at = static_cast<std::size_t>(std::find(taken_.begin(), taken_.end(), false) - taken_.begin());
    for (std::size_t step = 0; step < layers_.size(); ++step) at = next[at];  // now it is in the cycle
    std::string text = "a cycle: '" + layers_[at].name + "'";
    for (std::size_t i = at; (i = next[i]) != at;) text += " needs '" + layers_[i].name + "', which";
    return text + " needs what '" + layers_[at].name + "' makes";
  }

  std::vector<LayerConfig> const& layers_;
  std::map<std::string_view, Made> made_;
  std::vector<std::vector<Made const*>> needs_;
  std::vector<std::size_t> waits_;  // for each layer, the number of values and layers that it waits for
  std::vector<bool> in_place_, taken_;
  using Ready = std::pair<bool, std::size_t>;  // those in place first, then in the order of the list
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready_;
  bool as_listed_ = true;
  std::size_t steps_ = 0;
};

}  // namespace

Names::Names(std::vector<std::string> const& names) : sorted_(names.begin(), names.end()) {
  std::sort(sorted_.begin(), sorted_.end());
}
bool Names::contains(std::string_view name) const { return std::binary_search(sorted_.begin(), sorted_.end(), name); }

void Scope::give(std::string const& name, Value value, bool in_place) {
  auto const [there, is_new] = given_.try_emplace(name, value);
  if (is_new) return;
  if (!in_place) throw ConfigError{"output '" + name + "' is made twice"};
  there->second = value;
}

void Scope::give_generated(std::string const& name, Value value) { generated_[name] = value; }

Value const* Scope::find(std::string const& name) const {
  for (auto const* values : {&given_, &generated_}) {
    if (auto const there = values->find(name); there != values->end()) return &there->second;
  }
  return nullptr;
}

Order order_of(std::vector<LayerConfig> const& layers, Scope const& scope, bool nameless) {
  return Ordering{layers, scope, nameless}.order();
}

bool is_source(LayerType const& type) {
  if (auto const* custom = std::get_if<Custom>(&type)) {
    Registration const* const known = find_type(custom->type);
    return known && known->source;
  }
  return std::visit([](auto const& layer) { return Source<std::remove_cvref_t<decltype(layer)>>; }, type);
}

bool works_in_place(LayerType const& type) {
  return std::visit(
      [](auto const& layer) {
        using L = std::remove_cvref_t<decltype(layer)>;
        constexpr bool draws = requires { layer.seed; };
        if constexpr (PointwiseLayer<L>) {
          return !draws;
        } else {
          return std::is_same_v<L, Reshape>;
        }
      },
      type);
}

std::string generated_name(LayerConfig const& layer, std::size_t i, bool last, std::string const& before) {
  if (last) return "SEQUENTIAL_OUTPUT_" + std::to_string(i);
  if (works_in_place(layer.layer_type)) return before;
  return "SEQUENTIAL_" + std::to_string(i);
}

}  // namespace coldpress::dynamic
