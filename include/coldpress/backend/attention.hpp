// Scaled dot-product attention on the CPU: some queries of one head at a time, whose scores stay in the cache.
#pragma once

// The products are register tiles. Keys are transposed once per head, so that the lanes of scores are keys. Every sum
// is in the order of keys or features, and lanes are keys at fixed positions, so that a query's bits do not depend on
// the queries that are computed with it.

#include <coldpress/backend/layout.hpp>
#include <coldpress/backend/math.hpp>
#include <coldpress/backend/tile.hpp>
#include <coldpress/core/attention.hpp>

namespace coldpress::cpu::inline COLDPRESS_ISA {

/// y = factor * sum, with a factor for each row or one for all.
struct Scaled {
  float* y;
  Index pitch, columns;
  float const* factors;
  Index factor_pitch;  // 0: there is one factor

  template <int h, int w>
  COLDPRESS_INLINE void finish(Vector (&sum)[h][w], Index row, Index column) const {
    COLDPRESS_UNROLL
    for (int n = 0; n < h * w; ++n) {
      Index const i = row + n / w, c = column + n % w * lanes;
      store_row(y + i * pitch + c, sum[n / w][n % w] * factors[i * factor_pitch], columns - c);
    }
  }
};
/// The rows of one head. `pitch` is the distance between steps; whole vectors can be read from each row.
struct HeadRows {
  float const* data;
  Index pitch;

  Left left() const { return {data, pitch, 1}; }
  Right<float> right() const { return {data, pitch}; }
  HeadRows from(Index step) const { return {data + step * pitch, pitch}; }
};
/// Reads them where they are, or from a copy in `scratch` if whole vectors would extend into what follows.
inline HeadRows head_rows(HeadValues<float const> const& values, Index n, Index h, Index steps, Index size,
                          float* scratch) {
  float const* const from = values.at(n, 0, h);
  if (AttentionScratch::whole(size)) return {from, values.step};
  Index const pitch = padded_size(size);
  for (Index t = 0; t < steps; ++t) {
    for (Index c = 0; c < size; c += lanes)
      store(scratch + t * pitch + c, load_row(from + t * values.step + c, size - c));
  }
  return {scratch, pitch};
}
/// {size, steps}: the rows of a head transposed, or as they are if they are stored like that.
inline Right<float> head_columns(HeadValues<float const> const& values, Index n, Index h, Index steps, Index size,
                                 float* scratch) {
  float const* const from = values.at(n, 0, h);
  if (values.element != 1) return {from, values.element};
  Index const pitch = Layout::pitch(steps);
  transpose<true>(steps, size, from, values.step, scratch, pitch);
  return {scratch, pitch};
}

/// epilogue(A B), where the rows of A are those of queries. A stream has one query per step.
template <class Epilogue>
void multiply_queries(Index queries, Index columns, Index depth, Left a, Right<float> b, Epilogue const& epilogue) {
  queries == 1 ? multiply_row(columns, depth, a, b, epilogue) : multiply(queries, columns, depth, a, b, epilogue);
}

/// The keys of a block of queries: all that one of them sees, from a multiple of 16 on.
struct SeenKeys {
  Index first, count;
};
/// What is computed for the queries [first, last) of one head of one sample.
template <class T>
struct AttendedBlock {
  AttentionPass<T> const& a;
  Index n, h, first, last;

