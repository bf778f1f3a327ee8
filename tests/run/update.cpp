// What happens to gradients on their way to the optimizer: factors of each weight, decay, and accumulation.
#include <coldpress/backend/reference.hpp>
#include <coldpress/coldpress.hpp>
#include <coldpress/core/to_string.hpp>

#include "support/catch.hpp"
#include "support/layer_laws.hpp"

using namespace coldpress;

namespace {

constexpr Index in = 5, out = 3;

template <class Backend, Weight weight = Weight{}, Weight bias = Weight{}>
using One = Network<Sequential<Linear{out, weight, bias}>, Shape{in}, DynamicBatch, Backend>;

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

/// Its own update is not plain, even if that of its base is.
struct Shrinking : Sgd {
  template <class T>
  constexpr void update(T& weight, T gradient, T (&state)[1]) const {
    Sgd::update(weight, gradient, state);
    weight = weight * 0.5f;
  }
};
static_assert(declares_plain<Sgd> && declares_plain<Nesterov>);
static_assert(!declares_plain<Shrinking> && !declares_plain<Adam>);

}  // namespace

TEMPLATE_TEST_CASE("lr_mult is a factor of the step, and 0 keeps every bit, fused or not", "", DefaultBackend,
                   Reference<double>) {
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
  // Of the whole step: what decays, too, goes in once.
  auto const slow = stepped<One<TestType, Weight{.decay_mult = 3}>, decays>(),
             fast = stepped<One<TestType, Weight{.lr_mult = 2, .decay_mult = 3}>, decays>();
  for (std::size_t i = 0; i < in * out; ++i)
    CHECK(fast[i] - before[i] == Approx(2 * (slow[i] - before[i])).epsilon(1e-5).margin(1e-6));
}

TEMPLATE_TEST_CASE("weight decay is L2 or L1, times decay_mult, after the division, fused or not", "", DefaultBackend,
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
  CHECK(shrunk(test::random_network<One<DefaultBackend>>(1)) == Approx(1 - 0.5 * 0.25));
  CHECK(shrunk(test::random_network<One<DefaultBackend, Weight{.decay_mult = 2}>>(1)) == Approx(1 - 0.5 * 0.5));
  CHECK(shrunk(test::random_network<One<DefaultBackend, Weight{.lr_mult = 0.5f}>>(1)) == Approx(1 - 0.25 * 0.25));
  CHECK(shrunk(test::random_network<One<DefaultBackend, Weight{.lr_mult = 0}>>(1)) == 1);
}

TEMPLATE_TEST_CASE("a weight's own regularizer counts instead of the solver's, fused or not", "", DefaultBackend,
                   Reference<double>) {
  using Plain = One<TestType>;
  constexpr Weight l1{.decay_mult = 3, .regularizer = Regularizer::l1}, l2{.regularizer = Regularizer::l2};
  using Mixed = One<TestType, l1, l2>;
  auto const before = start<Plain>(), plain = stepped<Plain>();
  auto const check = [&](std::vector<double> const& found) {
    for (std::size_t i = 0; i < before.size(); ++i) {
      double const w = before[i], slope = i < in * out ? 3 * ((w > 0) - (w < 0)) : w;
      CHECK(found[i] == Approx(plain[i] - 0.125 * 0.25 * slope).epsilon(1e-5).margin(1e-6));
    }
  };
  constexpr auto solvers = Regularization::l1;
  check(stepped<Mixed, SolverOptions{.weight_decay = 0.25f}>());
  check(
      stepped<Mixed, SolverOptions{.keep_gradients = true, .weight_decay = 0.25f, .regularization_method = solvers}>());
}

