// Integrates the equation with a delay by Runge-Kutta's method, to the same bits everywhere, and cuts out windows.
#include <coldpress/data/mackey_glass.hpp>

#include <cmath>
#include <utility>

namespace coldpress::data {
namespace {

/// x^exponent. std::pow differs between C libraries, and a chaotic series would soon show the difference.
double power(double x, int exponent) {
  double result = 1;
  for (; exponent > 0; exponent /= 2, x *= x)
    if (exponent % 2 == 1) result *= x;
  return result;
}

class Integrator {
 public:
  explicit Integrator(MackeyGlass const& equation)
      : equation_(equation), delay_(equation.tau / equation.step), points_(static_cast<std::size_t>(delay_) + 3) {
    points_[0] = {equation.initial, slope(equation.initial, equation.initial)};
  }

  double value() const { return point(now_).value; }

  void advance() {
    double const x = value(), h = equation_.step, middle = delayed(0.5), last = delayed(1);
    double const k1 = point(now_).slope, k2 = slope(x + h / 2 * k1, middle), k3 = slope(x + h / 2 * k2, middle),
                 k4 = slope(x + h * k3, last);
    double const next = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    ++now_;
    points_[static_cast<std::size_t>(now_) % points_.size()] = {next, slope(next, last)};
  }

 private:
  struct Point {
    double value, slope;
  };

  double slope(double x, double past) const {
    return equation_.beta * past / (1 + power(past, equation_.exponent)) - equation_.gamma * x;
  }
  Point const& point(Index step) const { return points_[static_cast<std::size_t>(step) % points_.size()]; }

  /// x(t - tau) at `ahead` steps after now.
  double delayed(double ahead) const {
    double const place = static_cast<double>(now_) + ahead - delay_;
    if (place <= 0) return equation_.initial;
    double const before = std::floor(place), s = place - before;
    auto const step = static_cast<Index>(before);
    Point const& a = point(step);
    if (s == 0) return a.value;
    Point const& b = point(step + 1);
    // The slopes belong to this interval, so that the kink at 0 stays between two intervals.
    double const h = equation_.step, r = 1 - s;
    return r * r * ((1 + 2 * s) * a.value + s * h * a.slope) + s * s * ((3 - 2 * s) * b.value - r * h * b.slope);
  }

  MackeyGlass const& equation_;
  double delay_;               // in steps
  std::vector<Point> points_;  // the past, as a ring
  Index now_ = 0;
};

void require_positive(double value, char const* name) {
  if (!(value > 0 && std::isfinite(value)))
    throw ConfigError{std::string{"Mackey-Glass: "} + name + " is " + std::to_string(value) +
                      ", expected a positive number"};
}

}  // namespace

std::vector<float> series(MackeyGlass const& equation, Index length) {
  require_positive(equation.step, "step");
  require_positive(equation.tau, "tau");
  require_positive(equation.exponent, "exponent");
  require_positive(equation.steps_per_sample, "steps_per_sample");
  if (!(std::isfinite(equation.beta) && std::isfinite(equation.gamma) && std::isfinite(equation.initial)))
    throw ConfigError{"Mackey-Glass: beta, gamma and initial must be finite"};
  if (equation.tau < equation.step || equation.tau / equation.step > 1e7)
    throw ConfigError{"Mackey-Glass: tau is " + std::to_string(equation.tau / equation.step) +
                      " steps, expected 1 to 10000000"};
  if (equation.warm_up < 0 || length < 0)
    throw ConfigError{"Mackey-Glass: warm_up is " + std::to_string(equation.warm_up) + " and the length " +
                      std::to_string(length) + ", expected at least 0"};

  Integrator integrator{equation};
  auto const next = [&] {
    double const value = integrator.value();
    if (!(std::abs(value) < 1e30))
      throw ConfigError{"Mackey-Glass: the series leaves the range of numbers; a smaller step may help"};
    for (int i = 0; i < equation.steps_per_sample; ++i) integrator.advance();
    return static_cast<float>(value);
  };
  for (Index i = 0; i < equation.warm_up; ++i) next();
  std::vector<float> values;
  values.reserve(static_cast<std::size_t>(length));
  for (Index i = 0; i < length; ++i) values.push_back(next());
  return values;
}

Dataset windows(std::span<float const> series, Index window, Index ahead) {
  auto const length = static_cast<Index>(series.size());
  if (window < 1 || ahead < 1 || window > length || ahead > length - window)
    throw ConfigError{"windows of " + std::to_string(window) + " values with a target " + std::to_string(ahead) +
                      " ahead do not fit into a series of " + std::to_string(length)};
  Dataset dataset{{{window}}, {{1}}, {}, {}};
  Index const count = length - window - ahead + 1;
  dataset.samples.reserve(static_cast<std::size_t>(count * window));
  dataset.targets.reserve(static_cast<std::size_t>(count));
  for (auto first = series.begin(); first != series.begin() + count; ++first) {
    dataset.samples.insert(dataset.samples.end(), first, first + window);
    dataset.targets.push_back(first[window - 1 + ahead]);
  }
  return dataset;
}

}  // namespace coldpress::data
