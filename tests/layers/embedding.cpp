#include "support/executors.hpp"
#include "support/layer_laws.hpp"

using namespace coldpress;

static_assert(Embedding{.vocabulary = 10, .features = 4}.output_shape({7}) == Shape{7, 4});
static_assert(!LayerTraits<Embedding>::propagates);

namespace {

using Words = Sequential<Embedding{.vocabulary = 7, .features = 5}, TanH{}, Linear{3}>;

template <class T>
std::vector<T> words(Index count, std::uint64_t seed) {
  test::Random random{seed};
  std::vector<T> all;
  for (Index i = 0; i < count; ++i) all.push_back(static_cast<T>(random.integer(0, 6)));
  return all;
}

}  // namespace

TEST_CASE("the gradient of a table is that of central differences") {
  using Net = Network<Words, Shape{4}, DynamicBatch, Reference<double>>;
  auto net = test::random_network<Net>(1);
  Net::TrainingWorkspace workspace, other;
  auto const x = words<double>(3 * 4, 2), dy = test::Random{3}.values<double>(3 * 3);
  net.forward_training(x, workspace);
  net.backward(dy, workspace);
  for (std::size_t i = 0; i < net.parameters().size(); ++i) {
    auto const objective = [&](double shift) {
      net.parameters()[i] += shift;
      auto const y = net.forward_training(x, other);
      net.parameters()[i] -= shift;
      double sum = 0;
      for (std::size_t k = 0; k < dy.size(); ++k) sum += dy[k] * y.values[k];
      return sum;
    };
    CHECK(workspace.gradients()[i] == Approx((objective(1e-6) - objective(-1e-6)) / 2e-6).margin(1e-7).epsilon(1e-5));
  }
}

TEMPLATE_TEST_CASE_SIG("a table learns the same with and without fusion of the update, and as the reference does", "",
                       ((int percent), percent), 0, 50) {
  auto const trained = []<class Net, bool keep>(std::bool_constant<keep>, Net net) {
    using T = typename Net::T;
    Solver<Net, MeanSquaredError{}, Sgd{.learning_rate = 0.05f, .momentum = percent / 100.0f},
           SolverOptions{.keep_gradients = keep}>
        solver{net};
    for (std::uint64_t step = 0; step < 4; ++step)
      solver.train_minibatch(words<T>(6 * 4, step), test::Random{step}.values<T>(6 * 3));
    return test::canonical(net);
  };
  auto const fused = trained(std::false_type{}, test::random_network<Network<Words, Shape{4}>>(1));
  CHECK(test::same_bits(fused, trained(std::true_type{}, test::random_network<Network<Words, Shape{4}>>(1))));
  using Exact = Network<Words, Shape{4}, DynamicBatch, Reference<double>>;
  CHECK(test::excess(fused, trained(std::false_type{}, test::random_network<Exact>(1)), 20) <= 4);
  CHECK_FALSE(test::same_bits(fused, test::canonical(test::random_network<Network<Words, Shape{4}>>(1))));
}

namespace {

/// Whether a step of a solver makes a pass over a table: then it changes the velocities of all rows.
template <class Backend, auto optimizer, SolverOptions options, auto words_layer = Embedding{7, 5}>
bool passes_over_table() {
  using Net = Network<Sequential<words_layer, Linear{3}>, Shape{4}, DynamicBatch, Backend>;
  using T = typename Net::T;
  auto net = test::random_network<Net>(1);
  Solver<Net, MeanSquaredError{}, optimizer, options> solver{net};
  std::vector<T> const marks(7 * 5, T{2});
  std::copy(marks.begin(), marks.end(), solver.state(0).begin());  // the table is the first parameter
  solver.train_minibatch(words<T>(2 * 4, 1), test::Random{1}.values<T>(2 * 3));
  return !std::equal(marks.begin(), marks.end(), solver.state(0).begin());
}

}  // namespace

