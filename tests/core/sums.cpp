// The loops of core/sums.hpp and core/multiply_matrices.hpp against plain ones, with each kind of executor.
#include "support/executors.hpp"
#include "support/matrix.hpp"

#include <coldpress/core/multiply_matrices.hpp>
#include <coldpress/core/sums.hpp>

#include <optional>
#include <vector>

using namespace coldpress;
using namespace coldpress::test;

namespace {

using Floats = std::vector<float>;

Floats random_floats(Index count) { return numbers.values<float>(count); }
std::size_t at(Index i) { return static_cast<std::size_t>(i); }

}  // namespace

TEST_CASE("sum_columns adds the rows of several matrices in their order") {
  for (Index const columns : {1, 15, 16, 17, 70}) {
    Index const rows = 9;
    Floats const a = random_floats(rows * columns), b = random_floats(rows * columns);
    Floats sum_a(at(columns)), sum_b(at(columns));
    for (Index n = 0; n < rows; ++n) {
      for (Index j = 0; j < columns; ++j)
        sum_a[at(j)] += a[at(n * columns + j)], sum_b[at(j)] += b[at(n * columns + j)];
    }
    for_each_backend([&](auto const& backend) {
      Floats to_a(at(columns), 7), to_b(at(columns), 7);
      sum_columns(backend, columns, rows, std::array{to_a.data(), to_b.data()}, [&](Index n) {
        return [&, n](Index j) { return std::array{a[at(n * columns + j)], b[at(n * columns + j)]}; };
      });
      CHECK((to_a == sum_a && to_b == sum_b));
    });
  }
}

TEST_CASE("sum_channels has the same bits for any threads, and each channel is finished once with its sum") {
  for (Along const& axis : {Along{1, 1, 1}, {1, 17, 1}, {1, 3, 5}, {1, 5, 16}, {1, 2, 41}, {4, 17, 1}, {3, 2, 19}}) {
    INFO(axis.outer << " times " << axis.extent << " channels of " << axis.inner << " positions");
    Index const rows = 7, channels = axis.extent, size = channels * axis.lines();
    Floats const x = random_floats(rows * size);
    std::optional<Floats> first;
    for_each_backend([&](auto const& backend) {
      Floats sums(at(channels), 7), finished(at(channels));
      sum_channels(
          backend, rows, axis, sums.data(),
          [&](Index) { return [&](Index i, Index j) { return x[at(i * size + j)]; }; },
          [&](Index c) { finished[at(c)] += sums[at(c)]; });
      CHECK(finished == sums);
      if (!first) first = sums;
      CHECK(sums == *first);
    });
    for (Index c = 0; c < channels; ++c) {
      double exact = 0;
      for (Index i = 0; i < rows; ++i) {
        for (Index j = 0; j < size; ++j) exact += axis.place(j) == c ? static_cast<double>(x[at(i * size + j)]) : 0;
      }
      CHECK(static_cast<double>((*first)[at(c)]) == Approx(exact).margin(1e-4));
    }
  }
}

TEST_CASE("each_channel_value gives every value once, with the numbers of its channel") {
  for (Along const& axis : {Along{1, 70, 1}, {1, 65, 3}, {1, 2, 9}, {4, 70, 1}, {2, 65, 3}}) {
    Index const rows = 3, size = axis.extent * axis.lines();
    for_each_backend([&](auto const& backend) {
      Floats values(at(rows * size));
      Rows<float> const x{values.data(), rows, size, size};
      each_channel_value(
          backend, x, axis,
          [](Index c) {
            return std::array{static_cast<float>(c), 0.5f};
          },
          [&](Index i, Index j, float channel, float half) {
            values[at(i * size + j)] += static_cast<float>(1000 * i) + channel + half;
          });
      for (Index i = 0; i < rows; ++i) {
        for (Index j = 0; j < size; ++j)
          CHECK(values[at(i * size + j)] == static_cast<float>(1000 * i + axis.place(j)) + 0.5f);
      }
    });
  }
}

TEST_CASE("multiply_matrices takes each sum in the order of its terms, with factors transposed or not") {
  constexpr Index samples = 3, count = 2, m = 4, k = 5, n = 3;
  Floats a = random_floats(samples * count * m * k), b = random_floats(samples * count * k * n);
  Rows<float> const in_a{a.data(), samples, count * m * k, count * m * k},
      in_b{b.data(), samples, count * k * n, count * k * n};
  for (bool const transposed : {false, true}) {
    Floats expected(samples * count * m * n);
    for (Index s = 0; s < samples * count; ++s) {
      for (Index i = 0; i < m; ++i) {
        for (Index j = 0; j < n; ++j) {
          float& sum = expected[at((s * m + i) * n + j)];
          for (Index p = 0; p < k; ++p) {
            float const right = transposed ? b[at((s * n + j) * k + p)] : b[at((s * k + p) * n + j)];
            sum = Math<float>::fma(1.0f, 0.5f * a[at((s * m + i) * k + p)] * right, sum);
          }
        }
      }
    }
    for_each_backend([&](auto const& backend) {
      Floats y(samples * count * m * n, 7);
      Rows<float> const to{y.data(), samples, count * m * n, count * m * n};
      auto const left = matrices<true>(in_a, m * k, k, 1);
      if (transposed) {
        multiply_matrices(backend, count, m, k, n, left, matrices<true>(in_b, n * k, 1, k), 0.5f, to);
      } else {
        multiply_matrices(backend, count, m, k, n, left, matrices<false>(in_b, k * n, n, 1), 0.5f, to);
      }
      CHECK(y == expected);
    });
  }
}