  Index rows() const { return last - first; }
  SeenKeys keys() const {
    Index const from = freestanding::min(a.geometry.first_key(first), a.geometry.keys) / 16 * 16;
    return {from, freestanding::max<Index>(a.last_key(n, last - 1) - from, 0)};
  }
  /// f(row, its place in the scores, low, high) for each query, which sees the keys [low, high) of these.
  template <class F>
  void each_row(Index pitch, F f) const {
    SeenKeys const seen = keys();
    for (Index i = 0; i < rows(); ++i) {
      Index const low = freestanding::min(a.geometry.first_key(first + i) - seen.first, seen.count),
                  high = freestanding::max<Index>(a.last_key(n, first + i) - seen.first, low);
      f(i, i * pitch, low, high);
    }
  }
  /// The scores of all keys, times scale, plus the mask.
  void scores(HeadRows q, Right<float> k, float* to, Index pitch) const {
    SeenKeys const seen = keys();
    k.data += seen.first;
    multiply_queries(rows(), seen.count, a.geometry.size, q.from(first).left(), k,
                     Scaled{to, pitch, pitch, &a.geometry.scale, 0});
    if (!a.mask.data) return;
    for (Index i = 0; i < rows(); ++i) {
      float const* const mask = a.mask.at(n, first + i, h) + seen.first;
      for (Index c = 0; c < seen.count; c += lanes)
        store(to + i * pitch + c, load(to + i * pitch + c) + load_row(mask + c, seen.count - c));
    }
  }
};

/// v in the lanes of the keys [low, high), `fill` in others. Lane 0 is key c.
COLDPRESS_INLINE Vector among(Vector v, Index c, Index low, Index high, float fill) {
  if (low <= c && c + lanes <= high) return v;
  Mask const key = lane_numbers() + static_cast<std::int32_t>(c);
  Mask const among_them = (key >= static_cast<std::int32_t>(low)) & (key < static_cast<std::int32_t>(high));
  return among_them ? v : splat(fill);
}

/// Computes the attention to one head of keys and values of one sample, for all query heads that share it.
template <class T>
void attend(AttentionPass<T> const& a, Index n, Index kv_head, float* scratch) {
  AttentionGeometry const& g = a.geometry;
  AttentionScratch const part{g};
  auto const k = head_columns(a.k, n, kv_head, g.keys, g.size, scratch);
  auto const v = head_rows(a.v, n, kv_head, g.keys, g.value_size, scratch + part.keys);
  float* const weights = scratch + part.keys + part.values;
  Index const pitch = part.pitch;
  for (Index h = kv_head * g.group(); h < (kv_head + 1) * g.group(); ++h) {
    HeadRows const q{a.q.at(n, 0, h), a.q.step};
    for (Index first = 0; first < g.queries; first += part.block) {
      AttendedBlock<T> const block{a, n, h, first, freestanding::min(first + part.block, g.queries)};
      SeenKeys const seen = block.keys();
      block.scores(q, k, weights, pitch);
      // The largest score of each query is found in a loop of its own, so that exponentials need not wait for it.
      block.each_row(pitch, [&](Index i, Index at, Index low, Index high) {
        float const* const row = weights + at;
        Index const begin = low / lanes * lanes, end = (high + lanes - 1) / lanes * lanes;
        Vector top = splat(-3.4028235e38f);
        for (Index c = begin; c < end; c += lanes)
          top = maximum(top, among(load(row + c), c, low, high, -3.4028235e38f));
        a.kept_of(n, h, first + i)[0] = maximum(top);
      });
      block.each_row(pitch, [&](Index i, Index at, Index low, Index high) {
        float* const row = weights + at;
        float* const kept = a.kept_of(n, h, first + i);
        Index const begin = low / lanes * lanes, end = (high + lanes - 1) / lanes * lanes;
        float const largest = kept[0];
        Vector total{};
        zero(row, begin);
        for (Index c = begin; c < end; c += lanes) {
          Vector const weight = among(exp(load(row + c) - largest), c, low, high, 0);
          store(row + c, weight);
          total += weight;
        }
        if (end < seen.count) zero(row + end, seen.count - end);
        float const mass = sum(total);
        kept[1] = mass == 0 ? 0 : 1 / mass;
      });
      multiply_queries(
          block.rows(), g.value_size, seen.count, Left{weights, pitch, 1}, v.from(seen.first).right(),
          Scaled{a.y.at(n, first, h), a.y.step, g.value_size, a.kept_of(n, h, first) + 1, AttentionPass<T>::kept});
    }
  }
}

/// Sets the gradient of a sample's mask to zero.
inline void clear_mask(AttentionGeometry const& g, HeadValues<float> const& mask, Index n) {
  for (Index h = 0; h < (mask.head ? g.heads : 1); ++h) {
    for (Index i = 0; i < (mask.step ? g.queries : 1); ++i) zero(mask.at(n, i, h), g.keys);
  }
}
/// The gradients of the same. Those of the mask are added to what is there.
template <class T>
void attend_gradient(AttentionPass<T> const& a, AttentionGradients<T> const& to, Index n, Index kv_head,
                     float* scratch) {
  AttentionGeometry const& g = a.geometry;
  AttentionScratch const part{g};
  auto const take = [&](Index size) {
    float* const start = scratch;
    scratch += size;
    return start;
  };
  auto const k_columns = head_columns(a.k, n, kv_head, g.keys, g.size, take(part.keys));
  auto const v_columns = head_columns(a.v, n, kv_head, g.keys, g.value_size, take(g.value_size * part.pitch));
  auto const k = head_rows(a.k, n, kv_head, g.keys, g.size, take(part.copied(g.keys, g.size)));
  float *const q_copy = take(part.copied(g.queries, g.size)), *const dy_copy =
                                                                  take(part.copied(g.queries, g.value_size));
  float *const weights = take(part.scores), *const gradients = take(part.scores);
  Index const pitch = part.pitch;
  auto const clear = [&](HeadValues<float> const& values, Index size) {
    for (Index t = 0; values.data && t < g.keys; ++t) zero(values.at(n, t, kv_head), size);
  };
  clear(to.dk, g.size), clear(to.dv, g.value_size);
  float const one = 1;
  for (Index h = kv_head * g.group(); h < (kv_head + 1) * g.group(); ++h) {
    auto const q = head_rows(a.q, n, h, g.queries, g.size, q_copy),
               dy = head_rows(to.dy, n, h, g.queries, g.value_size, dy_copy);
    for (Index first = 0; first < g.queries; first += part.block) {
      AttendedBlock<T> const block{a, n, h, first, freestanding::min(first + part.block, g.queries)};
      SeenKeys const seen = block.keys();
      block.scores(q, k_columns, weights, pitch);
      Right<float> v = v_columns;
      v.data += seen.first;
      multiply(block.rows(), seen.count, g.value_size, dy.from(first).left(), v,
               Scaled{gradients, pitch, pitch, &one, 0});
      block.each_row(pitch, [&](Index i, Index at, Index low, Index high) {
        float *const weight = weights + at, *const gradient = gradients + at;
        float const* const kept = a.kept_of(n, h, first + i);
        Vector along{};
        float const *const y = a.y.at(n, first + i, h), *const slope = to.dy.at(n, first + i, h);
        for (Index c = 0; c < g.value_size; c += lanes)
          along = fma(load_row(y + c, g.value_size - c), load_row(slope + c, g.value_size - c), along);
        float const mean = sum(along);
        Index const begin = low / lanes * lanes, end = (high + lanes - 1) / lanes * lanes;
        zero(weight, begin), zero(gradient, begin);
        float* const mask = to.dmask.data ? to.dmask.at(n, first + i, h) + seen.first : nullptr;
        for (Index c = begin; c < end; c += lanes) {
          Vector const p = among(exp(load(weight + c) - kept[0]) * kept[1], c, low, high, 0),
                       ds = among(p * (load(gradient + c) - mean), c, low, high, 0);
          store(weight + c, p);
          store(gradient + c, ds * g.scale);
          if (mask) store_row(mask + c, load_row(mask + c, high - c) + ds, high - c);
        }
        if (end < seen.count) zero(weight + end, seen.count - end), zero(gradient + end, seen.count - end);
      });
      if (to.dq.data) {
        multiply(block.rows(), g.size, seen.count, Left{gradients, pitch, 1}, k.from(seen.first).right(),
                 Scaled{to.dq.at(n, first, h), to.dq.step, g.size, &one, 0});
      }
      if (to.dk.data) {
        multiply(seen.count, g.size, block.rows(), Left{gradients, 1, pitch}, q.from(first).right(),
                 Added{to.dk.at(n, seen.first, kv_head), to.dk.step, g.size});
      }
      if (to.dv.data) {
        multiply(seen.count, g.value_size, block.rows(), Left{weights, 1, pitch}, dy.from(first).right(),
                 Added{to.dv.at(n, seen.first, kv_head), to.dv.step, g.value_size});
      }
    }
  }
}

}  // namespace coldpress::cpu::inline COLDPRESS_ISA
