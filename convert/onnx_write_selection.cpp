// Layers that select, and those that are selected by numbers.
#include "onnx_exporters.hpp"

namespace coldpress::convert::onnx_out {
namespace {

constexpr Index floats = 1;  // the type, for Cast

Name argmax(LayerWriter& w, Argmax const& layer) {
  Name const place = w.add("ArgMax", {w.x()}, {{"axis", w.axis(layer.axis)}, {"keepdims", 1}});
  w.set_integers(place);
  return w.add("Cast", {place}, {{"to", floats}});
}
Name top_k(LayerWriter& w, TopK const& layer) {
  return w.add_several("TopK", {w.x(), w.indices({layer.k}, "k")}, {{"axis", w.axis(layer.axis)}}, 2)[0];
}
Name onehot(LayerWriter& w, Onehot const& layer) {
  Index const axis = w.axis(layer.axis);
  Name const numbers = w.integers(0, w.add("Squeeze", {w.selecting(0), w.indices({axis}, "axes")}));
  constexpr std::array<float, 2> values{0, 1};
  return w.add("OneHot", {numbers, w.index(layer.num_classes, "depth"), w.numbers(values, {2}, "values")},
               {{"axis", axis}});
}
Name embedding(LayerWriter& w, Embedding const&) {
  return w.add("Gather", {w.weight(0), w.integers(0, w.row(w.selecting(0), w.in()))}, {{"axis", 0}});
}
/// Each sample has places of its own. ONNX has them along the first axis of a sample.
Name gather(LayerWriter& w, Gather const& layer) {
  Index const axis = w.axis(layer.axis);
  Name const places = w.integers(1, w.reshape(w.selecting(1), Extents{w.in(1).size(), 1}));
  return w.exchange(w.add("GatherND", {w.exchange(w.x(), 1, axis), places}, {{"batch_dims", 1}}), 1, axis);
}
Name random_normal(LayerWriter&, RandomNormal const&) {
  refuse("it draws numbers by the place of a sample in the minibatch, and no operator of ONNX draws the same ones");
}

}  // namespace

std::span<Exporter const> selection_exporters() {
  static constexpr std::array rows{
      exporter<Argmax, argmax>("ArgMax, Cast"),
      exporter<TopK, top_k>("TopK"),
      exporter<Onehot, onehot>("Squeeze, OneHot, with Cast to whole numbers", true),
      exporter<Embedding, embedding>("Gather, with Cast to whole numbers", true),
      exporter<Gather, gather>("Reshape and GatherND, along another axis than the first between two of Transpose, with "
                               "Cast to whole numbers",
                               true),
      exporter<RandomNormal, random_normal>("none: it is refused"),
  };
  return rows;
}

}  // namespace coldpress::convert::onnx_out
