// What happens to gradients on their way to the optimizer: factors of each weight, decay, and accumulation.
#include <coldpress/backend/reference.hpp>
#include <coldpress/coldpress.hpp>

#include "support/catch.hpp"
#include "support/layer_laws.hpp"

using namespace coldpress;

namespace {

constexpr Index in = 5, out = 3;

template <class Backend, Weight weight = Weight{}, Weight bias = Weight{}>
using One = Network<Sequential<Linear{out, weight, bias}>, Shape{in}, AnyBatch, Backend>;

/// Weights, then biases, after a step of plain descent from the same start.
template <class Net, SolverOptions options = SolverOptions{}>
std::vector<double> stepped(int minibatches = 1, Index batch = 4, float rate = 0.125f) {
  auto net = test::random_network<Net>(1);
  Solver<Net, MeanSquaredError{}, Sgd{}, options> solver{net};
  solver.optimizer().learning_rate = rate;
  test::Random random{7};
  for (int n = 0; n < minibatches; ++n) {
    auto const x = random.values<typename Net::T>(batch * in), t = random.values<typename Net::T>(batch * out);
    solver.train_minibatch(x, t);
  }
  return test::copy_of<double>(test::canonical(net));
}
template <class Net>
std::vector<double> start() {
  return test::copy_of<double>(test::canonical(test::random_network<Net>(1)));
}

void check_close(std::vector<double> const& a, std::vector<double> const& b, double tolerance = 1e-5) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i] == Approx(b[i]).epsilon(tolerance).margin(tolerance));
}

}  // namespace

TEMPLATE_TEST_CASE("lr_mult is a factor of the step, and 0 keeps every bit, fused or not", "", Cpu, Reference<double>) {
  using Plain = One<TestType>;
  using Mixed = One<TestType, Weight{.lr_mult = 0}, Weight{.lr_mult = 2}>;
  constexpr SolverOptions fused{}, stored{.keep_gradients = true}, decays{.weight_decay = 0.5f};
  auto const before = start<Plain>();
  auto const plain = stepped<Plain>();
  for (auto const& mixed : {stepped<Mixed, fused>(), stepped<Mixed, stored>()}) {
    for (std::size_t i = 0; i < before.size(); ++i) {
      bool const weight = i < in * out;
      CHECK(plain[i] != before[i]);
      if (weight) CHECK(mixed[i] == before[i]);
      if (!weight) CHECK(mixed[i] - before[i] == Approx(2 * (plain[i] - before[i])).epsilon(1e-5));
    }
  }
  auto const decayed = stepped<Mixed, decays>();
  for (std::size_t i = 0; i < in * out; ++i) CHECK(decayed[i] == before[i]);
}

TEMPLATE_TEST_CASE("weight decay is L2 or L1, times decay_mult, after the division, fused or not", "", Cpu,
                   Reference<double>) {
  using Plain = One<TestType>;
  using Mixed = One<TestType, Weight{.decay_mult = 3}, Weight{.decay_mult = 0}>;
  auto const before = start<Plain>(), plain = stepped<Plain>();
  auto const check = [&](std::vector<double> const& found, double weight_decay, double bias_decay, bool l1) {
    for (std::size_t i = 0; i < before.size(); ++i) {
      double const w = before[i], slope = l1 ? (w > 0) - (w < 0) : w;
      double const decay = i < in * out ? weight_decay : bias_decay;
      CHECK(found[i] == Approx(plain[i] - 0.125 * decay * slope).epsilon(1e-5).margin(1e-6));
    }
  };
  constexpr float decay = 0.25f;
  constexpr auto l1 = Regularization::l1;
  check(stepped<Plain, SolverOptions{.weight_decay = decay}>(), 0.25, 0.25, false);
  check(stepped<Plain, SolverOptions{.weight_decay = decay, .regularization_method = l1}>(), 0.25, 0.25, true);
  check(stepped<Mixed, SolverOptions{.weight_decay = decay}>(), 0.75, 0, false);
  check(stepped<Mixed, SolverOptions{.keep_gradients = true, .weight_decay = decay}>(), 0.75, 0, false);
  check(stepped<Mixed, SolverOptions{.weight_decay = decay, .regularization_method = l1}>(), 0.75, 0, true);
}

TEST_CASE("AdamW's own decay is times decay_mult, too, and frozen weights do not decay") {
  auto const shrunk = []<class Net>(Net net) {
    auto const before = test::copy_of<double>(test::canonical(net));
    Solver<Net, MeanSquaredError{}, AdamW{.learning_rate = 0.5f, .weight_decay = 0.25f}> solver{net};
    std::vector<float> const x(in);  // no gradient for the weights: only the decay moves them
    solver.train_minibatch(x, std::vector<float>(out));
    return test::copy_of<double>(test::canonical(net))[0] / before[0];
  };
  CHECK(shrunk(test::random_network<One<Cpu>>(1)) == Approx(1 - 0.5 * 0.25));
  CHECK(shrunk(test::random_network<One<Cpu, Weight{.decay_mult = 2}>>(1)) == Approx(1 - 0.5 * 0.5));
  CHECK(shrunk(test::random_network<One<Cpu, Weight{.lr_mult = 0.5f}>>(1)) == Approx(1 - 0.25 * 0.25));
  CHECK(shrunk(test::random_network<One<Cpu, Weight{.lr_mult = 0}>>(1)) == 1);
}

