// Against PyTorch: tests/golden/batch_normalization.py made the values. And what only a solver does: the statistics.
#include <coldpress/backend/reference.hpp>
#include <coldpress/coldpress.hpp>
#include <coldpress/optim/optimizers.hpp>

#include "support/compare.hpp"
#include "support/golden_file.hpp"
#include "support/random.hpp"

using namespace coldpress;

namespace {

constexpr BatchNormalization layer{.epsilon = 0x1p-10f, .momentum = 0.125f};
constexpr int weight = 0, bias = 1, running_mean = 2, running_variance = 3;

template <class Net>
std::vector<typename Net::T> read(typename Net::T const* buffer, int i) {
  std::vector<typename Net::T> values(static_cast<std::size_t>(Net::weight_shape(i).size()));
  Net{}.read(buffer, i, values);
  return values;
}

template <class Backend, Shape in, BatchNormalization own = layer>
struct Case {
  using Net = Network<Sequential<own>, in, DynamicBatch, Backend>;
  using T = typename Net::T;
  test::GoldenCase golden;
  Net net;

  explicit Case(std::string const& name) : golden(test::golden_cases("batch_normalization.txt").at(name)) {
    net.write_weight(weight, numbers("weight"));
    net.write_weight(bias, numbers("bias"));
  }
  std::vector<T> numbers(char const* word) const { return test::copy_of<T>(golden.at(word)); }
  void check(auto const& values, char const* word) const {
    INFO(word);
    std::vector<double> const& wanted = golden.at(word);
    REQUIRE(std::size(values) == wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i)
      CHECK(static_cast<double>(values[i]) == Approx(wanted[i]).epsilon(0).margin(sizeof(T) == 8 ? 1e-12 : 2e-5));
  }
  void check_passes() {
    typename Net::TrainingWorkspace workspace;
    auto const x = numbers("x0");
    check(net.forward_training(x, workspace).values, "y");
    check(net.backward(numbers("dy"), workspace).values, "dx");
    check(read<Net>(workspace.gradients().data(), weight), "dweight");
    check(read<Net>(workspace.gradients().data(), bias), "dbias");
  }
  /// Whatever happens to gradients happens to no statistic.
  template <auto optimizer, SolverOptions options>
  void check_statistics() const {
    Net trained = net;
    Solver<Net, MeanSquaredError{}, optimizer, options> solver{trained};
    solver.optimizer().learning_rate = 0;
    for (char const* x : {"x0", "x1", "x2"}) solver.train_minibatch(numbers(x), numbers("dy"));
    check(read<Net>(trained.parameters().data(), running_mean), "mean");
    check(read<Net>(trained.parameters().data(), running_variance), "variance");
    check(trained.forward(numbers("x0")).values, "inferred");
  }
};

template <Shape in, BatchNormalization own = layer>
void check_case(std::string const& name) {
  INFO(name);
  [&]<class... Backends>(TypeList<Backends...>) {
    (Case<Backends, in, own>{name}.check_passes(), ...);
    (Case<Backends, in, own>{name}.template check_statistics<Sgd{}, SolverOptions{}>(), ...);
    (Case<Backends, in, own>{name}
         .template check_statistics<Adam{}, SolverOptions{.clip_gradients = 1e-3f, .weight_decay = 0.5f}>(),
     ...);
  }(TypeList<DefaultBackend, Reference<double>>{});
}

/// Values of one feature each, far from zero.
std::vector<float> values(test::Random& random, Index count) { return random.values<float>(count, 2, 4); }
double average(std::span<float const> x, Index channel, Index channels) {
  double sum = 0;
  for (std::size_t i = static_cast<std::size_t>(channel); i < x.size(); i += static_cast<std::size_t>(channels))
    sum += static_cast<double>(x[i]);
  return sum / static_cast<double>(x.size()) * static_cast<double>(channels);
}

using Features = Network<Sequential<layer>, Shape{3}>;

}  // namespace

TEST_CASE("BatchNormalization of features is PyTorch's") { check_case<Shape{7}>("features"); }
TEST_CASE("BatchNormalization of images is PyTorch's, and of a single one") {
  check_case<Shape{3, 4, 5}>("image");
  check_case<Shape{2, 5, 7}>("one_image");
}
TEST_CASE("BatchNormalization of the features of steps is PyTorch's") {
  check_case<Shape{4, 5}, BatchNormalization{.epsilon = 0x1p-10f, .momentum = 0.125f, .axis = -1}>("steps");
}

