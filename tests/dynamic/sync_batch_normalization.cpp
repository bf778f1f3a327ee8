// Parts that synchronise normalise by the statistics of the whole minibatch, as a step without parts does.
#include <coldpress/backend/reference.hpp>
#include <coldpress/coldpress.hpp>
#include <coldpress/dynamic.hpp>
#include <coldpress/dynamic/register_layer.hpp>

#include "dynamic/trained.hpp"
#include "support/executors.hpp"
#include "support/forms.hpp"
#include "support/heap.hpp"
#include "support/layer_laws.hpp"

using namespace coldpress;

namespace {

/// Images, a residual connection, whose sum is computed with a normalisation, sequences and single values.
struct Normalized {
  constexpr auto operator()(auto x) const {
    constexpr Convolution same_size{.num_output = 3, .filter_shape = 3, .padding = 1};
    auto const first = x | same_size | BatchNormalization{} | ReLU{};
    auto const sum = (first + (first | same_size | BatchNormalization{.momentum = 0.3f})) | ReLU{};
    auto const steps = sum | Reshape{{12, 4}} | BatchNormalization{.epsilon = 0.1f, .axis = -1} | TanH{};
    return steps | Linear{5} | BatchNormalization{} | Dropout{.probability = 0.0f} | Linear{2};
  }
};
constexpr auto normalized = graph(Normalized{});
template <class Backend>
using Net = Network<Graph<normalized>, Shape{2, 4, 4}, DynamicBatch, Backend>;

using test::Trained;
template <class Network, SolverOptions options>
Trained trained(Executor* executor = nullptr) {
  return test::trained_on<Network, Sgd{.learning_rate = 0.05f}, options>({7, 8, 2, 16}, executor);
}
double distance(std::vector<double> const& a, std::vector<double> const& b) {
  REQUIRE(a.size() == b.size());
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]) / (1 + std::abs(b[i])));
  return most;
}

/// Subtracts from each value its mean over the minibatch.
struct Centre {
  static constexpr std::string_view name = "centre";
  static constexpr Capabilities capabilities{.backward_reads_input = false, .backward_reads_output = false};
  constexpr Shape output_shape(Shape in) const { return in; }
  constexpr InputCapabilities capabilities_for(Shape const&) const { return {.mixes_samples = true}; }
  constexpr Index memory(Shape const& in) const { return 2 * in.size(); }
  constexpr Totals totals(Shape const& in) const {
    Index const n = in.size();
    return {.forward = {{0, n}}, .backward = {n, n}};
  }
  void forward(auto const&, auto const& pass) const {
    auto* const sums = pass.memory;
    if (pass.step > 0 && phase_of(pass) != 1) add(pass.x, sums);
    if (phase_of(pass) == 0) return;
    for (Index i = 0; i < pass.x.rows; ++i) {
      for (Index j = 0; j < pass.x.columns; ++j)
        pass.y.row(i)[j] = pass.x.row(i)[j] - (pass.step > 0 ? sums[j] / count(pass, pass.x) : 0);
    }
  }
  void backward(auto const&, auto const& pass) const { add(pass.dy, pass.memory + pass.dy.columns); }
  void backward_input(auto const&, auto const& pass) const {
    auto const* const sums = pass.memory + pass.dy.columns;
    for (Index i = 0; i < pass.dy.rows; ++i) {
      for (Index j = 0; j < pass.dy.columns; ++j)
        pass.dx.row(i)[j] = pass.dy.row(i)[j] - sums[j] / count(pass, pass.dy);
    }
  }
  static void add(auto const& rows, auto* sums) {
    for (Index j = 0; j < rows.columns; ++j) sums[j] = 0;
    for (Index i = 0; i < rows.rows; ++i) {
      for (Index j = 0; j < rows.columns; ++j) sums[j] += rows.row(i)[j];
    }
  }
  template <class Rows>
  static auto count(auto const& pass, Rows const& rows) {
    return static_cast<std::remove_cvref_t<decltype(*rows.data)>>(Index{samples_of(pass, rows.rows)});
  }
  bool operator==(Centre const&) const = default;
};

}  // namespace

COLDPRESS_FIELDS(Centre);

