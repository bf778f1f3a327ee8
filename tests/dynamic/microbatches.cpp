// Steps that compute a minibatch in parts mean what a whole step means, whatever the parts and the threads.
#include <coldpress/backend/reference.hpp>
#include <coldpress/coldpress.hpp>
#include <coldpress/dynamic.hpp>

#include "dynamic/trained.hpp"
#include "support/executors.hpp"
#include "support/forms.hpp"
#include "support/layer_laws.hpp"

using namespace coldpress;

namespace {

/// A sequence and its last steps, with a branch and two outputs.
struct Branched {
  constexpr auto operator()(auto x) const {
    auto const hidden = x | Convolution{.num_output = 5, .filter_shape = 3, .dilation = 2} | TanH{};
    auto const sum = hidden + (hidden | Convolution{.num_output = 5, .filter_shape = 1});
    return outputs(sum | Linear{3}, sum | Sigmoid{});
  }
};
constexpr auto branched = graph(Branched{});
constexpr Shape sequence{70, 2};
struct Classifier {
  constexpr auto operator()(auto x, auto labels) const {
    auto const scores = x | Linear{4} | LogSoftmax{};
    apply(Accuracy{}, scores, labels) | name("accuracy");
    apply(NegativeLogLikelihood{4}, scores, labels) | name("loss");
    return scores;
  }
};
constexpr auto classifier = graph(Classifier{});
template <class Backend>
using Net = Network<Graph<branched>, sequence, DynamicBatch, Backend>;

using test::Trained;
template <class Network, SolverOptions options>
Trained trained(Executor* executor = nullptr) {
  return test::trained_on<Network, Adam{.learning_rate = 0.01f}, options>({7, 8, 1, 16}, executor);
}
void check_close(std::vector<double> const& a, std::vector<double> const& b, double tolerance) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) REQUIRE(a[i] == Approx(b[i]).epsilon(tolerance).margin(tolerance));
}

}  // namespace

TEMPLATE_TEST_CASE("a step in parts is a step", "", DefaultBackend, Reference<double>) {
  using Network = Net<TestType>;
  double const tolerance = std::is_same_v<typename Network::T, double> ? 1e-10 : 1e-3;  // Adam enlarges rounding
  Trained const whole = trained<Network, SolverOptions{}>();
  auto const check = [&](Trained const& parts) {
    check_close(whole.losses, parts.losses, tolerance);
    check_close(whole.outputs, parts.outputs, tolerance);
    check_close(whole.weights, parts.weights, tolerance);
  };
  check(trained<Network, SolverOptions{.microbatch = 1}>());
  check(trained<Network, SolverOptions{.microbatch = 3}>());
  check(trained<Network, SolverOptions{.microbatch = 16}>());
  check(trained<Network, SolverOptions{.microbatch = 1000}>());
}

TEST_CASE("no bit of a step in parts depends on the threads, or on the order in which they take the parts") {
  constexpr SolverOptions options{.clip_gradients = 0.5f, .microbatch = 2};
  Trained const alone = trained<Net<DefaultBackend>, options>();
  test::Shuffled reversed, random{7};
  test::FineThreads two{2}, five{5};
  for (Executor* executor : std::initializer_list<Executor*>{&reversed, &random, &two, &five}) {
    Trained const divided = trained<Net<DefaultBackend>, options>(executor);
    CHECK(divided.losses == alone.losses);
    CHECK(divided.outputs == alone.outputs);
    CHECK(divided.weights == alone.weights);
  }
  CHECK(reversed.runs > 0);
}

TEST_CASE("running statistics observe a minibatch once, whatever its parts and those of the others of its update") {
  using Normalised = Network<Sequential<BatchNormalization{}, Linear{1}>, Shape{3}>;
  auto const means_after = []<SolverOptions options>(std::integral_constant<SolverOptions, options>,
                                                     std::vector<Index> const& batches) {
    Normalised net{1};
    Solver<Normalised, MeanSquaredError{}, Sgd{.learning_rate = 0}, options> solver{net};
    test::Random random{2};
    for (Index const batch : batches) {
      auto x = random.values<float>(batch * 3), t = random.values<float>(batch);
      for (float& value : x) value += 10;
      solver.train_minibatch(x, t);
    }
    auto const all = test::copy_of<double>(test::canonical(net));
    return std::vector<double>(all.begin() + 6, all.begin() + 9);
  };
  constexpr SolverOptions whole{.accumulate = 2}, parts{.accumulate = 2, .microbatch = 3},
      rounded{.accumulate = 2, .microbatch = 3, .bfloat16_gradients = true},
      together{.accumulate = 2, .microbatch = 3, .sync_batch_normalization = true};
  for (std::vector<Index> const& batches : {std::vector<Index>{8, 2}, {2, 8}, {7, 4, 1, 9}}) {
    auto const expected = means_after(std::integral_constant<SolverOptions, whole>{}, batches);
    check_close(means_after(std::integral_constant<SolverOptions, parts>{}, batches), expected, 1e-5);
    check_close(means_after(std::integral_constant<SolverOptions, together>{}, batches), expected, 1e-5);
    check_close(means_after(std::integral_constant<SolverOptions, rounded>{}, batches), expected, 1e-2);
  }
}

