// Layers that change where values are, and not what they are.
#include "onnx_exporters.hpp"

namespace coldpress::convert::onnx_out {
namespace {

Name identity(LayerWriter& w, Identity const&) { return w.x(); }
Name split(LayerWriter& w, Split const&) { return w.x(); }
Name reshape(LayerWriter& w, Reshape const&) { return w.reshape(w.x(), w.out()); }
Name flatten(LayerWriter& w, Flatten const&) { return w.add("Flatten", {w.x()}, {{"axis", 1}}); }
Name permute(LayerWriter& w, Permute const& layer) {
  Extents order{0};
  for (int a = 0; a < w.rank(); ++a) order.push_back(layer.axes.order[a] + 1);
  return w.transpose(w.x(), order);
}
/// Axes of a sample are repeated, and new ones come before them, but behind that of the samples.
Name expand(LayerWriter& w, Expand const&) {
  int const more = w.out().rank() - w.rank();
  Extents from(static_cast<std::size_t>(more), 1), to = extents_of(w.out());
  Extents const own = extents_of(w.in());
  from.insert(from.end(), own.begin(), own.end());
  to.insert(to.begin(), 1);
  return w.add("Expand", {more > 0 ? w.reshape(w.x(), from) : w.x(), w.indices(to, "to")});
}
Name slice(LayerWriter& w, Slice const& layer) {
  Index const axis = w.axis(layer.axis), extent = w.in()[static_cast<int>(axis) - 1];
  auto const from_begin = [&](Index place) { return place < 0 ? place + extent : place; };
  return w.slice(w.x(), axis, from_begin(layer.begin), layer.end > 0 ? layer.end : layer.end + extent);
}
/// The middle, as in inference.
Name crop(LayerWriter& w, Crop const& layer) {
  int const rank = w.rank();
  Index const top = (w.in()[rank - 2] - layer.size[0]) / 2, left = (w.in()[rank - 1] - layer.size[1]) / 2;
  return w.add("Slice",
               {w.x(), w.indices({top, left}, "begin"), w.indices({top + layer.size[0], left + layer.size[1]}, "end"),
                w.indices({rank - 1, rank}, "axes")});
}
Name pad(LayerWriter& w, Pad const& layer) {
  constexpr std::array<std::string_view, 3> modes{"constant", "reflect", "edge"};  // as PadMode has them
  auto const axes = static_cast<std::size_t>(w.rank() + 1), first = static_cast<std::size_t>(w.axis(layer.axis));
  Extents pads(2 * axes, 0);
  for (std::size_t a = first; a < axes; ++a) {
    pads[a] = layer.before[static_cast<int>(a - first)];
    pads[axes + a] = layer.after[static_cast<int>(a - first)];
  }
  return w.add("Pad", {w.x(), w.indices(pads, "pads"), w.number(layer.value, "value")},
               {{"mode", modes[static_cast<std::size_t>(layer.mode)]}});
}

/// The places of the nearest values, where ONNX would compute them from a factor that is rounded.
Name nearest(LayerWriter& w, Name const& x, Index axis, Index from, Index to) {
  LayerWriter::expect({to});
  Extents places;
  for (Index i = 0; i < to; ++i) places.push_back(i * from / to);
  return w.add("Gather", {x, w.indices(places, "places")}, {{"axis", axis}});
}
/// A sequence is an image of one channel, with the steps as its rows.
Name resize(LayerWriter& w, Resize const& layer) {
  bool const linear = layer.mode == ResizeMode::linear, sequence = w.rank() == 2;
  Index const more = sequence ? 1 : 0;
  Extents axes, sizes;
  Name x = sequence ? w.reshape(w.x(), Extents{1, w.in()[0], w.in()[1]}) : w.x();
  for (int a = 0; a < w.rank(); ++a) {
    Index const from = w.in()[a], to = w.out()[a];
    if (from == to) continue;
    if (!linear && to % from != 0) {
      x = nearest(w, x, a + 1 + more, from, to);
    } else {
      axes.push_back(a + 1 + more), sizes.push_back(to);
    }
  }
  if (!axes.empty()) {
    Attributes attributes{{"axes", axes},
                          {"mode", linear ? "linear" : "nearest"},
                          {"coordinate_transformation_mode", linear ? "half_pixel" : "asymmetric"}};
    if (!linear) attributes.push_back({"nearest_mode", "floor"});
    x = w.add("Resize", {x, "", "", w.indices(sizes, "sizes")}, attributes);
  }
  return sequence ? w.reshape(x, w.out()) : x;
}

}  // namespace

std::span<Exporter const> shape_exporters() {
  static constexpr std::array rows{
      exporter<Identity, identity>("Identity"),
      exporter<Split, split>("Identity"),
      exporter<Reshape, reshape>("Reshape"),
      exporter<Flatten, flatten>("Flatten"),
      exporter<Permute, permute>("Transpose"),
      exporter<Expand, expand>("Expand, with Reshape for new axes"),
      exporter<Slice, slice>("Slice"),
      exporter<Crop, crop>("Slice, of the middle as in inference"),
      exporter<Pad, pad>("Pad"),
      exporter<Resize, resize>(
          "Resize, of a sequence between two of Reshape; the nearest value by Gather if the factor is no whole number"),
  };
  return rows;
}

}  // namespace coldpress::convert::onnx_out
