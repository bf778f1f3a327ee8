// The input for which tests/support/golden_values.py computes its values, and the comparison with them.
#pragma once

#include <coldpress/backend/reference.hpp>
#include <coldpress/coldpress.hpp>

#include "support/catch.hpp"
#include "support/compare.hpp"

#include <vector>

namespace coldpress::test {

/// Checks a layer on one sample of 12 values: output and input gradient, on the CPU within 4 ulp of the largest value,
/// and on the float64 reference within 1e-7, because the input is rounded to float.
template <Layer auto layer>
void check_golden(std::vector<double> const& output, std::vector<double> const& gradient) {
  auto const check = [&]<class Backend>(Backend, double tolerance) {
    using T = typename Backend::Scalar;
    Network<Sequential<layer>, Shape{3, 1, 4}, DynamicBatch, Backend> network;
    typename decltype(network)::TrainingWorkspace workspace;
    std::vector<T> const x{static_cast<T>(1.121623378076182407),
                           T(-0.75),
                           T(0.5),
                           T(2.25),
                           T(-3.125),
                           T(0.0625),
                           T(1.75),
                           T(-1.5),
                           T(0.25),
                           T(-0.125),
                           T(3.5),
                           T(-2.0)};
    std::vector<T> const dy{static_cast<T>(-2.332776404488865508),
                            T(0.5),
                            T(1.25),
                            T(-0.75),
                            T(0.375),
                            T(2.0),
                            T(-1.0),
                            T(0.0625),
                            T(-0.25),
                            T(1.5),
                            T(-0.5),
                            T(0.875)};
    auto const y = copy_of<T>(network.forward_training(x, workspace)), dx = copy_of<T>(network.backward(dy, workspace));
    for (std::size_t i = 0; i < 12; ++i) {
      CHECK(static_cast<double>(y[i]) == Approx(output[i]).epsilon(tolerance).margin(0));
      CHECK(static_cast<double>(dx[i]) == Approx(gradient[i]).epsilon(10 * tolerance).margin(tolerance));
    }
  };
  check(Reference<double>{}, 1e-10);
  check(Cpu{}, 1e-6);
}

}  // namespace coldpress::test
