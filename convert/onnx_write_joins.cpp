// Layers of several inputs of one shape.
#include "onnx_exporters.hpp"

namespace coldpress::convert::onnx_out {
namespace {

Name add(LayerWriter& w, Add const&) { return w.add("Add", {w.x(0), w.x(1)}); }
Name subtract(LayerWriter& w, Subtract const&) { return w.add("Sub", {w.x(0), w.x(1)}); }
Name multiply(LayerWriter& w, Multiply const&) { return w.add("Mul", {w.x(0), w.x(1)}); }
Name divide(LayerWriter& w, Divide const&) { return w.add("Div", {w.x(0), w.x(1)}); }
Name max(LayerWriter& w, Max const&) { return w.add("Max", {w.x(0), w.x(1)}); }
Name min(LayerWriter& w, Min const&) { return w.add("Min", {w.x(0), w.x(1)}); }
Name where(LayerWriter& w, Where const&) {
  constexpr Index boolean = 9;
  return w.add("Where", {w.add("Cast", {w.x(0)}, {{"to", boolean}}), w.x(1), w.x(2)});
}
Name concat(LayerWriter& w, Concat const& layer) {
  std::vector<Name> inputs;
  for (std::size_t k = 0; k < w.inputs(); ++k) inputs.push_back(w.x(k));
  return w.add("Concat", inputs, {{"axis", w.axis(layer.axis)}});
}

}  // namespace

std::span<Exporter const> join_exporters() {
  static constexpr std::array rows{
      exporter<Add, add>("Add"),
      exporter<Subtract, subtract>("Sub"),
      exporter<Multiply, multiply>("Mul"),
      exporter<Divide, divide>("Div"),
      exporter<Max, max>("Max"),
      exporter<Min, min>("Min"),
      exporter<Where, where>("Cast, Where"),
      exporter<Concat, concat>("Concat"),
  };
  return rows;
}

}  // namespace coldpress::convert::onnx_out
