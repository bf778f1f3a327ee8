// Attention of steps to steps, in operators that every version of ONNX has.
#include "onnx_exporters.hpp"

#include <cmath>
#include <limits>

namespace coldpress::convert::onnx_out {
namespace {

constexpr float hidden = -std::numeric_limits<float>::infinity();  // of a mask: the key is not seen
constexpr float lowest = std::numeric_limits<float>::lowest();     // the same where no key may be seen at all

class Attention {
 public:
  Attention(LayerWriter& w, ScaledDotProductAttention const& layer) : w_(w), layer_(layer) {
    packed_ = w.inputs() < 3;
    heads_ = layer.heads, kv_heads_ = layer.kv_heads > 0 ? layer.kv_heads : heads_;
    Index const features = w.in().last();
    queries_ = steps(0), keys_ = packed_ ? queries_ : steps(1);
    size_ = packed_ ? features / (heads_ + 2 * kv_heads_) : features / heads_;
    value_size_ = packed_ ? size_ : w.in(2).last() / kv_heads_;
  }

  Name write() {
    auto const x = parts();
    Name const q = heads_of(x[0], queries_, heads_, size_, {0, 2, 1, 3});
    Name const k = heads_of(x[1], keys_, kv_heads_, size_, {0, 2, 3, 1});
    Name const v = heads_of(x[2], keys_, kv_heads_, value_size_, {0, 2, 1, 3});
    float const scale = layer_.scale > 0 ? layer_.scale : 1 / std::sqrt(static_cast<float>(size_));
    Name scores = w_.add("Mul", {w_.add("MatMul", {q, k}), w_.number(scale, "scale")});
    bool const more = w_.inputs() % 2 == 0, lengths = more && last().rank() == 1;
    if (more && !lengths) scores = w_.add("Add", {scores, given_mask()});
    if (layer_.causal) scores = w_.add("Add", {scores, causal_mask()});
    Name const seen = lengths ? seen_keys() : Name{};
    if (lengths) scores = w_.add("Where", {seen, scores, w_.number(lowest, "hidden")});
    Name weights = w_.add("Softmax", {scores}, {{"axis", -1}});
    if (lengths) weights = w_.add("Mul", {weights, w_.add("Cast", {seen}, {{"to", 1}})});
    if (some_see_nothing()) weights = w_.add("Mul", {weights, queries_that_see()});
    Name const y = w_.transpose(w_.add("MatMul", {weights, v}), {0, 2, 1, 3});
    return w_.reshape(y, w_.out());
  }

 private:
  Index steps(std::size_t k) const { return w_.in(k).rank() == 1 ? 1 : w_.in(k)[0]; }
  Shape const& last() const { return w_.in(w_.inputs() - 1); }
  Index first_key(Index query) const { return layer_.window > 0 ? std::max<Index>(0, query - layer_.window + 1) : 0; }

  /// Queries, keys and values.
  std::vector<Name> parts() {
    if (!packed_) return {w_.x(0), w_.x(1), w_.x(2)};
    Name const sizes = w_.indices({heads_ * size_, kv_heads_ * size_, kv_heads_ * size_}, "sizes");
    return w_.add_several("Split", {w_.x(), sizes}, {{"axis", -1}}, 3);
  }
  /// [samples, heads, steps, size] in an order; keys and values that serve several heads are repeated.
  Name heads_of(Name const& x, Index count, Index heads, Index size, Extents const& order) {
    if (heads == heads_) return w_.transpose(w_.reshape(x, Extents{count, heads, size}), order);
    Name const apart = w_.reshape(x, Extents{count, heads, 1, size});
    Name const repeated = w_.add("Expand", {apart, w_.indices({1, 1, 1, heads_ / heads, 1}, "repeated")});
    return w_.transpose(w_.reshape(repeated, Extents{count, heads_, size}), order);
  }
  Name given_mask() {
    Shape const& shape = last();
    int const rank = shape.rank();
    return w_.reshape(w_.x(w_.inputs() - 1), Extents{rank == 3 ? shape[0] : 1, shape[rank - 2], shape[rank - 1]});
  }
  Name causal_mask() {
    LayerWriter::expect({queries_, keys_});
    std::vector<float> mask;
    for (Index q = 0; q < queries_; ++q) {
      for (Index k = 0; k < keys_; ++k) {
        bool const seen = (k >= first_key(q) && k <= q) || first_key(q) >= keys_;
        mask.push_back(seen ? 0 : hidden);
      }
    }
    return w_.numbers(mask, {queries_, keys_}, "mask");
  }
  /// Whether each key is one of those that its sample has, [samples, 1, 1, keys].
  Name seen_keys() {
    LayerWriter::expect({keys_});
    std::vector<float> places;
    for (Index k = 0; k < keys_; ++k) places.push_back(static_cast<float>(k));
    Name const count = w_.add("Floor", {w_.reshape(w_.x(w_.inputs() - 1), Extents{1, 1, 1})});
    return w_.add("Less", {w_.numbers(places, {keys_}, "places"), count});
  }
  /// Whether the window of the last query is behind all keys; its output is 0.
  bool some_see_nothing() const { return layer_.causal && first_key(queries_ - 1) >= keys_; }
  Name queries_that_see() {
    std::vector<float> sees;
    for (Index q = 0; q < queries_; ++q) sees.push_back(first_key(q) < keys_ ? 1.0f : 0.0f);
    return w_.numbers(sees, {queries_, 1}, "sees");
  }

  LayerWriter& w_;
  ScaledDotProductAttention const& layer_;
  bool packed_;
  Index heads_, kv_heads_, queries_, keys_, size_, value_size_;
};

Name attention(LayerWriter& w, ScaledDotProductAttention const& layer) { return Attention{w, layer}.write(); }

}  // namespace

std::span<Exporter const> attention_exporters() {
  static constexpr std::array rows{
      exporter<ScaledDotProductAttention, attention>(
          "Reshape, Transpose, MatMul, Mul, Add of masks, Softmax, MatMul; Split, Expand of shared heads, and Less and "
          "Where for numbers of keys"),
  };
  return rows;
}

}  // namespace coldpress::convert::onnx_out
