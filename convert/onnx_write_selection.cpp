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
  Name const numbers = w.add("Squeeze", {w.integers(), w.indices({axis}, "axes")});
  constexpr std::array<float, 2> values{0, 1};
  return w.add("OneHot", {numbers, w.index(layer.num_classes, "depth"), w.numbers(values, {2}, "values")},
               {{"axis", axis}});
}
Name embedding(LayerWriter& w, Embedding const&) {
  return w.add("Gather", {w.weight(0), w.row(w.integers(), w.in())}, {{"axis", 0}});
}
/// Each sample has places of its own.
Name gather(LayerWriter& w, Gather const& layer) {
  Index const axis = w.axis(layer.axis), count = w.in(1).size();
  Extents places(static_cast<std::size_t>(w.rank()), 1), all = extents_of(w.out());
  places[static_cast<std::size_t>(axis - 1)] = count;
  all.insert(all.begin(), 1);
  Name const repeated = w.add("Expand", {w.reshape(w.integers(1), places), w.indices(all, "all")});
  return w.add("GatherElements", {w.x(), repeated}, {{"axis", axis}});
}
Name random_normal(LayerWriter&, RandomNormal const&) {
  refuse("it draws numbers by the place of a sample in the minibatch, and no operator of ONNX draws the same ones");
}

constexpr std::array rows{
    exporter<Argmax, argmax>("ArgMax, Cast"),
    exporter<TopK, top_k>("TopK"),
    exporter<Onehot, onehot>("Squeeze, OneHot, with Cast to whole numbers", true),
    exporter<Embedding, embedding>("Gather, with Cast to whole numbers", true),
    exporter<Gather, gather>("Reshape, Expand, GatherElements, with Cast to whole numbers", true),
    exporter<RandomNormal, random_normal>("none: it is refused"),
};

}  // namespace

std::span<Exporter const> selection_exporters() { return rows; }

}  // namespace coldpress::convert::onnx_out
