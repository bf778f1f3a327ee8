// Initial values of parameters, a function of key and shape alone, so every backend and layout starts the same.
#pragma once

#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/memory.hpp>
#include <coldpress/core/parameter.hpp>
#include <coldpress/core/random.hpp>

namespace coldpress {
namespace detail {

/// A normally distributed number for each element (Box and Muller 1958); 1 - u is never 0.
inline double normal(RandomStream stream, std::uint64_t element) {
  auto const random = stream.block(element);
  double const u = 1 - static_cast<double>(random.words[0]) * 0x1p-32,
               angle = 2 * 3.14159265358979323846 * random.words[1] * 0x1p-32;
  return freestanding::sqrt(-2 * freestanding::log(u)) * freestanding::cos(angle);
}

/// A dot product of eight partial sums, which is fast and has the same order with every compiler.
inline double dot(double const* a, double const* b, Index size) {
  double partial[8] = {}, sum = 0;
  Index const whole = size / 8 * 8;
  for (Index i = 0; i < whole; i += 8) {
    for (Index j = 0; j < 8; ++j) partial[j] += a[i + j] * b[i + j];
  }
  for (Index i = whole; i < size; ++i) partial[i - whole] += a[i] * b[i];
  for (double const part : partial) sum += part;
  return sum;
}

/// `count` orthonormal vectors of `size` values, count <= size, uniformly distributed. They are normal numbers after
/// two passes of Gram-Schmidt, which are enough (Giraud et al. 2005).
inline HeapMemory<double> orthonormal(RandomStream stream, Index count, Index size) {
  HeapMemory<double> vectors(count * size);
  for (Index i = 0; i < count * size; ++i) vectors.data()[i] = normal(stream, static_cast<std::uint64_t>(i));
  for (Index n = 0; n < count; ++n) {
    double* const own = vectors.data() + n * size;
    for (int pass = 0; pass < 2; ++pass) {
      for (double const* other = vectors.data(); other < own; other += size) {
        double const common = dot(own, other, size);
        for (Index i = 0; i < size; ++i) own[i] -= common * other[i];
      }
    }
    double const norm = freestanding::sqrt(dot(own, own, size));
    for (Index i = 0; i < size; ++i) own[i] /= norm;
  }
  return vectors;
}

}  // namespace detail

/// A set of filler kinds.
using Fillers = unsigned;
constexpr Fillers fillers_of(Filler::Kind kind) { return 1u << static_cast<int>(kind); }
inline constexpr Fillers all_fillers = ~0u;

/// store(element, value) for each element of a parameter in canonical order. The numbers come from step 0 of the
/// parameter's `stream`. The filler must be one of `kinds`; the code of others is not compiled.
template <Fillers kinds = all_fillers, class Store>
__attribute__((cold)) void fill(Parameter const& parameter, RandomStream stream, Store store) {
  using enum Filler::Kind;
  Index const size = parameter.shape.size(), filled = parameter.filled > 0 ? parameter.filled : size;
  auto const each = [&](auto value) {
    for (Index e = 0; e < size; ++e)
      store(e, e < filled ? static_cast<float>(value(static_cast<std::uint64_t>(e))) : 0.0f);
  };
  auto const in = static_cast<double>(parameter.fan_in), out = static_cast<double>(parameter.fan_out);
  auto const a = static_cast<double>(parameter.filler.a), b = static_cast<double>(parameter.filler.b);
  Filler::Kind const kind = parameter.filler.kind;
  if constexpr ((kinds & (fillers_of(own) | fillers_of(constant))) != 0) {  // own: the layer has already chosen
    if (kind == own || kind == constant) each([&](std::uint64_t) { return kind == own ? 0.0 : a; });
  }
  if constexpr ((kinds & (fillers_of(glorot) | fillers_of(xavier))) != 0) {
    double const radius = kind == glorot ? freestanding::sqrt(6 / (in + out)) : freestanding::sqrt(3 / in);
    if (kind == glorot || kind == xavier)
      each([&](std::uint64_t e) { return (2.0 * static_cast<double>(stream.uniform(e)) - 1.0) * radius; });
  }
  if constexpr ((kinds & fillers_of(gaussian)) != 0) {
    if (kind == gaussian) each([&](std::uint64_t e) { return a + b * detail::normal(stream, e); });
  }
  if constexpr ((kinds & fillers_of(juice_bias)) != 0) {
    if (kind == juice_bias) each([&](std::uint64_t) { return freestanding::sqrt(2 * stream.uniform(0)); });
  }
  if constexpr ((kinds & fillers_of(orthogonal)) != 0) {
    if (kind == orthogonal) {
      Index const rows = parameter.shape[0], columns = size / rows;
      bool const wide = rows <= columns;
      auto const vectors =
          wide ? detail::orthonormal(stream, rows, columns) : detail::orthonormal(stream, columns, rows);
      auto const at = [&](Index e) { return wide ? e : e % columns * rows + e / columns; };
      each([&](std::uint64_t e) { return a * vectors.data()[at(static_cast<Index>(e))]; });
    }
  }
}

}  // namespace coldpress
