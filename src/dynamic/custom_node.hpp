// A custom layer among the layers of a graph, as a layer with several inputs.
#pragma once

#include <coldpress/backend/layout.hpp>
#include <coldpress/dynamic/any_layer.hpp>
#include <coldpress/dynamic/layer_config.hpp>

namespace coldpress::dynamic {

struct CustomNode {
  static constexpr std::string_view name = "custom";
  static constexpr Capabilities capabilities{};  // What the layer itself declares is in its node, see node_of.
  AnyLayer const* layer;                         // borrowed, so that any layer of a graph is copied like numbers

  Shape output_shape(Shapes in) const { return layer->output_shape(in); }
  std::vector<Parameter> parameters(Shapes in) const { return layer->parameters(in); }
  Index flops(Shapes in) const { return layer->flops(in); }
  Totals totals(Shapes in) const { return layer->totals(in); }
  Index state(Shapes in) const { return layer->state(in); }
  Index remembers(Shapes in) const { return layer->remembers(in); }
  template <class Backend>
  Index scratch(Shapes in, Extent extent) const {
    return layer->scratch(is_reference<Backend>, in, extent);
  }
  void forward(auto const& backend, auto const& pass) const {
    layer->forward(primitives(backend),
                   as_part<CustomNode>(
                       pass, AnyLayer::WholeForward{
                                 pass.in, pass.x, pass.p, pass.y, {}, pass.memory, pass.state, pass.key, pass.step}));
  }
  void backward(auto const& backend, auto const& pass) const {
    with(pass, [&](AnyLayer::Backward const& all) { layer->backward(primitives(backend), all); });
  }
  void backward_input(auto const& backend, auto const& pass) const {
    with(pass, [&](AnyLayer::Backward const& all) { layer->backward_input(primitives(backend), all); });
  }
  void backward_parameters(auto const& backend, auto const& pass) const {
    with(pass, [&](AnyLayer::Backward const& all) { layer->backward_parameters(primitives(backend), all); });
  }
  bool operator==(CustomNode const&) const = default;

  template <class Backend>
  static constexpr bool is_reference = !std::is_base_of_v<cpu::Layout, Backend>;

 private:
  template <class Backend>
  static AnyLayer::Primitives primitives(Backend const& backend) {
    if constexpr (is_reference<Backend>) {
      return {true, {.scratch = backend.scratch}};
    } else {
      return {false, backend};
    }
  }
  /// Calls f(pass). The gradients of weights go to memory, because the engine fuses no updates if custom layers have
  /// weights; so with other sinks there is nothing to store.
  template <class Pass, class F>
  static void with(Pass const& pass, F f) {
    GradientSinks<float> sinks{};
    if constexpr (std::is_same_v<decltype(pass.sinks), GradientSinks<float>>) sinks = pass.sinks;
    f(as_part<CustomNode>(
        pass, AnyLayer::WholeBackward{
                  pass.in, pass.x, pass.p, pass.y, pass.dy, pass.dx, {}, sinks, pass.memory, pass.key, pass.step}));
  }
};

inline Node node_of(CustomNode const& custom, View<int const> inputs, Shapes in) {
  return custom.layer->node(inputs, in);
}
inline std::uint64_t layer_key(CustomNode const& custom, std::uint64_t seed, std::string_view layer_name) {
  return custom.layer->key(seed, layer_name);
}

/// The custom layer of a config. Throws UnsupportedError if no type of this name is registered, ConfigError for a field
/// that the type does not have.
std::shared_ptr<AnyLayer const> custom_layer_of(Custom const& custom);

/// All types of layers that a node of a graph can have.
using GraphLayer =
    detail::Alternatives<BuiltinLayers::Plain, BuiltinLosses::Plain, BuiltinStatistics::Plain, CustomNode>::type;
static_assert(std::is_trivially_copyable_v<GraphLayer>, "copying a hundred kinds of layers takes the compiler long");

}  // namespace coldpress::dynamic
