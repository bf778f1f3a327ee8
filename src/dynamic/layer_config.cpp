// The members of configs that copy, compare, destroy and check all kinds of layers, compiled once for all programs.
#include <coldpress/dynamic/executable.hpp>

#include <cmath>
#include <memory>

namespace coldpress::dynamic {
namespace {

template <class... Types>
std::variant<Types...> moved(std::size_t alternative, void* layer, std::variant<Types...> const*) {
  using Any = std::variant<Types...>;
  using Move = Any (*)(void*);
  static constexpr Move moves[] = {[](void* from) { return Any{std::move(*static_cast<Types*>(from))}; }...};
  return moves[alternative](layer);
}

}  // namespace

LayerType::LayerType(std::size_t alternative, void* layer)
    : variant(moved(alternative, layer, static_cast<variant const*>(nullptr))) {}
LayerType::LayerType(LayerType const&) = default;
LayerType::LayerType(LayerType&&) noexcept = default;
LayerType& LayerType::operator=(LayerType const& other) { return *this = LayerType{other}; }
// By two functions that there are anyway: assignments would be as many again, for each alternative.
LayerType& LayerType::operator=(LayerType&& other) noexcept {
  if (this != &other) std::destroy_at(this), std::construct_at(this, std::move(other));
  return *this;
}
LayerType::~LayerType() = default;
bool operator==(LayerType const& a, LayerType const& b) {
  using Variant = LayerType::variant;
  return static_cast<Variant const&>(a) == static_cast<Variant const&>(b);
}

LayerConfig::LayerConfig(std::string given_name, LayerType type)
    : name(std::move(given_name)), layer_type(std::move(type)) {}
LayerConfig::LayerConfig(LayerConfig const&) = default;
LayerConfig::LayerConfig(LayerConfig&&) noexcept = default;
LayerConfig& LayerConfig::operator=(LayerConfig const&) = default;
LayerConfig& LayerConfig::operator=(LayerConfig&&) noexcept = default;
LayerConfig::~LayerConfig() = default;
bool LayerConfig::operator==(LayerConfig const&) const = default;

std::string type_name(LayerType const& type) {
  return std::visit(
      [](auto const& layer) -> std::string {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(layer)>, Custom>) {
          return layer.type;
        } else {
          return std::string{layer.name};
        }
      },
      type);
}

SequentialConfig& SequentialConfig::add_layer(LayerConfig layer) {
  layers.push_back(std::move(layer));
  return *this;
}
SequentialConfig& SequentialConfig::add_input(std::string input, Shape shape) {
  inputs.push_back({std::move(input), shape});
  return *this;
}

void check_filler(Filler const& filler) {
  if (filler.kind < Filler::Kind::constant || filler.kind > Filler::Kind::orthogonal) throw ConfigError{"is no filler"};
  for (float const number : {filler.a, filler.b}) {
    if (!std::isfinite(number)) throw ConfigError{"must be a finite number, is " + std::to_string(number)};
  }
  if (filler.kind == Filler::Kind::gaussian && filler.b < 0)
    throw ConfigError{"a deviation must not be negative, is " + std::to_string(filler.b)};
}

Shape loss_input(Objective const& objective, Shape shape) {
  for (LayerType const& type : objective.layers) {
    std::visit(
        [&](auto const& layer) {
          if constexpr (coldpress::Layer<std::remove_cvref_t<decltype(layer)>>)
            shape = output_shape_of(layer, Shapes{&shape, 1});
        },
        type);
  }
  return shape;
}

}  // namespace coldpress::dynamic