TEMPLATE_TEST_CASE("max_norm scales units down to its norm after every n-th update, fused or not", "", DefaultBackend,
                   Reference<double>) {
  using Plain = One<TestType>;
  constexpr float most = 0.75f, bias_most = 0.25f;
  using Bounded = One<TestType, Weight{.max_norm = {most}}, Weight{.max_norm = {bias_most, 2}}>;
  auto const plain = stepped<Plain>();
  auto const bounded = [&](std::vector<double> weights, bool bias) {
    int scaled = 0;
    auto const limit = [&](std::size_t first, std::size_t size, double bound) {
      double norm = 0;
      for (std::size_t i = first; i < first + size; ++i) norm += weights[i] * weights[i];
      if (norm = std::sqrt(norm); norm <= bound) return;
      for (std::size_t i = first; i < first + size; ++i) weights[i] *= bound / norm;
      ++scaled;
    };
    for (std::size_t unit = 0; unit < out; ++unit) limit(unit * in, in, static_cast<double>(most));
    CHECK((scaled > 0 && scaled < out));  // or the case shows nothing
    if (bias) limit(in * out, out, static_cast<double>(bias_most));
    return weights;
  };
  constexpr SolverOptions fused{}, stored{.keep_gradients = true};
  check_close(stepped<Bounded, fused>(), bounded(plain, false));
  check_close(stepped<Bounded, stored>(), bounded(plain, false));
  auto const second = [&]<class Net, SolverOptions options>() {  // from where the first update ends, the bias bounded
    auto const weights = stepped<Net, options>(2);
    double norm = 0;
    for (std::size_t i = in * out; i < weights.size(); ++i) norm += weights[i] * weights[i];
    return std::sqrt(norm);
  };
  CHECK(second.template operator()<Plain, fused>() > static_cast<double>(bias_most));
  CHECK(second.template operator()<Bounded, fused>() == Approx(static_cast<double>(bias_most)));
  CHECK(second.template operator()<Bounded, stored>() == Approx(static_cast<double>(bias_most)));
}

TEMPLATE_TEST_CASE("max_norm knows the units of matrices, filters and sequences' taps in every layout", "",
                   DefaultBackend, Reference<float>) {
  for (Shape const shape : {Shape{19, 21}, Shape{1, 3}, Shape{5, 3, 2, 2}, Shape{18, 2, 3}, Shape{37}}) {
    INFO(to_string(shape));
    Parameter const parameter{"weight", "-0", shape, Glorot{}, 1, 1};
    Index const units = shape.rank() < 2 ? 1 : shape[0], size = shape.size() / units;
    HeapMemory<float> memory{TestType{}.storage_size(parameter)};
    auto const value = [&](Index e) { return TestType{}.get(parameter, memory.data(), e); };
    for (Index e = 0; e < shape.size(); ++e)  // norms of 0, sqrt(size), ...
      TestType{}.put(parameter, memory.data(), e, static_cast<float>(e / size % 3));
    float const most = 1.5f * std::sqrt(static_cast<float>(size));
    ready<TestType>().constrain(parameter, memory.data(), most);
    for (Index e = 0; e < shape.size(); ++e)
      CHECK(value(e) == Approx(std::min(1.5, static_cast<double>(e / size % 3))));
    double all = 0, seen = 0;
    for (Index i = 0; i < memory.size(); ++i) all += double{memory.data()[i]};
    for (Index e = 0; e < shape.size(); ++e) seen += double{value(e)};
    CHECK(all == Approx(seen));  // padding stays zero
  }
}

TEST_CASE("max_norm is not for recurrent weights") {
  CHECK_THROWS_AS(parameters_of(Rnn{.weight = {.max_norm = {1}}}, Shape{3}), ShapeError);
}

