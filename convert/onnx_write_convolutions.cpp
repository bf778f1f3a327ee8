// Convolutions of images, of volumes and of sequences.
#include "onnx_exporters.hpp"

namespace coldpress::convert::onnx_out {
namespace {

/// f(axis) for each axis that the windows slide along: the steps of a sequence, height and width, or also the depth.
template <class F>
Extents each_axis(VolumeGeometry const& g, F f) {
  Extents all;
  if (g.is_volume()) all.push_back(f(g.depth));
  all.push_back(f(g.height));
  if (!g.is_sequence()) all.push_back(f(g.width));
  return all;
}

Attributes attributes_of(VolumeGeometry const& g) {
  return {{"kernel_shape", each_axis(g, [](Axis const& axis) { return axis.filter; })},
          {"strides", each_axis(g, [](Axis const& axis) { return axis.stride; })},
          {"dilations", each_axis(g, [](Axis const& axis) { return axis.dilation; })},
          {"group", g.groups}};
}

/// A convolution of x, with the channels first, as ONNX has them. Steps come first here.
Name convolved(LayerWriter& w, std::string_view op, bool has_bias, Attributes const& attributes) {
  auto const apply = [&](Name const& x) {
    std::vector<Name> inputs{x, w.weight(0)};
    if (has_bias) inputs.push_back(w.weight(1));
    return w.add(op, inputs, attributes);
  };
  if (w.rank() >= 3) return apply(w.x());
  if (w.rank() == 2) return w.transpose(apply(w.transpose(w.x(), {0, 2, 1})), {0, 2, 1});
  return w.row(apply(w.reshape(w.x(), Extents{w.in().size(), 1})), {w.out().size(), 1});
}

Name convolution(LayerWriter& w, Convolution const& layer) {
  VolumeGeometry const g = layer.geometry(w.in());
  Attributes attributes = attributes_of(g);
  Extents pads = each_axis(g, [](Axis const& axis) { return axis.padding; });
  Extents const after = each_axis(g, [](Axis const& axis) { return axis.padding_after(); });
  pads.insert(pads.end(), after.begin(), after.end());
  attributes.push_back({"pads", pads});
  return convolved(w, "Conv", layer.has_bias, attributes);
}

Name convolution_transpose(LayerWriter& w, ConvolutionTranspose const& layer) {
  VolumeGeometry const g = layer.geometry(w.in());
  Attributes attributes = attributes_of(g);
  Extents pads = each_axis(g, [](Axis const& axis) { return axis.padding; });
  pads.insert(pads.end(), pads.begin(), pads.end());
  attributes.push_back({"pads", pads});
  Extents more;
  for (int a = 0; a + 1 < w.rank(); ++a) {
    Index const padding = layer.output_padding[a], stride = layer.stride[a];
    if (padding >= stride)  // the specification allows less than the dilation, too, but onnxruntime does not
      refuse("its output padding of " + std::to_string(padding) + " is not less than its stride of " +
             std::to_string(stride) + ", and onnxruntime does not run that");
    more.push_back(padding);
  }
  attributes.push_back({"output_padding", more});
  return convolved(w, "ConvTranspose", layer.has_bias, attributes);
}

}  // namespace

std::span<Exporter const> convolution_exporters() {
  static constexpr std::array rows{
      exporter<Convolution, convolution>("Conv, of a sequence between two of Transpose"),
      exporter<ConvolutionTranspose, convolution_transpose>("ConvTranspose, of a sequence between two of Transpose"),
  };
  return rows;
}

}  // namespace coldpress::convert::onnx_out
