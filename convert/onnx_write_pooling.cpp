// Windows that slide over values, and sums along an axis.
#include "onnx_exporters.hpp"

namespace coldpress::convert::onnx_out {
namespace {

/// Pools x [samples, channels, ...] over these axes. Zeros behind an axis are as many as its last window sees, also
/// where the number of windows is rounded up.
Name pooled(LayerWriter& w, Name const& x, PoolingMode mode, std::vector<Axis> const& axes, bool count_padding) {
  Extents filter, strides, before, after;
  for (Axis const& axis : axes) {
    filter.push_back(axis.filter), strides.push_back(axis.stride);
    before.push_back(axis.padding), after.push_back(axis.padding_after());
  }
  before.insert(before.end(), after.begin(), after.end());
  Attributes attributes{{"kernel_shape", filter}, {"strides", strides}, {"pads", before}};
  if (mode == PoolingMode::max) return w.add("MaxPool", {x}, attributes);
  attributes.push_back({"count_include_pad", Index{count_padding}});
  return w.add("AveragePool", {x}, attributes);
}

Name pooling(LayerWriter& w, Pooling const& layer) {
  PoolingGeometry const g = layer.geometry(w.in());
  std::vector<Axis> axes{g.height, g.width};
  if (w.rank() == 4) axes.insert(axes.begin(), g.depth);
  return pooled(w, w.x(), layer.mode, axes, layer.count_padding);
}

/// The axis is the height of images of what comes before and after it.
Name channel_pooling(LayerWriter& w, ChannelPooling const& layer) {
  Along const a{w.in(), layer.axis};
  Name const images = w.reshape(w.x(), Extents{a.outer, a.extent, a.inner});
  Axis beside;
  beside.in = beside.out = a.inner;
  return w.reshape(pooled(w, images, layer.mode, {layer.window(w.in()), beside}, true), w.out());
}

/// The mean square of a window around each value, with zeros around the sample.
Name mean_square(LayerWriter& w, LRN const& layer) {
  Name const squares = w.add("Mul", {w.x(), w.x()});
  bool const across = layer.mode == LRNMode::across;
  auto const around = [&](Index extent) {
    return Axis{.in = extent, .out = extent, .filter = layer.size, .padding = (layer.size - 1) / 2};
  };
  if (!across) return pooled(w, squares, PoolingMode::average, {around(w.in()[1]), around(w.in()[2])}, true);
  Along const a{w.in(), 0};
  Name const images = w.reshape(squares, Extents{1, a.extent, a.inner});
  Axis beside;
  beside.in = beside.out = a.inner;
  return w.reshape(pooled(w, images, PoolingMode::average, {around(a.extent), beside}, true), w.in());
}
Name lrn(LayerWriter& w, LRN const& layer) {
  if (layer.mode == LRNMode::across && layer.size % 2 == 1 && w.rank() == 3) {
    return w.add("LRN", {w.x()},
                 {{"size", layer.size}, {"alpha", layer.scale}, {"beta", layer.power}, {"bias", layer.shift}});
  }
  Name const scaled = w.add("Mul", {mean_square(w, layer), w.number(layer.scale, "scale")});
  Name const sum = w.add("Add", {scaled, w.number(layer.shift, "shift")});
  return w.add("Div", {w.x(), w.add("Pow", {sum, w.number(layer.power, "power")})});
}

Name global_average_pooling(LayerWriter& w, GlobalAveragePooling const&) {
  if (w.rank() == 1) return w.x();
  Extents axes;
  for (int a = 1; a < w.rank(); ++a) axes.push_back(a + 1);
  return w.add("ReduceMean", {w.x(), w.indices(axes, "axes")}, {{"keepdims", 0}});
}

Name reduce(LayerWriter& w, Reduce const& layer) {
  constexpr std::array<std::string_view, 5> operators{"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin",
                                                      "ReduceProd"};  // as ReduceOperation has them
  Name const axes = w.indices({w.axis(layer.axis)}, "axes");
  return w.add(operators[static_cast<std::size_t>(layer.operation)], {w.x(), axes},
               {{"keepdims", Index{w.rank() == 1}}});
}

}  // namespace

std::span<Exporter const> pooling_exporters() {
  static constexpr std::array rows{
      exporter<Pooling, pooling>("MaxPool or AveragePool"),
      exporter<ChannelPooling, channel_pooling>("MaxPool or AveragePool between two of Reshape"),
      exporter<LRN, lrn>(
          "LRN; Mul, AveragePool, Mul, Add, Pow and Div within channels, for an even size, and for samples "
          "that are no images"),
      exporter<GlobalAveragePooling, global_average_pooling>("ReduceMean"),
      exporter<Reduce, reduce>("ReduceSum, ReduceMean, ReduceMax, ReduceMin or ReduceProd"),
  };
  return rows;
}

}  // namespace coldpress::convert::onnx_out
