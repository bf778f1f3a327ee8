// Losses and statistics as types, as a config and in a file: the same bits, in a network's function and as an
// objective.
#include "support/equivalence.hpp"

#include <coldpress/dynamic/adapter.hpp>
#include <coldpress/testing/minibatch.hpp>
#include <coldpress/typed/operations.hpp>

using namespace coldpress;
using namespace coldpress::test;

namespace {

std::string own_path() {
  return (std::filesystem::temp_directory_path() / ("coldpress-losses-" + std::to_string(::getpid()))).string();
}
std::vector<float> labels_of(Random& random, Index count, Index classes) {
  std::vector<float> labels;
  for (Index i = 0; i < count; ++i) labels.push_back(static_cast<float>(random.integer(0, classes - 1)));
  return labels;
}

/// Every loss, two of them of values that are the network's, and both statistics.
struct All {
  constexpr auto operator()(auto x, auto t, auto labels) const {
    auto const hidden = x | Linear{9} | TanH{};
    auto const scores = hidden | Linear{6} | name("scores");
    auto const p = scores | Softmax{} | name("p");
    auto const deviation = hidden | Linear{6} | Softplus{};
    apply(SquareLoss{.loss_weight = 0.5f}, scores, t) | name("square");
    apply(BinaryCrossEntropy{}, hidden | Linear{6} | Sigmoid{}, t) | name("binary");
    apply(Hinge{}, scores, t) | name("hinge");
    apply(GaussianKL{.loss_weight = 0.25f}, scores, deviation) | name("divergence");
    apply(SoftmaxLoss{.class_weights = {1, 2, 3, 1, 2, 3}}, scores, labels) | name("softmax");
    apply(MultinomialLogistic{.ignore_index = 1}, p, labels) | name("logistic");
    apply(SoftlabelSoftmax{}, scores, hidden | Linear{6} | Softmax{}) | name("soft");
    apply(Wasserstein{.lambda = 4, .iterations = 20}, p, t | Softmax{}) | name("transport");
    apply(Accuracy{.ignore_index = 4}, p, labels) | name("accuracy");
    apply(BinaryAccuracy{.threshold = 0.25f, .report_error = true}, scores, t) | name("side");
    return p;
  }
};
constexpr auto all = graph(All{});
using Net = Network<Graph<all>, Inputs{Shape{4}, Shape{6}, Shape{1}}>;

template <auto loss, auto tail = Sigmoid{}>
void check_objective() {
  INFO(loss.name);
  using Chain = Sequential<Linear{7}, TanH{}, Linear{6}, tail>;
  using Static = Network<Chain, Shape{4}>;
  auto const backend = dynamic::Backend::like_static();
  Static net{3};
  Solver<Static, loss, Sgd{.learning_rate = 0.05f}> solver{net};
  auto const config = dynamic::to_solver_config(solver);
  auto other = dynamic::Solver::from_config(backend, config, {}, 3);
  Random random{5};
  for (Index const batch : {1, 3, 17}) {
    auto const x = random.values<float>(batch * 4);
    auto const t = testing::targets_of<loss, float>(random, batch, Static::output_shape, 0.1f, 1);
    REQUIRE(solver.train_minibatch(x, t) == other.train_minibatch(std::span{x}, std::span{t}));
  }
  REQUIRE(same_bits(all_weights(net), all_weights(other.network())));
}

}  // namespace

TEST_CASE(
    "a network with every loss and statistic trains and evaluates to the same bits as a type, as a config and from a "
    "file") {
  auto const backend = dynamic::Backend::like_static();
  Net net{3}, other{3};
  std::string const path = own_path();
  save(net, path);
  auto const config = dynamic::to_config(net);
  auto const model = persist::read_model(path);
  std::filesystem::remove(path);
  REQUIRE(model.config == config);
  Solver<Net, OwnLosses{}, Sgd{.learning_rate = 0.05f}> solver{net};
  auto const training = dynamic::to_solver_config(solver);
  dynamic::Solver built{dynamic::Layer::from_config(backend, config, {}, 3), training};
  dynamic::Solver loaded{persist::layer_of(backend, model, {}, 3), training};
  dynamic::Solver adapted{dynamic::Layer::adapt(other), training};
  Random random{5};
  for (Index const batch : {5, 1, 16}) {
    auto const x = random.values<float>(batch * 4), t = random.values<float>(batch * 6);
    auto const labels = labels_of(random, batch, 6);
    dynamic::Values const inputs[] = {x, t, labels};
    float const mean = solver.train_minibatch(std::tie(x, t, labels));
    net.evaluate(x, t, labels);
    for (dynamic::Solver* each : {&built, &loaded, &adapted}) {
      REQUIRE(mean == each->train_minibatch(inputs));
      each->mut_network().executable().evaluate(inputs);
      auto const trained = each->statistics(), evaluated = each->network().statistics();
      REQUIRE(trained.size() == 10);
      auto const value = [](auto const& statistics, std::string const& name) {
        for (auto const& [found, number] : statistics) {
          if (found == name) return number;
        }
        FAIL(name);
        return 0.0;
      };
      for (auto const& [statistics, ours] :
           {std::pair{trained, std::array{solver.statistic<"accuracy">(), solver.statistic<"side">(),
                                          solver.statistic<"transport">(), solver.statistic<"square">()}},
            std::pair{evaluated, std::array{net.statistic<"accuracy">(), net.statistic<"side">(),
                                            net.statistic<"transport">(), net.statistic<"square">()}}}) {
        CHECK(value(statistics, "accuracy") == ours[0]);
        CHECK(value(statistics, "side") == ours[1]);
        CHECK(value(statistics, "transport") == ours[2]);
        CHECK(value(statistics, "square") == ours[3]);
      }
    }
  }
  REQUIRE(same_bits(all_weights(net), all_weights(built.network())));
  REQUIRE(same_bits(all_weights(net), all_weights(loaded.network())));
  REQUIRE(same_bits(all_weights(net), all_weights(adapted.network())));
  built.reset_statistics();
  CHECK(std::isnan(built.statistics()[0].second));
  CHECK(!std::isnan(built.network().statistics()[0].second));
  built.mut_network().reset_statistics();
  CHECK(std::isnan(built.network().statistics()[0].second));
}

