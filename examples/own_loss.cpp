// A loss of your own, log-cosh: like a square near its target, like an absolute value far from it. All that a loss
// needs is this struct; coldpress/testing.hpp checks it on the CPU and against the reference.
// ctest:
#include <coldpress/coldpress.hpp>
#include <coldpress/testing.hpp>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

using namespace coldpress;

/// Sum of log(cosh(y - t)) over the values of a sample, averaged over the samples of a minibatch.
struct LogCosh {
  static constexpr std::string_view name = "log_cosh";
  static constexpr Target target = Target::value;  // targets are values of any kind, neither labels nor probabilities
  float loss_weight = 1;                           // a factor of the value and of the gradient

  /// The shape of one sample's target, for a network whose output has the shape `in`.
  constexpr Shape target_shape(Shape const& in) const { return in; }

  /// T is float, double or a SIMD vector of floats: use operators, Math<T> and Math<T>::number, and neither `if` nor
  /// functions of <cmath>. This form of log(cosh(d)) does not overflow.
  template <class T>
  __attribute__((always_inline)) T value(T y, T t) const {
    T const d = y - t;
    return (Math<T>::softplus(d * -2.0f) + d - Math<T>::number(0.69314718055994531)) * loss_weight;
  }
  /// The derivative of value with respect to y.
  template <class T>
  __attribute__((always_inline)) T gradient(T y, T t) const {
    return Math<T>::tanh(y - t) * loss_weight;
  }
  bool operator==(LogCosh const&) const = default;
};

using Line = Network<Sequential<Linear{1}>, Shape{1}>;

int main() {
  // The law of training: repeatable, the same bits whether the update is fused or not, and the numbers of the
  // reference.
  testing::Violations violations;
  for (Index batch : {1, 5, 17})
    testing::training_law<Sequential<Linear{3}>, Shape{4}, LogCosh{}>(batch, 1, violations);
  // The gradient is that of central differences.
  LogCosh const loss;
  for (double y = -20; y < 20; y += 0.37) {
    double const numeric = (loss.value(y + 1e-5, 0.0) - loss.value(y - 1e-5, 0.0)) / 2e-5;
    testing::demand(std::abs(loss.gradient(y, 0.0) - numeric) < 1e-6, violations, "gradient at " + std::to_string(y));
  }
  for (std::string const& sentence : violations) std::printf("%s\n", sentence.c_str());

  std::vector<float> x, targets;
  for (int i = -8; i <= 8; ++i) x.push_back(static_cast<float>(i) / 8), targets.push_back(2 * x.back() + 1);
  targets[3] = 100;  // one wrong value, which a square would follow

  Line net{42};
  Solver<Line, LogCosh{}, Adam{.learning_rate = 0.05f}> solver{net};
  for (int step = 0; step < 1000; ++step) solver.train_minibatch(x, targets);
  float const at_half = net.forward(std::vector{0.5f})[0];
  std::printf("f(0.5) = %.2f, where 2 is right\n", at_half);
  return violations.empty() && std::abs(at_half - 2) < 0.2f ? 0 : 1;
}