TEST_CASE("running statistics are not rounded with the gradients") {
  using Normalised = Network<Sequential<BatchNormalization{}, Linear{1}>, Shape{3}>;
  auto const statistics_after = []<SolverOptions options>(std::integral_constant<SolverOptions, options>) {
    Normalised net{1};
    Solver<Normalised, MeanSquaredError{}, Sgd{.learning_rate = 0.01f}, options> solver{net};
    test::Random random{2};
    for (int step = 0; step < 200; ++step) {
      auto x = random.values<float>(9 * 3), t = random.values<float>(9);
      for (float& value : x) value += 1001.3f;  // near which bfloat16 has 1000 and 1004
      solver.train_minibatch(x, t);
    }
    auto const all = test::copy_of<double>(test::canonical(net));
    return std::vector<double>(all.begin() + 6, all.begin() + 12);  // mean and variance
  };
  auto const exact = statistics_after(
      std::integral_constant<SolverOptions, SolverOptions{.microbatch = 2, .sync_batch_normalization = true}>{});
  auto const rounded =
      statistics_after(std::integral_constant<SolverOptions, SolverOptions{.microbatch = 2,
                                                                           .sync_batch_normalization = true,
                                                                           .bfloat16_gradients = true}>{});
  for (int i = 0; i < 3; ++i) {
    CHECK(exact[i] == Approx(1001.3).margin(0.5));
    CHECK(rounded[i] == Approx(exact[i]).margin(0.01));
    CHECK(rounded[i + 3] == Approx(exact[i + 3]).epsilon(0.01));
  }
}

TEST_CASE("a type and a config give the same bits") {
  constexpr SolverOptions options{.accumulate = 2, .microbatch = 3, .bfloat16_gradients = true};
  using Network = coldpress::Network<Graph<branched>, sequence>;
  Network net{3};
  Solver<Network, MeanSquaredError{}, Adam{}, options> solver{net};
  auto const config = dynamic::to_solver_config(solver);
  CHECK(config.microbatch == 3);
  CHECK(config.bfloat16_gradients);
  auto const backend = dynamic::Backend::like_static();
  dynamic::Solver other{dynamic::Layer::from_config(backend, dynamic::to_config(net), {}, 3), config};
  test::Random random{5};
  for (Index const batch : {7, 8, 1, 16}) {
    auto const x = random.values<float>(batch * sequence.size()), t = random.values<float>(batch * 3);
    CHECK(solver.train_minibatch(x, t) == other.train_minibatch(x, t));
    auto const& executable = other.network().executable();
    CHECK(test::same_bits(solver.output(), executable.outputs()[0]));
    CHECK(executable.outputs()[1].size() == static_cast<std::size_t>(batch * sequence[0] * 5));
  }
  std::vector<float> const x(static_cast<std::size_t>(sequence.size()), 1);
  CHECK(test::same_bits(net.forward(x), other.mut_network().predict(x)));
}

TEST_CASE("each part has random masks of its own, the same in each run") {
  using Masked = Network<Sequential<Dropout{.probability = 0.5f}, Linear{40}>, Shape{40}>;
  constexpr SolverOptions options{.microbatch = 2};
  std::vector<float> outputs[2];
  for (auto& y : outputs) {
    Masked net{1};
    Solver<Masked, MeanSquaredError{}, Sgd{.learning_rate = 0.0f}, options> solver{net};
    solver.train_minibatch(std::vector<float>(4 * 40, 1), std::vector<float>(4 * 40));
    y = test::copy_of<float>(solver.output());
  }
  CHECK(outputs[0] == outputs[1]);
  std::span const y{outputs[0]};
  for (std::size_t a = 0; a < 4; ++a) {
    for (std::size_t b = 0; b < a; ++b) CHECK_FALSE(test::same_bits(y.subspan(a * 40, 40), y.subspan(b * 40, 40)));
  }
}

