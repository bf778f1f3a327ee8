// Initial values: a function of key and shape alone, so every backend and layout starts with the same numbers.
#pragma once

#include <coldpress/core/parameter.hpp>
#include <coldpress/core/random.hpp>

#include <cmath>
#include <span>
#include <vector>

namespace coldpress {
namespace detail {

/// A number of the normal distribution for each element: Box and Muller 1958; 1 - u is never 0.
inline double normal(Stream stream, std::uint64_t element) {
  auto const random = stream.block(element);
  double const u = 1 - static_cast<double>(random.words[0]) * 0x1p-32,
               angle = 2 * 3.14159265358979323846 * random.words[1] * 0x1p-32;
  return std::sqrt(-2 * std::log(u)) * std::cos(angle);
}

/// Of eight partial sums, so that it is fast and its order is that of every compiler.
inline double dot(std::span<double const> a, std::span<double const> b) {
  double partial[8] = {}, sum = 0;
  std::size_t const whole = a.size() / 8 * 8;
  for (std::size_t i = 0; i < whole; i += 8) {
    for (std::size_t j = 0; j < 8; ++j) partial[j] += a[i + j] * b[i + j];
  }
  for (std::size_t i = whole; i < a.size(); ++i) partial[i - whole] += a[i] * b[i];
  for (double const part : partial) sum += part;
  return sum;
}

/// `count` orthonormal vectors of `size` values, count <= size, evenly distributed: normal numbers after Gram and
/// Schmidt, twice, which is enough (Giraud et al. 2005).
inline std::vector<double> orthonormal(Stream stream, std::size_t count, std::size_t size) {
  std::vector<double> vectors(count * size);
  for (std::size_t i = 0; i < vectors.size(); ++i) vectors[i] = normal(stream, i);
  for (std::size_t n = 0; n < count; ++n) {
    auto const vector = [&](std::size_t m) { return std::span{vectors}.subspan(m * size, size); };
    auto const own = vector(n);
    for (std::size_t pass = 0; pass < 2; ++pass) {
      for (std::size_t m = 0; m < n; ++m) {
        auto const other = vector(m);
        double const common = dot(own, other);
        for (std::size_t i = 0; i < size; ++i) own[i] -= common * other[i];
      }
    }
    double const norm = std::sqrt(dot(own, own));
    for (double& value : own) value /= norm;
  }
  return vectors;
}

}  // namespace detail

/// store(element, value) for each element of a parameter that `stream` belongs to, in canonical order. Step 0 of the
/// stream.
template <class Store>
void fill(Parameter const& parameter, Stream stream, Store store) {
  Index const size = parameter.shape.size(), filled = parameter.filled > 0 ? parameter.filled : size;
  auto const each = [&](auto value) {
    for (Index e = 0; e < size; ++e)
      store(e, e < filled ? static_cast<float>(value(static_cast<std::uint64_t>(e))) : 0.0f);
  };
  auto const symmetric = [&](double radius) {
    each([&](std::uint64_t e) { return (2.0 * static_cast<double>(stream.uniform(e)) - 1.0) * radius; });
  };
  auto const in = static_cast<double>(parameter.fan_in), out = static_cast<double>(parameter.fan_out);
  auto const a = static_cast<double>(parameter.filler.a), b = static_cast<double>(parameter.filler.b);
  switch (parameter.filler.kind) {
    case Filler::Kind::own:  // the layer has chosen by now
      return each([](std::uint64_t) { return 0.0; });
    case Filler::Kind::constant:
      return each([&](std::uint64_t) { return a; });
    case Filler::Kind::glorot:
      return symmetric(std::sqrt(6 / (in + out)));
    case Filler::Kind::xavier:
      return symmetric(std::sqrt(3 / in));
    case Filler::Kind::gaussian:
      return each([&](std::uint64_t e) { return a + b * detail::normal(stream, e); });
    case Filler::Kind::juice_bias:
      return each([&](std::uint64_t) { return std::sqrt(2 * stream.uniform(0)); });
    case Filler::Kind::orthogonal: {
      auto const rows = static_cast<std::uint64_t>(parameter.shape[0]),
                 columns = static_cast<std::uint64_t>(size) / rows;
      bool const wide = rows <= columns;
      auto const q = wide ? detail::orthonormal(stream, rows, columns) : detail::orthonormal(stream, columns, rows);
      return each([&](std::uint64_t e) { return a * (wide ? q[e] : q[e % columns * rows + e / columns]); });
    }
  }
}

}  // namespace coldpress
