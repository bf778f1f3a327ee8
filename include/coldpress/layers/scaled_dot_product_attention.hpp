// The layer ScaledDotProductAttention: each step is a mean of values, weighted by how well keys match its query.
#pragma once

#include <coldpress/core/attention.hpp>
#include <coldpress/core/layer.hpp>

namespace coldpress {

/// y = softmax(scale q kᵀ + mask) v for each head (Vaswani et al. 2017, equation 1). Heads are side by side in the
/// features of a step. The inputs are
///   one: queries, keys and values side by side, {steps, (heads + 2 kv_heads) size}; or
///   three: queries {steps, heads size}, keys {keys, kv_heads size} and values {keys, kv_heads value_size};
/// and, as one more, either a mask that is added to the scores, {steps or 1, keys} or {heads, steps or 1, keys}, or the
/// number of keys of each sample, {1}. The output is {steps, heads value_size}. A single step may be {features}. No
/// memory grows with steps times keys. A query that sees no key gives 0.
struct ScaledDotProductAttention {
  static constexpr std::string_view name = "scaled_dot_product_attention";
  Index heads = 1;
  Index kv_heads = 0;   // heads / kv_heads query heads share each (Ainslie et al. 2023); 0: one per query head
  bool causal = false;  // whether a step sees only keys up to its own number
  Index window = 0;     // with `causal`: how many keys a step sees at most, its own included; 0: all. A stream, which
                        // needs it, keeps that many keys and values
  float scale = 0;      // of the scores; 0: 1 / sqrt(size)

  template <class Needs = Require>
  constexpr Shape output_shape(Shapes in, Needs require = {}) const {
    AttentionGeometry const g = geometry(in, require);
    Index const features = g.heads * g.value_size;
    return !in.empty() && in[0].has_rank(1) ? Shape{features} : Shape{g.queries, features};
  }
  constexpr Index flops(Shapes in) const {
    AttentionGeometry const g = geometry(in);
    return 2 * g.products() / (causal ? 2 : 1);
  }
  constexpr Index memory(Shapes in) const {
    AttentionGeometry const g = geometry(in);
    return AttentionPass<float>::kept * g.heads * g.queries;
  }
  constexpr Index state(Shapes in) const { return causal && window > 0 ? AttentionCache{geometry(in)}.size() : 0; }
  constexpr Index remembers(Shapes in) const { return state(in) > 0 ? window - 1 : 0; }
  template <class Backend>
  constexpr Index scratch(Shapes in, Extent extent) const {
    AttentionGeometry g = geometry(in);
    Index const whole = Backend::attention_scratch(g, extent);
    if (window == 0) return whole;
    g.keys = AttentionCache{g}.most_keys(), extent.training = false;
    return freestanding::max(whole, Backend::attention_scratch(g, extent));
  }

  constexpr void forward(auto const& backend, auto const& pass) const {
    auto attention = of(pass);
    attention.state = pass.state;
    backend.attend(attention);
  }
  constexpr void backward_input(auto const& backend, auto const& pass) const {
    using T = typename decltype(pass.dy)::Scalar;
    auto const attention = of(pass);
    AttentionGeometry const& g = attention.geometry;
    AttentionGradients<T> to{heads_of<T const>(pass.dy, g.heads * g.value_size, g.value_size), {}, {}, {}};
    if (packed(pass.in)) {
      Index const pitch = pass.in[0].last();
      to.dq = heads_of<T>(pass.dx[0], pitch, g.size);
      to.dk = heads_of<T>(pass.dx[0], pitch, g.size, g.heads * g.size);
      to.dv = heads_of<T>(pass.dx[0], pitch, g.size, (g.heads + g.kv_heads) * g.size);
    } else {
      to.dq = heads_of<T>(pass.dx[0], g.heads * g.size, g.size);
      to.dk = heads_of<T>(pass.dx[1], g.kv_heads * g.size, g.size);
      to.dv = heads_of<T>(pass.dx[2], g.kv_heads * g.value_size, g.value_size);
    }
    std::size_t const last = pass.in.size() - 1;
    if (has_lengths(pass.in)) {
      if (pass.dx[last].data) each_sample(backend, pass.dx[last], [&](Index n) { *pass.dx[last].row(n) = 0; });
    } else if (has_more(pass.in)) {
      to.dmask = mask_of<T>(pass.dx[last], pass.in[last]);
    }
    backend.attend_gradient(attention, to);
  }
  static constexpr Capabilities capabilities{
      .backward_reads_input = true, .backward_reads_output = true, .one_input = true};
  constexpr InputCapabilities capabilities_for(Shapes in) const {
    bool const goes_on = causal && window > 0 && !has_more(in) && (packed(in) || steps(in[0]) == steps(in[1]));
    return {.streaming = goes_on ? StreamSupport::always : StreamSupport::never};
  }
  bool operator==(ScaledDotProductAttention const&) const = default;

 private:
  static constexpr bool packed(Shapes in) { return in.size() < 3; }
  static constexpr bool has_more(Shapes in) { return in.size() % 2 == 0; }
  static constexpr bool has_lengths(Shapes in) { return has_more(in) && in[in.size() - 1].has_rank(1); }

  static constexpr Index steps(Shape const& in) { return in.has_rank(1) ? 1 : in[0]; }

