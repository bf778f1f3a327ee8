#include "wiring.hpp"

#include <algorithm>

namespace coldpress::dynamic {
namespace {

auto find_in(auto& values, std::string const& name) {
  return std::find_if(values.begin(), values.end(), [&](auto const& value) { return value.first == name; });
}

}  // namespace

void Scope::give(std::string const& name, Value value, bool in_place) {
  auto const there = find_in(given_, name);
  if (there == given_.end()) {
    given_.emplace_back(name, value);
  } else if (in_place) {
    there->second = value;
  } else {
    throw ConfigError{"output '" + name + "' is made twice"};
  }
}

void Scope::give_generated(std::string const& name, Value value) {
  auto const there = find_in(generated_, name);
  if (there == generated_.end()) {
    generated_.emplace_back(name, value);
  } else {
    there->second = value;
  }
}

Value const* Scope::find(std::string const& name) const {
  for (auto const* values : {&given_, &generated_}) {
    if (auto const there = find_in(*values, name); there != values->end()) return &there->second;
  }
  return nullptr;
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
