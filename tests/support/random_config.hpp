// Random networks as configs of named layers, in the order in which the layers were drawn.
#pragma once

#include <coldpress/dynamic.hpp>

#include "support/random.hpp"

#include <map>
#include <string>
#include <vector>

namespace coldpress::test {

/// A network whose values are read, joined, concatenated, shared and viewed, with several inputs, and with or without
/// losses. All layers are smooth, so that differences approximate gradients.
class RandomConfig {
 public:
  RandomConfig(std::uint64_t seed, Index most_layers, bool losses) : random_(seed) {
    for (Index k = 0, count = random_.integer(1, 3); k < count; ++k) add_input({random_.integer(1, 5)});
    add_linear(0);  // so that something learns
    for (Index i = 0, count = random_.integer(2, most_layers); i < count; ++i) add_layer();
    // Values that no layer reads become outputs, or get a loss.
    std::map<std::string, int> outputs;  // by the value behind views
    for (std::size_t v = 0; v < values_.size(); ++v) {
      Known const value = values_[v];
      bool const input = is_input(value);
      if (losses && value.readers == 0 && !input && random_.integer(0, 1) == 0 &&
          config_.inputs.size() + 1 < max_network_inputs) {
        add_loss(v);
      } else if (!input && (value.readers == 0 || random_.integer(0, 9) == 0) && outputs[value.source]++ == 0) {
        outputs_.push_back(value.name), ++behind_views_[value.source];
      }
    }
    if (outputs_.empty() || losses) {  // a value that learns
      config_.layers.push_back(wired("last", Linear{2}, {values_[0].name}));
      values_.push_back({"last", "last", {2}});
      if (outputs_.empty()) outputs_.push_back("last");
      if (losses) add_loss(values_.size() - 1);
    }
    for (Known const& value : values_) most_readers_ = std::max(most_readers_, behind_views_[value.source]);
    for (auto const& [key, users] : users_) most_readers_ = std::max(most_readers_, users.count);
  }

  dynamic::LayerConfig config() const {
    dynamic::LayerConfig all{"network", config_};
    all.outputs = outputs_;
    return all;
  }
  /// The same layers in another order.
  dynamic::LayerConfig shuffled() {
    dynamic::LayerConfig all = config();
    auto& layers = std::get<dynamic::SequentialConfig>(all.layer_type).layers;
    for (std::size_t i = layers.size() - 1; i > 0; --i)
      std::swap(layers[i], layers[static_cast<std::size_t>(random_.integer(0, static_cast<Index>(i)))]);
    return all;
  }
  int losses() const { return losses_; }
  /// The largest number of gradients that are added to one.
  int most_readers() const { return most_readers_; }
  /// The largest number of values in a layer's input.
  Index widest() const {
    Index most = 1;
    for (Known const& value : values_) most = std::max(most, value.shape.size());
    return most;
  }
  /// The number of classes of the labels in input k; 0 if it has values.
  Index classes(std::size_t k) const { return classes_.count(k) > 0 ? classes_.at(k) : 0; }

 private:
  struct Known {
    std::string name, source;  // source: the value behind this one, if this is a view
    Shape shape;
    bool positive = false;  // far from zero, so that it may be a divisor
    bool log_probabilities = false;
    int readers = 0;
  };
  static bool is_input(Known const& value) { return value.source.rfind("in", 0) == 0; }
  struct Users {
    Shape in;
    Index out;
    int count;
  };

