// Matrices and parameters in a backend's layout, for tests of its primitives.
#pragma once

#include <coldpress/backend/cpu.hpp>
#include <coldpress/backend/reference.hpp>

#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/guarded.hpp"
#include "support/random.hpp"

namespace coldpress::test {

using Doubles = std::vector<double>;
inline Random numbers{1};

/// A matrix in a backend's layout, followed by canaries. Its padding contains zeros.
template <class Backend>
class Matrix {
 public:
  using T = typename Backend::Scalar;
  Matrix(Index rows, Index columns, bool padded = true, bool blocked = false)
      : rows_(rows),
        columns_(columns),
        whole_(blocked ? rows / block_size * block_size : 0),
        blocked_(blocked),
        pitch_(padded ? Backend::pitch(columns) : columns),
        size_(padded ? rows * pitch_ : (rows * columns + 15) / 16 * 16),
        memory_(static_cast<std::size_t>(size_ + 16), T{0}) {
    for (Index i = 0; i < 16; ++i) memory_[static_cast<std::size_t>(size_ + i)] = canary;
  }
  static Matrix random_values(Index rows, Index columns, bool padded = true, bool blocked = false) {
    Matrix m{rows, columns, padded, blocked};
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < columns; ++j) m(i, j) = static_cast<T>(numbers.uniform());
    }
    return m;
  }
  Rows<T> rows() { return {memory_.data(), rows_, columns_, pitch_, blocked_}; }
  T& operator()(Index i, Index j) { return memory_[place(i, j)]; }
  double at(Index i, Index j) const { return static_cast<double>(memory_[place(i, j)]); }
  Doubles values() const {
    Doubles all;
    for (Index i = 0; i < rows_; ++i) {
      for (Index j = 0; j < columns_; ++j) all.push_back(at(i, j));
    }
    return all;
  }
  /// Whether nothing was written beyond the matrix.
  bool kept_in() const {
    for (Index i = 0; i < 16; ++i) {
      if (memory_[static_cast<std::size_t>(size_ + i)] != canary) return false;
    }
    return true;
  }

 private:
  std::size_t place(Index i, Index j) const {
    Index const in_block = i % block_size, first = i - in_block;
    return static_cast<std::size_t>(i < whole_ ? first * pitch_ + j * block_size + in_block : i * pitch_ + j);
  }

  static constexpr T canary = T(1234.5);
  Index rows_, columns_, whole_;
  bool blocked_;
  Index pitch_, size_;
  std::vector<T> memory_;
};

inline Parameter of(Shape shape) { return {"", "", shape, Constant{0}, 0, 0}; }

/// A parameter in the backend's layout, converted from and to canonical order; nothing can be read behind it.
template <class Backend>
Guarded<typename Backend::Scalar> stored(Shape shape, Doubles const& values) {
  Guarded<typename Backend::Scalar> memory(static_cast<std::size_t>(Backend{}.storage_size(of(shape))));
  for (Index e = 0; e < shape.size(); ++e) {
    Backend{}.put(of(shape), memory.data(), e,
                  static_cast<typename Backend::Scalar>(values[static_cast<std::size_t>(e)]));
  }
  return memory;
}
template <class Backend, class Memory>
Doubles canonical(Shape shape, Memory const& memory) {
  Doubles values;
  for (Index e = 0; e < shape.size(); ++e)
    values.push_back(static_cast<double>(Backend{}.get(of(shape), memory.data(), e)));
  return values;
}
inline Doubles random_doubles(Index count) { return numbers.values<double>(count); }

template <class Backend>
struct Fixture {
  using T = typename Backend::Scalar;
  Backend backend{};
  std::vector<T> scratch;
  Fixture() {
    scratch.resize(static_cast<std::size_t>(Backend::product_scratch(80, 1030) + 16));
    if constexpr (requires { backend.scratch; }) backend.scratch = scratch.data();
  }
};

/// `largest` is the largest term, for sums whose terms cancel.
inline void check(Doubles const& values, Doubles const& wanted, Index terms, double largest = 0) {
  CHECK(excess(values, wanted, static_cast<double>(terms), largest) <= 1);
}

inline constexpr Index row_counts[] = {1, 2, 5, 6, 7, 13};

}  // namespace coldpress::test
