// The input for which tests/support/golden_values.py computes its values, and the comparison with them.
#pragma once

#include <coldpress/backend/reference.hpp>
#include <coldpress/coldpress.hpp>

#include "support/catch.hpp"
#include "support/compare.hpp"

#include <vector>

namespace coldpress::test {

/// Output and input gradient of one sample of 12 values. Comparing them is no template of the layer, because a check of
/// Catch2 takes long to compile.
struct GoldenPass {
  std::vector<double> y, dx;
};
template <Layer auto layer, class Backend>
GoldenPass golden_pass() {
  using T = typename Backend::Scalar;
  Network<Sequential<layer>, Shape{3, 1, 4}, DynamicBatch, Backend> network;
  typename decltype(network)::TrainingWorkspace workspace;
  std::vector<double> const x{
      1.121623378076182407, -0.75, 0.5, 2.25, -3.125, 0.0625, 1.75, -1.5, 0.25, -0.125, 3.5, -2.0};
  std::vector<double> const dy{
      -2.332776404488865508, 0.5, 1.25, -0.75, 0.375, 2.0, -1.0, 0.0625, -0.25, 1.5, -0.5, 0.875};
  GoldenPass made;
  made.y = copy_of<double>(network.forward_training(copy_of<T>(x), workspace));
  made.dx = copy_of<double>(network.backward(copy_of<T>(dy), workspace));
  return made;
}
inline void check_golden_pass(GoldenPass const& made, std::vector<double> const& output,
                              std::vector<double> const& gradient, double tolerance) {
  REQUIRE(made.y.size() == 12);
  REQUIRE(made.dx.size() == 12);
  for (std::size_t i = 0; i < 12; ++i) {
    CHECK(made.y[i] == Approx(output[i]).epsilon(tolerance).margin(0));
    CHECK(made.dx[i] == Approx(gradient[i]).epsilon(10 * tolerance).margin(tolerance));
  }
}
/// Checks output and input gradient of a layer, on the CPU within 4 ulp of the largest value, and on the float64
/// reference within 1e-7, because the input is rounded to float.
template <Layer auto layer>
void check_golden(std::vector<double> const& output, std::vector<double> const& gradient) {
  check_golden_pass(golden_pass<layer, Reference<double>>(), output, gradient, 1e-10);
  check_golden_pass(golden_pass<layer, DefaultBackend>(), output, gradient, 1e-6);
}

}  // namespace coldpress::test
