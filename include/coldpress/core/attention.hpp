// Scaled dot-product attention: what a backend computes, and how it is computed in loops.
#pragma once

// Backends with one thread per value, and the reference, use the loops. They need no memory for scores: these are
// computed again where they are needed.

#include <coldpress/core/each.hpp>
#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/lengths.hpp>
#include <coldpress/core/pointwise.hpp>
#include <coldpress/core/rows.hpp>

#include <limits>
#include <type_traits>

namespace coldpress {

/// The sizes of an attention, and which keys each query sees. Query i is at position i + offset among the keys.
struct AttentionGeometry {
  Index queries, keys, heads, kv_heads;
  Index size, value_size;  // values per head: of a query and a key, and of a value
  bool causal;             // whether a query sees only its own position and earlier ones
  Index window;            // how many keys it sees at most; 0: all
  float scale;             // of the scores
  Index offset = 0;

  /// The number of query heads that share a head of keys and values.
  constexpr Index group() const { return heads / kv_heads; }
  /// The keys that a query sees, without a mask: [first, last).
  constexpr Index first_key(Index query) const {
    return window > 0 ? freestanding::max<Index>(query + offset - window + 1, 0) : 0;
  }
  constexpr Index last_key(Index query) const { return causal ? freestanding::min(query + offset + 1, keys) : keys; }
  /// The number of multiplications for one sample.
  constexpr Index products() const { return heads * queries * keys * (size + value_size); }
};

/// Where the values of all heads at all steps of all samples are: the first one, and the distances between neighbours.
template <class T>
struct HeadValues {
  T* data = nullptr;
  Index sample = 0, step = 0, head = 0, element = 1;

  constexpr T* at(Index n, Index t, Index h) const { return data + n * sample + t * step + h * head; }
  constexpr operator HeadValues<T const>() const requires(!std::is_const_v<T>) {
    return {data, sample, step, head, element};
  }
};

/// The last keys and values of a stream. They are a ring of which every value is stored twice, `capacity` steps apart,
/// so that the steps that are seen are always contiguous. Keys are stored as {heads, features, 2 capacity}, values as
/// {heads, 2 capacity, features}. Before them are the place of the next step and the number of earlier steps that are
/// seen.
struct AttentionCache {
  static constexpr Index header = 16;
  Index capacity, key_features, value_features;

  constexpr explicit AttentionCache(AttentionGeometry const& g)
      : capacity(padded_size(g.window)), key_features(g.kv_heads * g.size), value_features(g.kv_heads * g.value_size) {}
  constexpr Index size() const { return header + 2 * capacity * (key_features + value_features); }
  /// The largest number of steps that `continued` passes to an attention, which begin at a multiple of 16.
  constexpr Index most_keys() const { return capacity + 16; }
};

/// A pass over all samples. For each query and head, with the scores s of the keys j that it sees,
///   s_j = scale q · k_j + mask_j and y = Σ_j p_j v_j with p = softmax(s).
/// A query that sees no key, or only keys with a mask of -infinity, has y = 0.
template <class T>
struct AttentionPass {
  static constexpr Index kept = 3;  // values of `memory` per query and head

  AttentionGeometry geometry;
  Index samples;
  HeadValues<T const> q, k, v;
  HeadValues<T> y;                // forward writes it, and backward reads it
  T* memory;                      // of each query and head: the largest score, 1 / Σ e^(s - largest), y · dy
  HeadValues<T const> mask = {};  // element j of a query's row is added to its score of key j; null: nothing is
  Lengths<T> lengths = {};        // of each sample: only that many keys are seen
  T* state = nullptr;             // of a stream: an AttentionCache for each sample; null: every sample starts anew