TEMPLATE_TEST_CASE("parts that synchronise take the step of the whole minibatch", "", DefaultBackend,
                   Reference<double>) {
  using Network = Net<TestType>;
  double const tolerance = std::is_same_v<typename Network::T, double> ? 1e-7 : 1e-3;
  Trained const whole = trained<Network, SolverOptions{}>();
  auto const check = [&](Trained const& parts) {
    CHECK(distance(parts.losses, whole.losses) < tolerance);
    CHECK(distance(parts.outputs, whole.outputs) < tolerance);
    CHECK(distance(parts.weights, whole.weights) < tolerance);
  };
  check(trained<Network, SolverOptions{.microbatch = 1, .sync_batch_normalization = true}>());
  check(trained<Network, SolverOptions{.microbatch = 3, .sync_batch_normalization = true}>());
  Trained const apart = trained<Network, SolverOptions{.microbatch = 3}>();
  CHECK(distance(apart.outputs, whole.outputs) > 0.1);
  CHECK(distance(apart.weights, whole.weights) > 0.01);
  // A minibatch that is one part needs nothing.
  CHECK(trained<Network, SolverOptions{.microbatch = 16, .sync_batch_normalization = true}>() == whole);
  CHECK(trained<Network, SolverOptions{.sync_batch_normalization = true}>() == whole);
}

TEST_CASE("mean and variance are those of all samples, where the last part is shorter, too") {
  using Network = Network<Sequential<BatchNormalization{.epsilon = 0.5f, .momentum = 0.5f}, Linear{1}>, Shape{1}>;
  Network net{1};
  Solver<Network, MeanSquaredError{}, Sgd{.learning_rate = 0},
         SolverOptions{.microbatch = 2, .sync_batch_normalization = true}>
      solver{net};
  std::vector<float> const x{1, 3, 6, 10, 0};  // mean 4, sum of squared distances 66
  solver.train_minibatch(x, std::vector<float>(5));
  std::vector<float> mean(1), variance(1), weight(1), bias(1);
  for (int i = 0; i < net.weight_count; ++i) {
    std::string_view const name = net.weight_name(i).view();
    if (name.ends_with("mean")) net.read_weight(i, mean);
    if (name.ends_with("variance")) net.read_weight(i, variance);
    if (name == "linear1-0") net.read_weight(i, weight);
  }
  CHECK(mean[0] == Approx(0.5 * 4));
  CHECK(variance[0] == Approx(0.5 * 1 + 0.5 * 66 / 4));  // unbiased
  for (std::size_t i = 0; i < 5; ++i) {
    double const wanted = (static_cast<double>(x[i]) - 4) / std::sqrt(66.0 / 5 + 0.5);
    CHECK(static_cast<double>(solver.output().values[i]) ==
          Approx(static_cast<double>(weight[0]) * wanted).margin(1e-6));
  }
}

TEST_CASE("gradients are the central differences of the loss of the whole minibatch") {
  using Network = Net<Reference<double>>;
  auto const net = std::make_unique<Network>(test::random_network<Network>(3));
  constexpr Sgd still{.learning_rate = 0};
  Solver<Network, MeanSquaredError{}, still, SolverOptions{}> whole{*net};
  Solver<Network, MeanSquaredError{}, still, SolverOptions{.microbatch = 3, .sync_batch_normalization = true}> parts{
      *net};
  test::Random random{5};
  Index const batch = 7;
  auto const x = random.values<double>(batch * Network::input_shape.size()), t = random.values<double>(batch * 2);
  parts.train_minibatch(x, t);
  auto const gradients = test::copy_of<double>(std::as_const(parts).gradients());
  for (int i = 0; i < Network::weight_count; ++i) {
    if (Network::weight(i).is_statistic()) continue;
    Slot const& slot = Network::Training::memory.slots[static_cast<std::size_t>(Network::Graph::weights[i])];
    for (Index e = slot.offset; e < slot.offset + slot.size; ++e) {
      INFO(Network::weight_name(i).view() << " " << e - slot.offset);
      double& value = net->parameters()[static_cast<std::size_t>(e)];
      double const middle = value, step = 1e-6;
      auto const loss = [&](double at) {
        value = at;
        return whole.train_minibatch(x, t);
      };
      double const slope = (loss(middle + step) - loss(middle - step)) / (2 * step);
      value = middle;
      REQUIRE(gradients[static_cast<std::size_t>(e)] / static_cast<double>(batch) ==
              Approx(slope).epsilon(1e-4).margin(1e-7));
    }
  }
}