TEST_CASE("running statistics observe every part") {
  using Normalized = Network<Sequential<BatchNormalization{.momentum = 0.5f}, Linear{1}>, Shape{1}>;
  Normalized net{1};
  Solver<Normalized, MeanSquaredError{}, Sgd{}, SolverOptions{.microbatch = 2}> solver{net};
  solver.train_minibatch(std::vector<float>{1, 3, 6, 10}, std::vector<float>(4));
  std::vector<float> mean(1), variance(1);
  for (int i = 0; i < net.weight_count; ++i) {
    std::string_view const name = net.weight_name(i).view();
    if (name.ends_with("mean")) net.read_weight(i, mean);
    if (name.ends_with("variance")) net.read_weight(i, variance);
  }
  CHECK(mean[0] == Approx(0.5 * 0 + 0.5 * (2 + 8) / 2));
  CHECK(variance[0] == Approx(0.5 * 1 + 0.5 * (2 + 8) / 2));  // unbiased
}

TEST_CASE("the statistics of a network count the samples of all parts") {
  using Counted = Network<Graph<classifier>, Inputs{Shape{3}, Shape{1}}>;
  Counted one{1}, other{1};
  Solver<Counted, OwnLosses{}> whole{one};
  Solver<Counted, OwnLosses{}, Sgd{}, SolverOptions{.microbatch = 2}> parts{other};
  test::Random random{5};
  for (int step = 0; step < 2; ++step) {
    auto const x = random.values<float>(7 * 3);
    std::vector<float> const labels{0, 1, 2, 3, 0, 1, 2};
    auto const both = std::tie(x, labels);
    CHECK(whole.train_minibatch(both) == Approx(parts.train_minibatch(both)));
    CHECK(whole.loss_value<"loss">() == Approx(parts.loss_value<"loss">()));
  }
  CHECK(whole.statistic<"accuracy">() == parts.statistic<"accuracy">());
  CHECK(whole.statistic<"loss">() == Approx(parts.statistic<"loss">()));
}

TEST_CASE("a step in parts whose loss is not finite changes nothing") {
  using Network = coldpress::Network<Sequential<Linear{2}>, Shape{2}>;
  Network net{1};
  Solver<Network, MeanSquaredError{}, Sgd{}, SolverOptions{.accumulate = 2, .microbatch = 1, .check_every = 0}> solver{
      net};
  std::vector<float> const x{1, 2, 3, 4};
  solver.train_minibatch(x, std::vector<float>(4));
  auto const weights = test::canonical(net);
  auto const gradients = test::copy_of<float>(std::as_const(solver).gradients());
  CHECK_THROWS_AS(solver.train_minibatch(x, std::vector<float>{0, 0, 0, std::numeric_limits<float>::infinity()}),
                  DivergenceError);
  CHECK(weights == test::canonical(net));
  CHECK(test::same_bits(gradients, std::as_const(solver).gradients()));
  CHECK(solver.progress() == Progress{1, 2});
}

TEST_CASE("gradients of the inputs are refused, and a number out of range") {
  auto const backend = dynamic::Backend::like_static();
  auto const config = [&](bool force_backward) {
    return dynamic::SolverConfig{
        .network = dynamic::LayerConfig{"net", dynamic::SequentialConfig{.layers = {{"dense", Linear{2}}},
                                                                         .inputs = {{"data", Shape{3}}},
                                                                         .force_backward = force_backward}},
        .objective = dynamic::LayerConfig{"loss", MeanSquaredError{}},
        .microbatch = 2};
  };
  auto solver = dynamic::Solver::from_config(backend, backend, config(true));
  CHECK_THROWS_AS(solver.train_minibatch(std::vector<float>(6), std::vector<float>(4)), UnsupportedError);
  auto wrong = config(false);
  wrong.microbatch = 0;
  CHECK_THROWS_AS(dynamic::Solver::from_config(backend, backend, wrong), ConfigError);
  wrong.microbatch = {}, wrong.shard_optimizer = true;
  CHECK_THROWS_WITH(dynamic::Solver::from_config(backend, backend, wrong),
                    Catch::Contains("shard_optimizer: is for ranks"));
  wrong.bfloat16_gradients = true;
  CHECK_THROWS_WITH(dynamic::Solver::from_config(backend, backend, wrong),
                    Catch::Contains("bfloat16_gradients: is for the gradients of the parts"));
}
