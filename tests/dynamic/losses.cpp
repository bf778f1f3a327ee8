// Losses give PyTorch's values: tests/golden/layers.py made them.
#include "tensors.hpp"

#include "support/golden_file.hpp"

namespace {

using namespace coldpress;
using namespace coldpress::test;

void check(LayerConfig const& config) {
  GoldenCase const golden = golden_cases("layers.txt").at(config.name);
  Index const batch = static_cast<Index>(golden.at("in")[0]), targets = static_cast<Index>(golden.at("target").size());
  SharedTensor const x = tensor({batch, static_cast<Index>(golden.at("in")[1])}, copy_of<float>(golden.at("x")));
  SharedTensor const target = tensor({batch, targets / batch}, copy_of<float>(golden.at("target")));
  for (char const* backend : {"cpu", "cpu:reference"}) {
    Net loss = Net::from_config(Backend{backend}, config);
    INFO(backend << ", " << config.name);
    CHECK(excess(values_of(loss.forward({x, target})[0]), golden.at("y"), 12) <= 1);
    CHECK(excess(values_of(loss.backward()[0]), golden.at("dx"), 1) <= 1);
  }
}

}  // namespace

TEST_CASE("NegativeLogLikelihood is PyTorch's") { check({"negative_log_likelihood", NegativeLogLikelihood{5}}); }
TEST_CASE("MeanSquaredError is PyTorch's") { check({"mean_squared_error", MeanSquaredError{}}); }

TEST_CASE("the mean of many losses is that of the sum in double, on every backend") {
  constexpr Index samples = 50000;
  Floats const y = Random{1}.values<float>(samples * 3), t = Random{2}.values<float>(samples * 3);
  SharedTensor const outputs = tensor({samples, 3}, y), targets = tensor({samples, 3}, t);
  double squares = 0, entropy = 0;
  for (std::size_t i = 0; i < y.size(); ++i)
    squares += std::pow(static_cast<double>(y[i]) - static_cast<double>(t[i]), 2) / static_cast<double>(samples);
  Floats labels(static_cast<std::size_t>(samples));
  for (std::size_t i = 0; i < labels.size(); ++i) {
    labels[i] = static_cast<float>(i % 3);
    double mass = 0;
    for (std::size_t k = 0; k < 3; ++k) mass += std::exp(static_cast<double>(y[3 * i + k]));
    entropy += (std::log(mass) - static_cast<double>(y[3 * i + i % 3])) / static_cast<double>(samples);
  }
  for (char const* backend : {"cpu", "cpu:reference"}) {
    INFO(backend);
    Net mean = Net::from_config(Backend{backend}, {"loss", MeanSquaredError{}}),
        whole = Net::from_config(Backend{backend}, {"loss", SoftmaxLoss{}});
    CHECK(static_cast<double>(values_of(mean.forward({outputs, targets})[0])[0]) == Approx(squares).epsilon(1e-6));
    CHECK(static_cast<double>(values_of(whole.forward({outputs, tensor({samples, 1}, labels)})[0])[0]) ==
          Approx(entropy).epsilon(1e-6));
  }
}

TEST_CASE("a network with weights and a loss at its end is no objective, and evaluations have sums of their own") {
  SequentialConfig config;
  config.add_input("data", {4}).add_input("label", {1});
  config.add_layer(wired({"fc", Linear{3}}, {"data"}, {"scores"}));
  config.add_layer(wired({"loss", SoftmaxLoss{}}, {"scores", "label"}, {}));
  SharedTensor const x = noise({2, 4}, 1), labels = tensor({2, 1}, {0, 2});
  for (char const* backend : {"cpu", "cpu:reference"}) {
    INFO(backend);
    Net net = Net::from_config(Backend{backend}, {"network", config});
    CHECK(net.learnable_weights_data().size() == 2);
    net.evaluate({x, labels});
    Trainer solver{std::move(net), {}};
    double const evaluated = solver.network().statistics()[0].second;
    CHECK(evaluated > 0);
    CHECK(std::isnan(solver.statistics()[0].second));  // nothing was trained on yet
    SharedTensor const both[] = {noise({2, 4}, 2), labels};
    solver.train_minibatch(both);
    CHECK(solver.statistics()[0].second > 0);
    CHECK(solver.network().statistics()[0].second == evaluated);
  }
}

TEST_CASE("MeanSquaredError over values is that over samples by the values of a sample, alone and in training") {
  SharedTensor const y = noise({5, 3}, 1), t = noise({5, 3}, 2);
  MeanSquaredError const values{.loss_weight = 2, .loss_average = Average::values};
  for (char const* backend : {"cpu", "cpu:reference"}) {
    INFO(backend);
    double wanted = 0;
    for (std::size_t i = 0; i < 15; ++i)
      wanted += 2 * std::pow(static_cast<double>(values_of(y)[i]) - static_cast<double>(values_of(t)[i]), 2) / 15;
    Net loss = Net::from_config(Backend{backend}, {"loss", values});
    CHECK(static_cast<double>(values_of(loss.forward({y, t})[0])[0]) == Approx(wanted));
    CHECK(values_of(loss.backward()[0])[4] == Approx(2 * 2.0f / 3 * (values_of(y)[4] - values_of(t)[4])));
    SolverConfig const config{.network = sequential({{"same", Flatten{}}, {"a", Linear{3}}}, Shape{3}),
                              .objective = LayerConfig{"loss", values}};
    Trainer solver = Trainer::from_config(Backend{backend}, Backend{}, config, {}, 1);
    Floats const made = values_of(solver.mut_network().forward(y));
    wanted = 0;
    for (std::size_t i = 0; i < 15; ++i)
      wanted += 2 * std::pow(static_cast<double>(made[i]) - static_cast<double>(values_of(t)[i]), 2) / 15;
    CHECK(static_cast<double>(static_cast<float>(solver.train_minibatch(y.read(), t.read()))) ==
          Approx(wanted).epsilon(1e-5));
  }
}
