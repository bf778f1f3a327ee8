// Kernels over the values of one sample: softmax, log softmax and losses.
#pragma once

#include <coldpress/backend/math.hpp>
#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/layer.hpp>

namespace coldpress::cpu::inline COLDPRESS_ISA {

/// f(column, number of values left in the row) for each vector of a row.
template <class F>
COLDPRESS_INLINE void for_row(Index columns, F f) {
  for (Index c = 0; c < columns; c += lanes) f(c, columns - c);
}

inline void normalize_row(Normalization kind, float const* x, float* y, Index columns) {
  Vector top = splat(-__builtin_inff());
  for_row(columns,
          [&](Index c, Index left) { top = maximum(top, masked(load_row(x + c, left), left, -__builtin_inff())); });
  Vector const most = splat(maximum(top));
  Vector total{};
  bool const logarithmic = kind == Normalization::log_softmax;
  Vector last{};  // stays in a register, since the load of a part of a vector would wait for its store
  for_row(columns, [&](Index c, Index left) {
    last = exp(load_row(x + c, left) - most);
    total += masked(last, left);
    if (!logarithmic && left > lanes) store(y + c, last);
  });
  float const mass = sum(total);
  if (!logarithmic) {
    for_row(columns, [&](Index c, Index left) { store_row(y + c, (left > lanes ? load(y + c) : last) / mass, left); });
  } else {
    Vector const log_mass = splat(freestanding::log(mass));
    for_row(columns, [&](Index c, Index left) { store_row(y + c, load_row(x + c, left) - most - log_mass, left); });
  }
}

/// Softmax: dx = y (dy - Σ y dy). Log softmax: dx = dy - e^y Σ dy. The padding of dx becomes zero. `writable` is the
/// number of columns of dx up to which whole vectors may be stored.
inline void normalize_gradient_row(Normalization kind, float const* y, float const* dy, float* dx, Index columns,
                                   Index writable) {
  bool const logarithmic = kind == Normalization::log_softmax;
  Vector total{};
  for_row(columns, [&](Index c, Index left) {
    Vector const g = load_row(dy + c, left);
    total = logarithmic ? total + g : fma(load_row(y + c, left), g, total);
  });
  Vector const s = splat(sum(total));
  for_row(columns, [&](Index c, Index left) {
    Vector const v = load_row(y + c, left), g = load_row(dy + c, left);
    store_row(dx + c, masked(logarithmic ? fma(-exp(v), s, g) : v * (g - s), left), writable - c);
  });
}

/// The loss of one sample, spread over the lanes; dy is written like dx above.
template <class Loss>
COLDPRESS_INLINE Vector loss_row(Loss const& loss, float const* y, float const* target, float* dy, Index columns,
                                 Index writable) {
  Vector total{};
  if constexpr (Loss::target == Target::label) {
    auto const label = static_cast<Index>(*target);
    Vector const gradient = splat(loss.gradient(y[label], *target));
    for_row(columns, [&](Index c, Index) {  // whole vectors, because a single number among them would stall the next
                                            // load
      store_row(dy + c, lane_numbers() == static_cast<std::int32_t>(label - c) ? gradient : Vector{}, writable - c);
    });
    total[0] = loss.value(y[label], *target);
  } else {
    for_row(columns, [&](Index c, Index left) {
      Vector const v = load_row(y + c, left), t = load_row(target + c, left);
      total += masked(loss.value(v, t), left);
      store_row(dy + c, masked(loss.gradient(v, t), left), writable - c);
    });
  }
  return total;
}

}  // namespace coldpress::cpu::inline COLDPRESS_ISA