  constexpr T* kept_of(Index n, Index h, Index i) const {
    return memory + ((n * geometry.heads + h) * geometry.queries + i) * kept;
  }
  constexpr Index last_key(Index n, Index query) const { return lengths.of(n, geometry.last_key(query)); }
};
/// The gradients of an attention's inputs, from that of y. Those without data are not needed.
template <class T>
struct AttentionGradients {
  HeadValues<T const> dy;
  HeadValues<T> dq, dk, dv, dmask = {};
};

/// Appends the key and the value of step t of sample n to its cache; returns the attention of that step alone. Sums
/// over keys begin at a multiple of 16 steps, as they do in a whole sequence.
template <class T>
constexpr AttentionPass<T> continued(AttentionPass<T> const& a, Index n, Index t) {
  AttentionGeometry const& g = a.geometry;
  AttentionCache const cache{g};
  T *const state = a.state + n * cache.size(), *const keys = state + AttentionCache::header,
           *const values = keys + 2 * cache.capacity * cache.key_features;
  auto const place = static_cast<Index>(state[0]), before = static_cast<Index>(state[1]);
  for (Index copy = 0; copy < 2; ++copy) {
    Index const to = place + copy * cache.capacity;
    for (Index h = 0; h < g.kv_heads; ++h) {
      T const *const k = a.k.at(n, t, h), *const v = a.v.at(n, t, h);
      for (Index c = 0; c < g.size; ++c) keys[(h * g.size + c) * 2 * cache.capacity + to] = k[c];
      freestanding::copy_n(v, g.value_size, values + (h * 2 * cache.capacity + to) * g.value_size);
    }
  }
  state[0] = static_cast<T>((place + 1) % cache.capacity);
  state[1] = static_cast<T>(freestanding::min(before + 1, g.window - 1));
  // The copy of this step that has all earlier steps that are seen directly before it.
  Index const last = place >= before ? place : place + cache.capacity, first = (last - before) / 16 * 16;
  AttentionPass<T> one = a;
  one.samples = 1, one.state = nullptr;
  one.geometry.queries = 1, one.geometry.keys = last + 1 - first, one.geometry.offset = last - first;
  one.q.data = a.q.at(n, t, 0), one.y.data = a.y.at(n, t, 0);
  one.k = {keys + first, 0, 1, g.size * 2 * cache.capacity, 2 * cache.capacity};
  one.v = {values + first * g.value_size, 0, g.value_size, 2 * cache.capacity * g.value_size, 1};
  one.memory = a.kept_of(n, 0, 0);
  return one;
}

namespace detail {
/// Σ a_c b_c, in order.
template <class T>
constexpr T dot_in_order(Index count, T const* a, Index a_element, T const* b, Index b_element) {
  T sum{};
  for (Index c = 0; c < count; ++c) sum = Math<T>::fma(a[c * a_element], b[c * b_element], sum);
  return sum;
}
template <class T>
constexpr T score(AttentionPass<T> const& a, Index n, Index h, Index i, Index j) {
  AttentionGeometry const& g = a.geometry;
  T const s = dot_in_order(g.size, a.q.at(n, i, h), a.q.element, a.k.at(n, j, h / g.group()), a.k.element) *
              static_cast<T>(g.scale);
  return a.mask.data ? s + a.mask.at(n, i, h)[j] : s;
}
/// The weight of a key, from its score and what the query has kept.
template <class T>
constexpr T attention_weight(T score, T const* kept) {
  return Math<T>::exp(score - kept[0]) * kept[1];
}
template <class T>
constexpr void attend_query(AttentionPass<T> const& a, Index n, Index h, Index i) {
  AttentionGeometry const& g = a.geometry;
  Index const first = g.first_key(i), last = a.last_key(n, i);
  T *const y = a.y.at(n, i, h), *const kept = a.kept_of(n, h, i);
  T largest = std::numeric_limits<T>::lowest(), sum{};
  for (Index j = first; j < last; ++j) {
    T const s = score(a, n, h, i, j);
    largest = s > largest || s != s ? s : largest;
  }
  freestanding::fill_n(y, g.value_size, T{});
  for (Index j = first; j < last; ++j) {
    T const weight = Math<T>::exp(score(a, n, h, i, j) - largest);
    T const* const v = a.v.at(n, j, h / g.group());
    sum += weight;
    for (Index c = 0; c < g.value_size; ++c) y[c] = Math<T>::fma(weight, v[c], y[c]);
  }
  T const factor = sum == T{} ? T{} : 1 / sum;
  for (Index c = 0; c < g.value_size; ++c) y[c] *= factor;
  kept[0] = largest, kept[1] = factor;
}
}  // namespace detail

template <class Backend, class T>
constexpr void attend_in_loops(Backend const& backend, AttentionPass<T> const& a) {
  AttentionGeometry const& g = a.geometry;
  Rows<T> const samples{a.y.data, a.samples, g.heads * g.queries, 0};
  if (a.state) {
    return each_part(backend, samples, 1, g.products(), [&](Index n, auto, Index) {
      for (Index t = 0; t < g.queries; ++t) {
        auto const step = continued(a, n, t);
        for (Index h = 0; h < g.heads; ++h) detail::attend_query(step, 0, h, 0);
      }
    });
  }
  each_part(backend, samples, samples.columns, g.products(), [&](Index n, auto begin, Index end) {
    for (Index part = begin; part < end; ++part) detail::attend_query(a, n, part / g.queries, part % g.queries);
  });
}

/// With the weights p and dp_j = dy · v_j: ds_j = p_j (dp_j - y · dy), dq = scale Σ ds_j k_j, dk_j = scale Σ ds_j q and
/// dv_j = Σ p_j dy, over all queries that see j, and dmask = ds.
template <class Backend, class T>
constexpr void attend_gradient_in_loops(Backend const& backend, AttentionPass<T> const& a,
                                        AttentionGradients<T> const& to) {
  AttentionGeometry const& g = a.geometry;
  auto const scale = static_cast<T>(g.scale);
  auto const score_gradient = [&](Index n, Index h, Index i, Index j, T weight) {
    T const dp = detail::dot_in_order(g.value_size, to.dy.at(n, i, h), 1, a.v.at(n, j, h / g.group()), 1);
    return weight * (dp - a.kept_of(n, h, i)[2]);
  };
  auto const of_queries = [&](Index n, auto begin, Index end) {
    for (Index part = begin; part < end; ++part) {
      Index const h = part / g.queries, i = part % g.queries, last = a.last_key(n, i);
      T* const kept = a.kept_of(n, h, i);
      kept[2] = detail::dot_in_order<T>(g.value_size, to.dy.at(n, i, h), 1, a.y.at(n, i, h), 1);
      if (!to.dq.data) continue;
      T* const dq = to.dq.at(n, i, h);
      freestanding::fill_n(dq, g.size, T{});
      for (Index j = g.first_key(i); j < last; ++j) {
        T const weight = detail::attention_weight(detail::score(a, n, h, i, j), kept);
        T const ds = score_gradient(n, h, i, j, weight) * scale;
        T const* const k = a.k.at(n, j, h / g.group());
        for (Index c = 0; c < g.size; ++c) dq[c] = Math<T>::fma(ds, k[c * a.k.element], dq[c]);
      }
    }
  };
  auto const of_keys = [&](Index n, auto begin, Index end) {
    for (Index part = begin; part < end; ++part) {
      Index const head = part / g.keys, j = part % g.keys;
      T* const dk = to.dk.data ? to.dk.at(n, j, head) : nullptr;
      T* const dv = to.dv.data ? to.dv.at(n, j, head) : nullptr;
      if (dk) freestanding::fill_n(dk, g.size, T{});
      if (dv) freestanding::fill_n(dv, g.value_size, T{});
      for (Index h = head * g.group(); h < (head + 1) * g.group(); ++h) {
        for (Index i = 0; i < g.queries; ++i) {
          if (j < g.first_key(i) || j >= a.last_key(n, i)) continue;
          T const weight = detail::attention_weight(detail::score(a, n, h, i, j), a.kept_of(n, h, i));
          T const ds = score_gradient(n, h, i, j, weight) * scale;
          T const *const q = a.q.at(n, i, h), *const dy = to.dy.at(n, i, h);
          for (Index c = 0; dk && c < g.size; ++c) dk[c] = Math<T>::fma(ds, q[c], dk[c]);
          for (Index c = 0; dv && c < g.value_size; ++c) dv[c] = Math<T>::fma(weight, dy[c], dv[c]);
        }
      }
    }
  };
  // A mask for all heads, or for all queries, gets the sum of their gradients.
  Index const mask_heads = to.dmask.head ? g.heads : 1, mask_queries = to.dmask.step ? g.queries : 1;
  auto const of_mask = [&](Index n, auto begin, Index end) {
    for (Index part = begin; to.dmask.data && part < end; ++part) {
      Index const row = part / g.keys, j = part % g.keys, head = row / mask_queries, query = row % mask_queries;
      T sum{};
      for (Index h = head; h < (to.dmask.head ? head + 1 : g.heads); ++h) {
        for (Index i = query; i < (to.dmask.step ? query + 1 : g.queries); ++i) {
          if (j < g.first_key(i) || j >= a.last_key(n, i)) continue;
          T const weight = detail::attention_weight(detail::score(a, n, h, i, j), a.kept_of(n, h, i));
          sum += score_gradient(n, h, i, j, weight);
        }
      }
      to.dmask.at(n, query, head)[j] = sum;
    }
  };
  Rows<T> const samples{a.memory, a.samples, g.heads * g.queries, 0};
  each_part(backend, samples, g.heads * g.queries, 3 * g.products(), of_queries);
  each_part(backend, samples, g.kv_heads * g.keys, 3 * g.products(), of_keys);
  if (to.dmask.data) each_part(backend, samples, mask_heads * mask_queries * g.keys, 3 * g.products(), of_mask);
}

}  // namespace coldpress