TEST_CASE("no bit of parts that synchronise depends on the threads, and a type and a config have the same") {
  constexpr SolverOptions options{.accumulate = 2, .microbatch = 2, .sync_batch_normalization = true};
  Trained const alone = trained<Net<DefaultBackend>, options>();
  test::Shuffled reversed, random{7};
  test::FineThreads two{2}, five{5};
  for (Executor* executor : std::initializer_list<Executor*>{&reversed, &random, &two, &five})
    CHECK(trained<Net<DefaultBackend>, options>(executor) == alone);
  CHECK(reversed.runs > 0);

  using Network = coldpress::Network<Graph<normalized>, Shape{2, 4, 4}>;
  Network net{3};
  Solver<Network, MeanSquaredError{}, Adam{}, options> solver{net};
  auto const config = dynamic::to_solver_config(solver);
  CHECK(config.sync_batch_normalization);
  auto const backend = dynamic::Backend::like_static();
  dynamic::Solver other{dynamic::Layer::from_config(backend, dynamic::to_config(net), {}, 3), config};
  CHECK(other.options().sync_batch_normalization);
  test::Random values{5};
  for (Index const batch : {7, 8, 2, 16}) {
    auto const x = values.values<float>(batch * 32), t = values.values<float>(batch * 2);
    CHECK(solver.train_minibatch(x, t) == other.train_minibatch(x, t));
    CHECK(test::same_bits(solver.output(), other.network().executable().output()));
  }
  std::vector<float> const x(32, 1);
  CHECK(test::same_bits(net.forward(x), other.mut_network().predict(x)));
}

TEST_CASE("a step of parts that synchronise allocates nothing after the first") {
  using Network = Net<DefaultBackend>;
  auto const net = std::make_unique<Network>(3);
  test::FineThreads threads{2};
  net->run_on(&threads);
  using Fit =
      Solver<Network, MeanSquaredError{}, Adam{}, SolverOptions{.microbatch = 3, .sync_batch_normalization = true}>;
  auto const solver = std::make_unique<Fit>(*net);
  dynamic::Solver other{dynamic::Layer::from_config(dynamic::Backend::like_static(), dynamic::to_config(*net), {}, 3),
                        dynamic::to_solver_config(*solver)};
  std::vector<float> const x(16 * 32, 0.5f), t(16 * 2);
  auto const step = [&] {
    auto const before = test::heap.calls.load();
    solver->train_minibatch(x, t);
    (void)static_cast<float>(other.train_minibatch(x, t));
    return test::heap.calls - before;
  };
  CHECK(step() > 0);
  step();
  CHECK(step() == 0);
}

TEST_CASE("a layer of one's own that says what it sums synchronises, too, in a type and in a config") {
  dynamic::register_layer<Centre>();
  using Network = Network<Sequential<Linear{4}, Centre{}, TanH{}, Linear{2}>, Shape{3}>;
  Network one{1}, two{1};
  Solver<Network, MeanSquaredError{}> whole{one};
  Solver<Network, MeanSquaredError{}, Sgd{}, SolverOptions{.microbatch = 2, .sync_batch_normalization = true}> parts{
      two};
  dynamic::Solver config{dynamic::Layer::from_config(dynamic::Backend::like_static(), dynamic::to_config(two), {}, 1),
                         dynamic::to_solver_config(parts)};
  Network three{1};
  Solver<Network, MeanSquaredError{}, Sgd{}, SolverOptions{.microbatch = 2}> apart{three};
  test::Random random{5};
  for (int step = 0; step < 3; ++step) {
    auto const x = random.values<float>(7 * 3), t = random.values<float>(7 * 2);
    float const loss = whole.train_minibatch(x, t), in_parts = parts.train_minibatch(x, t);
    CHECK(in_parts == Approx(loss));
    CHECK(config.train_minibatch(x, t) == in_parts);
    CHECK(apart.train_minibatch(x, t) != Approx(loss));
  }
}