TEST_CASE("every loss is the same objective in a type and in a config") {
  check_objective<SquareLoss{}>();
  check_objective<BinaryCrossEntropy{}>();
  check_objective<Hinge{}>();
  check_objective<GaussianKL{}>();
  check_objective<SoftmaxLoss{}>();
  check_objective<SoftmaxLoss{.ignore_index = 2}>();
  check_objective<MultinomialLogistic{}>();
  check_objective<FocalLoss{}>();
  check_objective<CosineSimilarityLoss{}>();
  check_objective<TripletMargin{}>();
  check_objective<CTCLoss{.labels = 2}, Sequential<Reshape{{3, 2}}, SoftmaxOver{.axis = -1, .logarithm = true}>{}>();
  check_objective<SoftlabelSoftmax{}>();
  check_objective<Wasserstein{}>();
  check_objective<ErrorToSignalRatio{.pre_emphasis = 0.5f}>();
  check_objective<StftLoss{.fft_size = {8, 4}, .hop_size = 2, .window_size = {7, 4}}>();
}

namespace {
using dynamic::LayerConfig;
/// A network of tensors {batch, 4} and labels, with one more layer.
LayerConfig with(LayerConfig last, std::vector<std::string> inputs, Index size = 3) {
  dynamic::SequentialConfig config;
  config.add_input("data", {4}).add_input("label", {1});
  LayerConfig scores{"fc", Linear{size}};
  scores.inputs = {"data"}, scores.outputs = {"scores"};
  last.inputs = std::move(inputs);
  config.add_layer(scores).add_layer(std::move(last));
  return {"network", config};
}
template <class Exception>
void check_error(LayerConfig const& config, std::string const& sentence) {
  try {
    dynamic::Layer::from_config(dynamic::Backend::like_static(), config);
    FAIL_CHECK("built");
  } catch (Exception const& error) {
    std::string const text = error.what();
    INFO(text);
    CHECK(text.find("last") != std::string::npos);
    CHECK(text.find(sentence) != std::string::npos);
  }
}
}  // namespace

TEST_CASE("losses and statistics that cannot be are errors that name the layer") {
  check_error<ConfigError>(with({"last", Accuracy{}}, {"scores", "scores"}, 1), "must be an input");
  check_error<ShapeError>(with({"last", Accuracy{}}, {"scores", "scores"}), "one label at each position");
  check_error<ShapeError>(with({"last", Accuracy{}}, {"scores"}), "reads two values");
  check_error<ShapeError>(with({"last", Accuracy{.axis = 1}}, {"scores", "label"}), "no axis");
  check_error<ShapeError>(with({"last", BinaryAccuracy{}}, {"scores", "label"}), "equal size");
  check_error<ShapeError>(with({"last", SoftmaxLoss{.class_weights = {1, 2}}}, {"scores", "label"}), "for each class");
  check_error<ShapeError>(with({"last", MultinomialLogistic{}}, {"scores", "scores"}), "a different number of values");
}

TEST_CASE("a label that is no class is an error before anything is computed, in tensors too") {
  auto const backend = dynamic::Backend::like_static();
  auto net = dynamic::Layer::from_config(backend, with({"last", SoftmaxLoss{}}, {"scores", "label"}));
  auto const weights = all_weights(net);
  dynamic::SharedTensor x{{2, 4}}, labels{{2, 1}};
  std::ranges::fill(x.write_only(), 1.0f);
  std::ranges::copy(std::array{1.0f, 3.0f}, labels.write_only().begin());
  CHECK_THROWS_AS(net.evaluate({x, labels}), DataError);
  CHECK(std::isnan(net.statistics()[0].second));
  CHECK_THROWS_AS(net.evaluate({x}), ShapeError);
  dynamic::Solver solver{std::move(net), {}};
  dynamic::SharedTensor const both[] = {x, labels};
  CHECK_THROWS_AS(solver.train_minibatch(both), DataError);
  CHECK(same_bits(weights, all_weights(solver.network())));
  labels.write_only()[1] = 2;
  CHECK(solver.mut_network().evaluate({x, labels})[0].shape() == std::vector<Index>{2, 3});
  CHECK(solver.network().statistics()[0].first == "last");
  CHECK(solver.network().statistics()[0].second > 0);
}