TEMPLATE_TEST_CASE("frozen by name, a weight and its state keep every bit, and gradients pass, fused or not", "",
                   DefaultBackend, Reference<double>) {
  using Net = Network<Sequential<Linear{7}, TanH{}, Named<"head", Linear{out}>{}>, Shape{in}, DynamicBatch, TestType>;
  using T = typename Net::T;
  auto const check = []<SolverOptions options>() {
    auto net = test::random_network<Net>(1), free = net;
    Solver<Net, MeanSquaredError{}, Sgd{.learning_rate = 0.125f, .momentum = 0.5f}, options> solver{net}, other{free};
    test::Random random{7};
    auto const step = [&] {
      auto const x = random.values<T>(4 * in), t = random.values<T>(4 * out);
      auto const weights = test::canonical(net), state = test::canonical<Net>(solver.state(0));
      CHECK(solver.train_minibatch(x, t) > 0);
      std::string moved;
      std::size_t from = 0;
      for (int i = 0; i < Net::weight_count; ++i) {
        auto const size = static_cast<std::size_t>(Net::weight_shape(i).size());
        auto const same = [&](auto const& before, auto const& after) {
          return test::same_bits(std::span{before}.subspan(from, size), std::span{after}.subspan(from, size));
        };
        bool const still = same(weights, test::canonical(net)) && same(state, test::canonical<Net>(solver.state(0)));
        moved += still ? '0' : '1', from += size;
      }
      return moved;
    };
    CHECK(step() == "1111");
    solver.freeze("head");
    CHECK(step() == "1100");  // what is below still learns
    solver.freeze("linear1-0-bias");
    CHECK(step() == "1000");
    solver.unfreeze("head-0");
    CHECK(step() == "1010");
    solver.freeze_all();
    CHECK(step() == "0000");
    solver.unfreeze("linear1");
    CHECK(step() == "1100");
    solver.unfreeze_all();
    CHECK(step() == "1111");
    for (char const* name : {"linear2", "linear1-1", "", "tanh1"}) {
      CHECK_THROWS_AS(solver.freeze(name), ConfigError);
      CHECK_THROWS_AS(solver.unfreeze(name), ConfigError);
    }
    CHECK(step() == "1111");
  };
  check.template operator()<SolverOptions{}>();
  check.template operator()<SolverOptions{.keep_gradients = true}>();
}

TEST_CASE("a shared weight is frozen under the name of every layer that has it") {
  using Tied = Network<Sequential<Shared<"w", Linear{in}>{}, TanH{}, Shared<"w", Linear{in}>{}>, Shape{in}>;
  auto net = test::random_network<Tied>(1);
  Solver<Tied, MeanSquaredError{}> solver{net};
  std::vector<float> const x(in, 0.5f);
  for (char const* name : {"linear1", "linear2"}) {
    solver.freeze(name);
    auto const before = test::canonical(net);
    solver.train_minibatch(x, x);
    CHECK(test::same_bits(before, test::canonical(net)));
    solver.unfreeze(name);
    solver.train_minibatch(x, x);
    CHECK_FALSE(test::same_bits(before, test::canonical(net)));
  }
}

TEMPLATE_TEST_CASE("values are clipped before weights decay, and what a NaN is made of stays one", "", DefaultBackend,
                   Reference<double>) {
  using Plain = One<TestType>;
  auto const before = start<Plain>(), plain = stepped<Plain>();
  constexpr float bound = 0.25f;
  auto const check = [&](std::vector<double> const& found, double decay) {
    int clipped = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
      double const gradient = (before[i] - plain[i]) / 0.125;
      clipped += std::abs(gradient) > 0.25;
      CHECK(found[i] == Approx(before[i] - 0.125 * (std::clamp(gradient, -0.25, 0.25) + decay * before[i]))
                            .epsilon(1e-5)
                            .margin(1e-6));
    }
    CHECK((clipped > 0 && clipped < static_cast<int>(before.size())));  // or the case shows nothing
  };
  check(stepped<Plain, SolverOptions{.clip_values = bound}>(), 0);
  check(stepped<Plain, SolverOptions{.clip_values = bound, .weight_decay = 0.5f}>(), 0.5);
  check(stepped<Plain, SolverOptions{.clip_values = bound, .keep_gradients = true, .weight_decay = 0.5f}>(), 0.5);
  using T = typename TestType::Scalar;
  T weight = 1, state = 0;
  UpdateSink<Sgd, T>{Sgd{}, 1, &weight, {&state}, 0, Regularization::l2, 0, false, bound}.take(
      0, std::numeric_limits<T>::quiet_NaN());
  CHECK(std::isnan(weight));
}

