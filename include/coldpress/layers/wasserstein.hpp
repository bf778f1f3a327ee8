// The loss Wasserstein: the cost of transporting one distribution to another.
#pragma once

#include <coldpress/core/fourier.hpp>
#include <coldpress/core/layer.hpp>

namespace coldpress {

/// The cost of transporting one distribution over the values of a sample, the output, to another, the target, divided
/// by the batch size, as in Mocha. From place i to place j, it costs M = (|i - j| / (n - 1))^power per unit. The
/// transport plan is that of Sinkhorn's iterations (Cuturi 2013), u ∘ K ∘ v with K = e^(-lambda M); it is sharper for
/// larger lambda. Gradients: log(u) / lambda, and log(v) / lambda with respect to the targets. They are those of the
/// cost minus the plan's entropy / lambda, for changes that preserve the masses. u and v are clamped to at least 1e-20
/// there.
struct Wasserstein {
  static constexpr std::string_view name = "wasserstein";
  static constexpr std::string_view mean_over = "samples";
  static constexpr Index most = 1024;  // the largest number of values
  float lambda = 10;
  Index iterations = 50;
  float power = 1;
  float loss_weight = 1;  // a factor of the value and the gradients

  template <class Needs = Require>
  constexpr Shape target_shape(Shape const& in, Needs require = {}) const {
    check_loss_weight(loss_weight);
    require(lambda > 0 && lambda <= 100, "wasserstein: lambda must be above 0 and at most 100");
    require(power > 0 && is_finite(power), "wasserstein: power must be a finite number above 0");
    require(iterations > 0, "wasserstein: there must be at least one iteration");
    require(in.size() <= most, "wasserstein: at most 1024 values of a sample can be compared");
    return in;
  }
  static constexpr Target target = Target::value;
  static constexpr Index workspace = 4 * most;
  template <class T>
  constexpr T sample(Shape const& in, T const* y, T const* t, T* dy, T* dt) const {
    double memory[workspace];
    return sample_by(OneThread{}, memory, in, y, t, dy, dt);
  }
  /// The same by several threads, which share `workspace` numbers of memory. thread_group.each(n, f) calls f(i) for all
  /// i below n before any thread goes on, and thread_group.sum(n, f) returns the sum of f(i).
  template <class ThreadGroup, class T>
  constexpr T sample_by(ThreadGroup const& thread_group, double* memory, Shape const& in, T const* y, T const* t, T* dy,
                        T* dt) const {
    Index const n = in.size();
    double *const cost = memory, *const kernel = cost + most, *const u = kernel + most, *const v = u + most;
    thread_group.each(n, [&](Index d) {
      cost[d] = freestanding::pow(static_cast<double>(d) / static_cast<double>(freestanding::max<Index>(n - 1, 1)),
                                  double{power});
      kernel[d] = freestanding::exp(-lambda * cost[d]);
      u[d] = 1 / static_cast<double>(n);
    });
    auto const balance = [&](T const* mass, double const* other, double* factors) {
      thread_group.each(n, [&](Index i) {
        double sum = 0;
        for (Index j = 0; j < n; ++j) sum += kernel[distance(i, j)] * other[j];
        factors[i] = static_cast<double>(mass[i]) / sum;
      });
    };
    balance(t, u, v);
    for (Index k = 0; k < iterations; ++k) balance(y, v, u), balance(t, u, v);
    double const total = thread_group.sum(n, [&](Index i) {
      double carried = 0;
      for (Index j = 0; j < n; ++j) carried += kernel[distance(i, j)] * cost[distance(i, j)] * v[j];
      return u[i] * carried;
    });
    auto const apply_gradient = [&](double const* factors, T* gradient) {
      thread_group.each(n, [&](Index i) {
        gradient[i] = static_cast<T>(freestanding::log(freestanding::max(factors[i], 1e-20)) / lambda * loss_weight);
      });
    };
    apply_gradient(u, dy);
    if (dt) apply_gradient(v, dt);
    return static_cast<T>(total * loss_weight);
  }
  bool operator==(Wasserstein const&) const = default;

 private:
  static constexpr Index distance(Index i, Index j) { return i < j ? j - i : i - j; }
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Wasserstein, lambda, iterations, power, loss_weight);
