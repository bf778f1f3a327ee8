// Normalisations, and softmax.
#include "complement.hpp"
#include "onnx_exporters.hpp"

namespace coldpress::convert::onnx_out {
namespace {

/// An operator over all values of a sample.
Name over_all(LayerWriter& w, std::string_view op) {
  Name const y = w.add(op, {w.row(w.x(), w.in())}, {{"axis", 1}});
  return w.rank() == 1 ? y : w.reshape(y, w.in());
}
Name softmax(LayerWriter& w, Softmax const&) { return over_all(w, "Softmax"); }
Name log_softmax(LayerWriter& w, LogSoftmax const&) { return over_all(w, "LogSoftmax"); }
Name softmax_over(LayerWriter& w, SoftmaxOver const& layer) {
  return w.add(layer.logarithm ? "LogSoftmax" : "Softmax", {w.x()}, {{"axis", w.axis(layer.axis)}});
}

/// ONNX has the channels on the first axis of a sample.
Name batch_normalization(LayerWriter& w, BatchNormalization const& layer) {
  Index const axis = w.axis(layer.axis);
  std::vector<Name> const inputs{w.exchange(w.x(), 1, axis), w.weight(0), w.weight(1), w.weight(2), w.weight(3)};
  return w.exchange(
      w.add("BatchNormalization", inputs, {{"epsilon", layer.epsilon}, {"momentum", complement(layer.momentum)}}), 1,
      axis);
}
Name layer_normalization(LayerWriter& w, LayerNormalization const& layer) {
  return w.add("LayerNormalization", {w.x(), w.weight(0), w.weight(1)}, {{"axis", -1}, {"epsilon", layer.epsilon}});
}
Name group_normalization(LayerWriter& w, GroupNormalization const& layer) {
  Index const channels = w.in()[0];
  Name const x = w.rank() == 1 ? w.reshape(w.x(), Extents{channels, 1}) : w.x();
  Name const y = w.add("GroupNormalization", {x, w.weight(0), w.weight(1)},
                       {{"num_groups", layer.groups == 0 ? channels : layer.groups}, {"epsilon", layer.epsilon}});
  return w.rank() == 1 ? w.reshape(y, w.out()) : y;
}
/// ONNX has an operator for it from opset 23 on.
Name rms_normalization(LayerWriter& w, RMSNormalization const& layer) {
  Name const squares = w.add("Mul", {w.x(), w.x()});
  Name const mean = w.add("ReduceMean", {squares, w.indices({-1}, "axes")}, {{"keepdims", 1}});
  Name const root = w.add("Sqrt", {w.add("Add", {mean, w.number(layer.epsilon, "epsilon")})});
  return w.add("Mul", {w.add("Div", {w.x(), root}), w.weight(0)});
}

}  // namespace

std::span<Exporter const> normalization_exporters() {
  static constexpr std::array rows{
      exporter<Softmax, softmax>("Softmax, of several axes between Flatten and Reshape"),
      exporter<LogSoftmax, log_softmax>("LogSoftmax, of several axes between Flatten and Reshape"),
      exporter<SoftmaxOver, softmax_over>("Softmax or LogSoftmax"),
      exporter<BatchNormalization, batch_normalization>(
          "BatchNormalization, along another axis than the first between two of Transpose"),
      exporter<LayerNormalization, layer_normalization>("LayerNormalization"),
      exporter<GroupNormalization, group_normalization>("GroupNormalization"),
      exporter<RMSNormalization, rms_normalization>("Mul, ReduceMean, Add, Sqrt, Div, Mul"),
  };
  return rows;
}

}  // namespace coldpress::convert::onnx_out