TEST_CASE("frozen weights do not count in the norm that clips") {
  constexpr SolverOptions clipped{.clip_gradients = 0.5f};
  auto const bias_only = stepped<One<DefaultBackend, Weight{.lr_mult = 0}>, clipped>(),
             before = start<One<DefaultBackend>>();
  double norm = 0;
  for (std::size_t i = in * out; i < before.size(); ++i) norm += std::pow((bias_only[i] - before[i]) / 0.125 * 4, 2);
  CHECK(std::sqrt(norm) == Approx(0.5).epsilon(1e-5));
}

namespace {

/// Three updates on 24 samples each, in so many minibatches.
template <class Net, SolverOptions options>
std::vector<double> accumulated(Index minibatch_size = 0) {
  using T = typename Net::T;
  auto net = test::random_network<Net>(1);
  Solver<Net, MeanSquaredError{}, Sgd{.learning_rate = 0.125f, .momentum = 0.5f}, options> solver{net};
  solver.minibatch_size = minibatch_size;
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

TEMPLATE_TEST_CASE("k minibatches accumulated are one of k times the size", "", DefaultBackend, Reference<double>) {
  using Net = One<TestType>;
  auto const whole = accumulated<Net, SolverOptions{.weight_decay = 0.125f}>();
  check_close(accumulated<Net, SolverOptions{.weight_decay = 0.125f, .accumulate = 3}>(), whole);
  check_close(accumulated<Net, SolverOptions{.weight_decay = 0.125f, .accumulate = 4}>(), whole);
  auto const clipped = accumulated<Net, SolverOptions{.clip_gradients = 3}>();
  check_close(accumulated<Net, SolverOptions{.clip_gradients = 3, .accumulate = 4}>(), clipped);
  auto const bounded = accumulated<Net, SolverOptions{.clip_values = 0.25f}>();
  check_close(accumulated<Net, SolverOptions{.clip_values = 0.25f, .accumulate = 4}>(), bounded);
  auto const falling = accumulated<Net, SolverOptions{.lr_policy = lr::Exp{0.5f}}>();  // from update to update
  check_close(accumulated<Net, SolverOptions{.accumulate = 4, .lr_policy = lr::Exp{0.5f}}>(), falling);
  auto const given = accumulated<Net, SolverOptions{}>(40);  // minibatch_size is that of one of them
  check_close(accumulated<Net, SolverOptions{.accumulate = 4}>(10), given);
}

TEST_CASE("minibatches of an update may differ in size: each sample counts the same") {
  auto net = test::random_network<One<DefaultBackend>>(1), other = test::random_network<One<DefaultBackend>>(1);
  Solver<One<DefaultBackend>, MeanSquaredError{}, Sgd{.learning_rate = 0.125f}, SolverOptions{.accumulate = 2}> solver{
      net};
  Solver<One<DefaultBackend>, MeanSquaredError{}, Sgd{.learning_rate = 0.125f}> whole{other};
  test::Random random{3};
  auto const x = random.values<float>(8 * in), t = random.values<float>(8 * out);
  solver.train_minibatch(std::span{x}.first(7 * in), std::span{t}.first(7 * out));
  solver.train_minibatch(std::span{x}.subspan(7 * in), std::span{t}.subspan(7 * out));
  whole.train_minibatch(x, t);
  check_close(test::copy_of<double>(test::canonical(net)), test::copy_of<double>(test::canonical(other)));
}

TEMPLATE_TEST_CASE("a sink that adds gives the sum, one that does not, the gradient", "", DefaultBackend,
                   Reference<float>) {
  auto const backend = ready<TestType>();
  Parameter const weight{"weight", "-0", {19, 21}, Glorot{}, 21, 19};
  test::Random random{5};
  auto const x = random.values<float>(7 * TestType::pitch(21)), dy = random.values<float>(7 * TestType::pitch(19));
  Rows<float const> const rows_x{x.data(), 7, 21, TestType::pitch(21)}, rows_dy{dy.data(), 7, 19, TestType::pitch(19)};
  HeapMemory<float> once{TestType{}.storage_size(weight)}, sum{once.size()};
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
    CHECK(TestType{}.get(weight, sum.data(), e) == Approx(TestType{}.get(weight, once.data(), e) + 1));
  }
}