TEST_CASE("frozen weights do not count in the norm that clips") {
  constexpr SolverOptions clipped{.clip_gradients = 0.5f};
  auto const bias_only = stepped<One<Cpu, Weight{.lr_mult = 0}>, clipped>(), before = start<One<Cpu>>();
  double norm = 0;
  for (std::size_t i = in * out; i < before.size(); ++i) norm += std::pow((bias_only[i] - before[i]) / 0.125 * 4, 2);
  CHECK(std::sqrt(norm) == Approx(0.5).epsilon(1e-5));
}

namespace {

/// Three updates on 24 samples each, in so many minibatches.
template <class Net, SolverOptions options>
std::vector<double> accumulated() {
  using T = typename Net::T;
  auto net = test::random_network<Net>(1);
  Solver<Net, MeanSquaredError{}, Sgd{.learning_rate = 0.125f, .momentum = 0.5f}, options> solver{net};
  test::Random random{7};
  constexpr Index batch = 24 / options.accumulate;
  for (int update = 0; update < 3; ++update) {
    auto const x = random.values<T>(24 * in), t = random.values<T>(24 * out);
    for (Index n = 1; n <= options.accumulate; ++n) {
      auto const before = test::copy_of<double>(net.parameters());
      auto const part = [&](auto const& values, Index width) {
        return std::span{values}.subspan(static_cast<std::size_t>((n - 1) * batch * width),
                                         static_cast<std::size_t>(batch * width));
      };
      solver.train_minibatch(part(x, in), part(t, out));
      bool const last = n == options.accumulate;
      CHECK((before != test::copy_of<double>(net.parameters())) == last);
      CHECK(solver.progress().waiting == (last ? 0 : n * batch));
    }
  }
  return test::copy_of<double>(test::canonical(net));
}

}  // namespace

TEMPLATE_TEST_CASE("k minibatches accumulated are one of k times the size", "", Cpu, Reference<double>) {
  using Net = One<TestType>;
  auto const whole = accumulated<Net, SolverOptions{.weight_decay = 0.125f}>();
  check_close(accumulated<Net, SolverOptions{.weight_decay = 0.125f, .accumulate = 3}>(), whole);
  check_close(accumulated<Net, SolverOptions{.weight_decay = 0.125f, .accumulate = 4}>(), whole);
  auto const clipped = accumulated<Net, SolverOptions{.clip_gradients = 3}>();
  check_close(accumulated<Net, SolverOptions{.clip_gradients = 3, .accumulate = 4}>(), clipped);
}

TEST_CASE("minibatches of an update may differ in size: each sample counts the same") {
  auto net = test::random_network<One<Cpu>>(1), other = test::random_network<One<Cpu>>(1);
  Solver<One<Cpu>, MeanSquaredError{}, Sgd{.learning_rate = 0.125f}, SolverOptions{.accumulate = 2}> solver{net};
  Solver<One<Cpu>, MeanSquaredError{}, Sgd{.learning_rate = 0.125f}> whole{other};
  test::Random random{3};
  auto const x = random.values<float>(8 * in), t = random.values<float>(8 * out);
  solver.train_minibatch(std::span{x}.first(7 * in), std::span{t}.first(7 * out));
  solver.train_minibatch(std::span{x}.subspan(7 * in), std::span{t}.subspan(7 * out));
  whole.train_minibatch(x, t);
  check_close(test::copy_of<double>(test::canonical(net)), test::copy_of<double>(test::canonical(other)));
}

TEMPLATE_TEST_CASE("a sink that adds gives the sum, one that does not, the gradient", "", Cpu, Reference<float>) {
  TestType const backend{};
  Parameter const weight{"weight", "-0", {19, 21}, Glorot{}, 21, 19};
  test::Random random{5};
  auto const x = random.values<float>(7 * TestType::pitch(21)), dy = random.values<float>(7 * TestType::pitch(19));
  Rows<float const> const rows_x{x.data(), 7, 21, TestType::pitch(21)}, rows_dy{dy.data(), 7, 19, TestType::pitch(19)};
  HeapMemory<float> once{TestType::storage_size(weight)}, sum{once.size()};
  std::fill_n(once.data(), once.size(), 77.0f);
  backend.weight_gradient(rows_x, rows_dy, GradientSink<float>{once.data()});
  backend.sum_rows(rows_dy, GradientSink<float>{sum.data()});
  for (int n = 0; n < 2; ++n) backend.sum_rows(rows_dy, GradientSink<float>{sum.data(), true});
  float column = 0;
  for (Index i = 0; i < 7; ++i) column += rows_dy.row(i)[18];
  CHECK(sum.data()[18] == Approx(3 * column).epsilon(1e-5));
  std::fill_n(sum.data(), sum.size(), 1.0f);
  backend.weight_gradient(rows_x, rows_dy, GradientSink<float>{sum.data(), true});
  for (Index e = 0; e < weight.shape.size(); ++e) {
    Index const i = TestType::offset(weight, e);
    CHECK(sum.data()[i] == Approx(once.data()[i] + 1));
  }
}