  template <class Needs = Require>
  constexpr AttentionGeometry geometry(Shapes in, Needs require = {}) const {
    Index const kv = kv_heads == 0 ? heads : kv_heads;
    require(
        in.size() >= 1 && in.size() <= 4,
        "scaled_dot_product_attention: takes one to four inputs: queries, keys and values, or all side by side; and "
        "a mask or numbers of keys");
    require(heads > 0 && heads <= 1 << 16, "scaled_dot_product_attention: heads must be from 1 to 65536");
    if (require.failed()) return {1, 1, 1, 1, 1, 1, false, 0, 1};
    require(kv > 0 && heads % kv == 0, "scaled_dot_product_attention: kv_heads must divide heads");
    require(window >= 0 && window <= (1 << 23), "scaled_dot_product_attention: window must be from 0 to 8388608");
    require(window == 0 || causal, "scaled_dot_product_attention: a window needs causal");
    require(scale >= 0 && is_finite(scale),
            "scaled_dot_product_attention: scale must be a finite number of at least 0");
    AttentionGeometry g{1, 1, heads, kv, 1, 1, causal, window, scale};
    if (require.failed()) return g;
    for (std::size_t k = 0; k < (packed(in) ? 1 : 3); ++k)
      require(in[k].has_rank(1) || in[k].has_rank(2),
              "scaled_dot_product_attention: queries, keys and values must be {steps, features}");
    if (require.failed()) return g;
    Index const in_q = in[0].last();
    g.queries = steps(in[0]), g.keys = packed(in) ? g.queries : steps(in[1]);
    if (packed(in)) {
      require(in_q % (heads + 2 * kv) == 0,
              "scaled_dot_product_attention: heads + 2 kv_heads must divide the features of a step");
      g.size = g.value_size = in_q / (heads + 2 * kv);
    } else {
      Index const in_k = in[1].last(), in_v = in[2].last();
      require(steps(in[2]) == g.keys, "scaled_dot_product_attention: the numbers of keys and values differ");
      require(in_q % heads == 0, "scaled_dot_product_attention: heads must divide the features of a query");
      require(in_k == in_q / heads * kv,
              "scaled_dot_product_attention: the heads of queries and keys must have equally many features");
      require(in_v % kv == 0, "scaled_dot_product_attention: kv_heads must divide the features of a value");
      g.size = in_q / heads, g.value_size = in_v / kv;
    }
    require(g.queries > 0 && g.keys > 0 && g.size > 0 && g.value_size > 0,
            "scaled_dot_product_attention: an input has no values");
    if (has_more(in)) {
      Shape const& more = in[in.size() - 1];
      int const rank = more.rank();
      require(rank == 1 ? more[0] == 1
                        : rank <= 3 && more[rank - 1] == g.keys &&
                              (more[rank - 2] == g.queries || more[rank - 2] == 1) && (rank == 2 || more[0] == heads),
              "scaled_dot_product_attention: the last input must be a mask, {steps or 1, keys} or {heads, steps or 1, "
              "keys}, or a number of keys, {1}");
    }
    if (scale == 0 && !require.failed()) g.scale = 1 / freestanding::square_root(g.size);
    return g;
  }
  /// The heads in rows of {steps, features}, from a feature on.
  template <class T, class X>
  static constexpr HeadValues<T> heads_of(X const& x, Index features, Index size, Index first = 0) {
    return {x.data ? x.data + first : nullptr, x.pitch, features, size, 1};
  }
  template <class T, class X>
  static constexpr HeadValues<T> mask_of(X const& x, Shape const& in) {
    int const rank = in.rank();
    Index const keys = in[rank - 1], queries = in[rank - 2];
    return {x.data, x.pitch, queries == 1 ? 0 : keys, rank == 3 ? queries * keys : 0, 1};
  }
  template <class Pass>
  constexpr auto of(Pass const& pass) const {
    using T = typename std::remove_cvref_t<decltype(pass.y)>::Scalar;
    AttentionGeometry const g = geometry(pass.in);
    Index const pitch = packed(pass.in) ? pass.in[0].last() : 0;
    std::size_t const last = pass.in.size() - 1;
    AttentionPass<T> attention{
        .geometry = g, .samples = pass.y.rows, .q = {}, .k = {}, .v = {}, .y = {}, .memory = pass.memory};
    attention.y = heads_of<T>(Rows<T>{const_cast<T*>(pass.y.data), pass.y.rows, pass.y.columns, pass.y.pitch},
                              g.heads * g.value_size, g.value_size);
    if (packed(pass.in)) {
      attention.q = heads_of<T const>(pass.x[0], pitch, g.size);
      attention.k = heads_of<T const>(pass.x[0], pitch, g.size, g.heads * g.size);
      attention.v = heads_of<T const>(pass.x[0], pitch, g.size, (g.heads + g.kv_heads) * g.size);
    } else {
      attention.q = heads_of<T const>(pass.x[0], g.heads * g.size, g.size);
      attention.k = heads_of<T const>(pass.x[1], g.kv_heads * g.size, g.size);
      attention.v = heads_of<T const>(pass.x[2], g.kv_heads * g.value_size, g.value_size);
    }
    if (has_lengths(pass.in)) {
      attention.lengths = {pass.x[last].data, pass.x[last].pitch};
    } else if (has_more(pass.in)) {
      attention.mask = mask_of<T const>(pass.x[last], pass.in[last]);
    }
    return attention;
  }
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::ScaledDotProductAttention, heads, kv_heads, causal, window, scale);
