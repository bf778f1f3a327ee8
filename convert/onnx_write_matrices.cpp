// Dense layers and products of matrices.
#include "onnx_exporters.hpp"

namespace coldpress::convert::onnx_out {
namespace {

Name linear(LayerWriter& w, Linear const& layer) {
  if (layer.last_axis && w.rank() > 1) {
    Name const product = w.add("MatMul", {w.x(), w.transposed_weight(0)});
    return layer.has_bias ? w.add("Add", {product, w.weight(1)}) : product;
  }
  std::vector<Name> inputs{w.row(w.x(), w.in()), w.weight(0)};
  if (layer.has_bias) inputs.push_back(w.weight(1));
  return w.add("Gemm", inputs, {{"transB", 1}});
}
Name tied_linear(LayerWriter& w, TiedLinear const&) {
  return w.add("Gemm", {w.row(w.x(), w.in()), w.weight(0), w.weight(1)});
}

Name product(LayerWriter& w, MatMul const& layer) {
  Name const b = layer.transpose ? w.exchange(w.x(1), w.rank() - 1, w.rank()) : w.x(1);
  Name const all = w.add("MatMul", {w.x(0), b});
  return layer.scale == 1 ? all : w.add("Mul", {all, w.number(layer.scale, "scale")});
}

}  // namespace

std::span<Exporter const> matrix_exporters() {
  static constexpr std::array rows{
      exporter<Linear, linear>("Gemm; along the last axis MatMul and Add"),
      exporter<TiedLinear, tied_linear>("Gemm, with the weight of the other layer"),
      exporter<MatMul, product>("MatMul, with Transpose and Mul"),
  };
  return rows;
}

}  // namespace coldpress::convert::onnx_out