  static dynamic::LayerConfig wired(std::string const& name, dynamic::LayerType type, std::vector<std::string> inputs) {
    dynamic::LayerConfig layer{name, std::move(type)};
    layer.inputs = std::move(inputs), layer.outputs = {name};
    return layer;
  }
  std::string add_input(Shape shape) {
    std::string const name = "in" + std::to_string(config_.inputs.size());
    config_.add_input(name, shape);
    values_.push_back({name, name, shape});
    return name;
  }
  /// A random value, more likely a recent one.
  std::size_t any() {
    auto const newest = static_cast<Index>(values_.size()) - 1;
    return static_cast<std::size_t>(
        random_.integer(random_.integer(0, 3) == 0 ? 0 : std::max<Index>(0, newest - 4), newest));
  }
  /// Another value of the same shape if one is found, else the same value.
  template <class Fits>
  std::size_t partner(std::size_t value, Fits fits) {
    for (int tries = 0; tries < 20; ++tries) {
      std::size_t const other = any();
      if (values_[other].shape == values_[value].shape && fits(values_[other])) return other;
    }
    return value;
  }
  Known& add(dynamic::LayerType type, std::vector<std::size_t> const& from, Shape shape, bool view = false) {
    std::string const name = "v" + std::to_string(values_.size());
    std::vector<std::string> inputs;
    for (std::size_t value : from) {
      inputs.push_back(values_[value].name), ++values_[value].readers;
      if (!view) ++behind_views_[values_[value].source];
    }
    config_.layers.push_back(wired(name, std::move(type), inputs));
    std::string const source = view ? values_[from[0]].source : name;
    values_.push_back({name, source, shape});
    return values_.back();
  }
  void add_layer() {
    std::size_t const x = any();
    Shape const shape = values_[x].shape;
    auto const anything = [](Known const&) { return true; };
    switch (random_.integer(0, 17)) {
      case 0:
        add(Softmax{}, {x}, shape);
        break;
      case 1:
        add(LogSoftmax{}, {x}, shape).log_probabilities = shape.size() > 1;
        break;
      case 2:
        add(Sigmoid{}, {x}, shape).positive = true;
        break;
      case 3:
        add(GELU{}, {x}, shape);
        break;
      case 4:
        add(Dropout{.probability = 0.25f, .seed = static_cast<std::uint64_t>(x)}, {x}, shape);
        break;
      case 5:
        add(Split{}, {x}, shape, true);
        break;
      case 6:
        add(Reshape{{1, shape.size()}}, {x}, {1, shape.size()}, true);
        break;
      case 7:
        add(Flatten{}, {x}, {shape.size()}, true);
        break;
      case 8:
        add(RandomNormal{.shape = shape, .seed = static_cast<std::uint64_t>(x)}, {}, shape);
        break;
      case 9:
        add(Slice{.axis = -1, .end = 1}, {x}, shape.rank() == 1 ? Shape{1} : Shape{1, 1});
        break;
      case 10: {
        std::vector<std::size_t> parts;
        Index sum = 0;
        for (Index k = 0, count = random_.integer(2, 8); k < count || parts.size() < 2; ++k) {
          std::size_t const part = any();
          if (parts.size() >= 2 && values_[part].shape.rank() != 1) continue;
          if (values_[part].shape.rank() == 1) parts.push_back(part), sum += values_[part].shape.size();
        }
        add(Concat{}, parts, {sum});
        break;
      }
      case 11:
      case 12:
        add(Add{}, {x, partner(x, anything)}, shape);
        break;
      case 13:
        add(Subtract{}, {x, partner(x, anything)}, shape);
        break;
      case 14:
        add(TanH{}, {x}, shape);
        add(Multiply{}, {values_.size() - 1, partner(x, anything)}, shape);
        break;
      case 15:
        if (std::size_t const by = partner(x, [](Known const& v) { return v.positive; }); values_[by].positive)
          add(Divide{}, {x, by}, shape);
        break;
      default:
        add_linear(x);
    }
    if (random_.integer(0, 2) == 0) add(TanH{}, {values_.size() - 1}, Shape{values_.back().shape});  // keeps it small
  }
  void add_linear(std::size_t x) {
    Shape const in = values_[x].shape;
    for (auto& [key, users] : users_) {
      if (users.in.size() != in.size() || random_.integer(0, 1) == 0) continue;
      add(Linear{users.out}, {x}, {users.out});
      config_.layers.back().params = {{.name = key}};
      ++users.count;
      return;
    }
    Index const out = random_.integer(1, 6);
    add(Linear{out}, {x}, {out});
    if (random_.integer(0, 1) == 0) return;
    std::string const key = "key" + std::to_string(users_.size());
    config_.layers.back().params = {{.name = key}};
    users_[key] = {in, out, 1};
  }
  void add_loss(std::size_t v) {
    Known const value = values_[v];
    std::string const name = "loss" + std::to_string(++losses_);
    dynamic::LayerType type = MeanSquaredError{.loss_weight = 0.5f, .loss_average = Average::values};
    Shape target = value.shape;
    if (value.log_probabilities) {
      type = NegativeLogLikelihood{value.shape.size()}, target = {1};
      classes_[config_.inputs.size()] = value.shape.size();
    }
    dynamic::LayerConfig loss{name, std::move(type)};
    std::size_t const other = partner(v, is_input);
    if (!value.log_probabilities && is_input(values_[other])) {  // a reconstruction
      loss.inputs = {value.name, values_[other].name};
    } else {
      std::string const targets = "in" + std::to_string(config_.inputs.size());
      config_.add_input(targets, target);
      loss.inputs = {value.name, targets};
    }
    ++values_[v].readers, ++behind_views_[value.source];
    config_.layers.push_back(std::move(loss));
  }

  Random random_;
  dynamic::SequentialConfig config_ = {};
  std::vector<Known> values_ = {};
  std::vector<std::string> outputs_ = {};
  std::map<std::string, Users> users_ = {};
  std::map<std::string, int> behind_views_ = {};  // readers of a value, including those through its views
  std::map<std::size_t, Index> classes_ = {};
  int losses_ = 0, most_readers_ = 0;
};

}  // namespace coldpress::test