TEST_CASE("a channel of a single value becomes its bias, passes no gradient, and leaves the variance") {
  Features net;
  net.write_weight(bias, std::vector<float>{1, 2, 3});
  net.write_weight(running_variance, std::vector<float>{4, 5, 6});
  Features::TrainingWorkspace workspace;
  std::vector<float> const x{-1, 0, 8};
  CHECK(test::copy_of<float>(net.forward_training(x, workspace)) == std::vector<float>{1, 2, 3});
  CHECK(test::copy_of<float>(net.backward(x, workspace)) == std::vector<float>{0, 0, 0});
  Solver<Features, MeanSquaredError{}> solver{net};
  solver.train_minibatch(x, x);
  CHECK(read<Features>(net.parameters().data(), running_variance) == std::vector<float>{4, 5, 6});
  CHECK(read<Features>(net.parameters().data(), running_mean) == std::vector<float>{-0.125f, 0, 1});
}

TEST_CASE("minibatches of one update are observed together") {
  Features net;
  Solver<Features, MeanSquaredError{}, Sgd{}, SolverOptions{.accumulate = 3}> solver{net};
  test::Random random{3};
  std::vector<double> observed(3);
  for (int n = 0; n < 3; ++n) {
    CHECK(read<Features>(net.parameters().data(), running_mean) == std::vector<float>(3));
    auto const x = values(random, 15);
    for (Index c = 0; c < 3; ++c) observed[static_cast<std::size_t>(c)] += average(x, c, 3) / 3;
    solver.train_minibatch(x, x);
  }
  for (std::size_t c = 0; c < 3; ++c)
    CHECK(read<Features>(net.parameters().data(), running_mean)[c] == Approx(0.125 * observed[c]).epsilon(1e-5));
}

TEST_CASE("statistics are not part of the norm that clips") {
  Features net;
  Solver<Features, MeanSquaredError{}, Sgd{.learning_rate = 1}, SolverOptions{.clip_gradients = 0.5f}> solver{net};
  test::Random random{3};
  auto const x = values(random, 12);
  solver.train_minibatch(x, values(random, 12));
  double norm = 0;
  for (float const w : read<Features>(net.parameters().data(), weight)) norm += std::pow(static_cast<double>(w) - 1, 2);
  for (float const b : read<Features>(net.parameters().data(), bias)) norm += std::pow(static_cast<double>(b), 2);
  CHECK(4 * std::sqrt(norm) == Approx(0.5).epsilon(1e-4));  // the gradients are divided by the samples
}

TEST_CASE("uses of shared statistics are observed together") {
  using Net = Network<Sequential<Shared<"n", layer>{}, Shared<"n", layer>{}>, Shape{3}>;
  Net net;
  net.write_weight(bias, std::vector<float>{1, -2, 3});
  Solver<Net, MeanSquaredError{}, Sgd{.learning_rate = 0}> solver{net};
  test::Random random{3};
  auto const x = values(random, 15);
  solver.train_minibatch(x, x);
  auto const found = read<Net>(net.parameters().data(), running_mean);
  float const second[] = {1, -2, 3};  // what the first makes has the bias as its mean
  for (Index c = 0; c < 3; ++c) {
    double const both = (average(x, c, 3) + static_cast<double>(second[c])) / 2;
    CHECK(found[static_cast<std::size_t>(c)] == Approx(0.125 * both).epsilon(1e-4));
  }
}

TEST_CASE("frozen statistics stay; weights that do not learn leave them free") {
  test::Random random{3};
  auto const x = values(random, 15);
  auto const moved = [&]<class Net>(Net net, auto freeze) {
    Solver<Net, MeanSquaredError{}> solver{net};
    freeze(solver);
    auto const before = test::copy_of<float>(net.parameters());
    solver.train_minibatch(x, values(random, 15));
    std::string text;
    for (int i = 0; i < 4; ++i)
      text += read<Net>(net.parameters().data(), i) == read<Net>(before.data(), i) ? '0' : '1';
    return text;
  };
  constexpr Weight still{.lr_mult = 0};
  using Still = Network<Sequential<BatchNormalization{.weight = still, .bias = still}>, Shape{3}>;
  CHECK(moved(Features{}, [](auto&) {}) == "1111");
  CHECK(moved(Still{}, [](auto&) {}) == "0011");
  CHECK(moved(Features{}, [](auto& solver) { solver.freeze("batch_normalization1"); }) == "0000");
  CHECK(moved(Features{}, [](auto& solver) { solver.freeze("batch_normalization1-0-variance"); }) == "1110");
}

TEST_CASE("BatchNormalization's numbers are checked") {
  CHECK_THROWS_AS(BatchNormalization{.epsilon = 0}.output_shape({3}), ShapeError);
  CHECK_THROWS_AS(BatchNormalization{.momentum = 0}.output_shape({3}), ShapeError);
  CHECK_THROWS_AS(BatchNormalization{.momentum = 1}.output_shape({3}), ShapeError);
  CHECK_THROWS_AS(BatchNormalization{}.output_shape({}), ShapeError);
}