TEMPLATE_TEST_CASE("without momentum and decay, a step makes no pass over a table", "", DefaultBackend,
                   Reference<double>) {
  constexpr SolverOptions plain{}, clips{.clip_values = 0.5f}, rates{.lr_policy = lr::Exp{}},
      decays{.weight_decay = 0.1f}, keeps{.keep_gradients = true},
      grows{.momentum_policy = policy::Linear{.gamma = 0.1f, .stepsize = 1, .max = 0.5f}};
  CHECK_FALSE(passes_over_table<TestType, Sgd{}, plain>());
  CHECK_FALSE(passes_over_table<TestType, Nesterov{.momentum = 0}, plain>());
  CHECK_FALSE(passes_over_table<TestType, Sgd{}, clips>());
  CHECK_FALSE(passes_over_table<TestType, Sgd{}, rates>());
  CHECK_FALSE(passes_over_table<TestType, Sgd{}, decays, Embedding{7, 5, Weight{.decay_mult = 0}}>());
  CHECK_FALSE(passes_over_table<TestType, Sgd{.momentum = 0.5f}, decays, Embedding{7, 5, Weight{.lr_mult = 0}}>());
  // These change rows that no number of the minibatch has, or need a gradient of all rows.
  CHECK(passes_over_table<TestType, Sgd{.momentum = 0.5f}, plain>());
  CHECK(passes_over_table<TestType, Nesterov{}, plain>());
  CHECK(passes_over_table<TestType, Sgd{}, decays>());
  CHECK(passes_over_table<TestType, Sgd{}, grows>());
  CHECK(passes_over_table<TestType, Sgd{}, keeps>());
}

namespace {

template <auto optimizer>
void check_threads() {
  using Net = Network<Sequential<Embedding{40, 37}, Linear{3}>, Shape{4}>;
  auto const trained = [](Executor* executor) {
    auto net = test::random_network<Net>(1);
    net.run_on(executor);
    Solver<Net, MeanSquaredError{}, optimizer> solver{net};
    for (std::uint64_t step = 0; step < 3; ++step)
      solver.train_minibatch(words<float>(6 * 4, step), test::Random{step}.values<float>(6 * 3));
    return test::canonical(net);
  };
  auto const alone = trained(nullptr);
  for (auto const& executor : test::executors()) CHECK(test::same_bits(trained(executor.get()), alone));
}

}  // namespace

TEST_CASE("any threads train a table with the same bits") {
  check_threads<Sgd{}>();
  check_threads<Sgd{.momentum = 0.5f}>();
  check_threads<Adam{}>();
}

TEMPLATE_TEST_CASE("what is no number of a row becomes NaNs, and no gradient", "", DefaultBackend, Reference<double>) {
  using Net = Network<Sequential<Embedding{.vocabulary = 2, .features = 3}>, Shape{2}, DynamicBatch, TestType>;
  using T = typename Net::T;
  Net net;
  net.write_weight(0, std::vector<T>{1, 2, 3, 4, 5, 6});
  for (T const value : {T(-1), T(2), T(0.5), std::numeric_limits<T>::quiet_NaN()}) {
    typename Net::TrainingWorkspace workspace;
    std::vector<T> const x{1, value};
    auto const y = test::copy_of<T>(net.forward_training(x, workspace));
    CHECK(std::vector<T>(y.begin(), y.begin() + 3) == std::vector<T>{4, 5, 6});
    for (std::size_t f = 3; f < 6; ++f) CHECK(std::isnan(y[f]));
    net.backward(std::vector<T>{1, 2, 3, 4, 5, 6}, workspace);
    CHECK(test::canonical<Net>(workspace.gradients()) == std::vector<T>{0, 0, 0, 1, 2, 3});
  }
}

TEST_CASE("an embedding that means nothing is refused") {
  CHECK_THROWS_AS((Embedding{.vocabulary = 0}.output_shape({3})), ShapeError);
  CHECK_THROWS_AS((Embedding{.features = 0}.output_shape({3})), ShapeError);
}
