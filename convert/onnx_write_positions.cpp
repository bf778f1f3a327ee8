// Layers that know the place of a step in its sequence, which are constants in ONNX.
#include <coldpress/core/positions.hpp>

#include "onnx_exporters.hpp"

#include <cmath>

namespace coldpress::convert::onnx_out {
namespace {

Name learned_positions(LayerWriter& w, LearnedPositions const& layer) {
  Index const steps = steps_of(w.in());
  Name const table = w.weight(0);
  return w.add("Add", {w.x(), steps == layer.most ? table : w.slice(table, 0, 0, steps)});
}

/// The numbers of all steps and features of a sample, as a constant.
template <class F>
Name each_feature(LayerWriter& w, std::string const& what, F f) {
  Index const steps = steps_of(w.in()), features = w.in().last();
  LayerWriter::expect(w.in());
  std::vector<float> values;
  for (Index t = 0; t < steps; ++t) {
    for (Index i = 0; i < features; ++i) values.push_back(static_cast<float>(f(t, i)));
  }
  return w.numbers(values, extents_of(w.in()), what);
}

Name sinusoidal_positions(LayerWriter& w, SinusoidalPositions const& layer) {
  Name const waves = each_feature(w, "waves", [&](Index t, Index i) {
    double const angle = position_angle(static_cast<double>(layer.base), static_cast<double>(t), i / 2, w.in().last());
    return i % 2 == 0 ? std::sin(angle) : std::cos(angle);
  });
  return w.add("Add", {w.x(), waves});
}

/// y = x cos + partner(x) sin, where the first feature of a pair has -sin. What is not turned has a cosine of 1.
Name rotary_positions(LayerWriter& w, RotaryPositions const& layer) {
  Index const all = w.in().last(), size = layer.size > 0 ? layer.size : all,
              rotated = layer.rotated > 0 ? layer.rotated : size, heads = layer.heads > 0 ? layer.heads : all / size,
              pairs = rotated / 2;
  struct Place {
    bool turned, first;
    Index pair, partner;
  };
  auto const place = [&](Index feature) -> Place {
    Index const i = feature % size;
    if (feature / size >= heads || i >= rotated) return {false, false, 0, feature};
    bool const first = layer.interleaved ? i % 2 == 0 : i < pairs;
    Index const distance = layer.interleaved ? 1 : pairs;
    return {true, first, layer.interleaved ? i / 2 : i % pairs, first ? feature + distance : feature - distance};
  };
  auto const angle = [&](Index t, Place const& at) {
    return at.turned ? position_angle(static_cast<double>(layer.base), static_cast<double>(t), at.pair, 2 * pairs) : 0;
  };
  LayerWriter::expect(w.in());
  Extents partners;
  for (Index i = 0; i < all; ++i) partners.push_back(place(i).partner);
  Name const cosines = each_feature(w, "cos", [&](Index t, Index i) { return std::cos(angle(t, place(i))); });
  Name const sines = each_feature(w, "sin", [&](Index t, Index i) {
    Place const at = place(i);
    return at.first ? -std::sin(angle(t, at)) : std::sin(angle(t, at));
  });
  Name const partner = w.add("Gather", {w.x(), w.indices(partners, "partners")}, {{"axis", w.rank()}});
  return w.add("Add", {w.add("Mul", {w.x(), cosines}), w.add("Mul", {partner, sines})});
}

}  // namespace

std::span<Exporter const> position_exporters() {
  static constexpr std::array rows{
      exporter<LearnedPositions, learned_positions>("Add, with Slice for fewer steps than the table has"),
      exporter<SinusoidalPositions, sinusoidal_positions>("Add"),
      exporter<RotaryPositions, rotary_positions>("Mul, Gather, Mul, Add"),
  };
  return rows;
}

}  // namespace coldpress::convert::onnx_out
