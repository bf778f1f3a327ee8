// Networks that are trained on any number of ranks, and all that is known of them after some steps, as bytes.
#pragma once

#include <coldpress/distributed.hpp>

#include "support/catch.hpp"
#include "support/random.hpp"

#include <coldpress/coldpress.hpp>

#include <string>
#include <vector>

namespace coldpress::test {

using dynamic::LayerConfig;
using dynamic::SolverConfig;

/// A network and how it is trained. Targets are labels if there are classes.
struct Case {
  std::string name;
  Shape input;
  Index targets = 0, classes = 0;
  std::vector<LayerConfig> layers = {};
  SolverConfig solver = {};
  std::vector<std::string> frozen = {};
};

inline std::vector<Case> cases() {
  auto const solver = [](dynamic::AnyOptimizer optimizer, Index microbatch) {
    SolverConfig config;
    config.solver = optimizer, config.base_lr = 0.02f, config.microbatch = microbatch;
    return config;
  };
  auto momentum = solver(Sgd{}, 3), clipped = solver(Sgd{}, 2), accumulating = solver(Adam{}, 2);
  momentum.momentum = 0.9f, momentum.weight_decay = 0.01f;
  clipped.clip_gradients = 0.05f, clipped.clip_values = 0.01f, clipped.lr_policy = policy::Step{0.5f, 2};
  accumulating.accumulate = 3;
  auto rounded = accumulating, rounded_and_clipped = clipped;
  rounded.bfloat16_gradients = rounded_and_clipped.bfloat16_gradients = true;
  auto synchronised = solver(Adam{}, 1), at_once = accumulating;
  synchronised.sync_batch_normalization = at_once.sync_batch_normalization = true;
  auto const shared = [](std::string name) {
    LayerConfig layer{std::move(name), Linear{6}};
    layer.params = {{.name = "w"}};
    return layer;
  };
  return {
      {"dense", {5}, 3, 0, {{"a", Linear{7}}, {"t", TanH{}}, {"b", Linear{3}}}, momentum},
      {"lenet",
       {1, 8, 8},
       1,
       4,
       {{"conv", Convolution{.num_output = 4, .filter_shape = 3}},
        {"pool", Pooling{.filter_shape = 2, .stride = 2}},
        {"flat", Flatten{}},
        {"fc", Linear{4}},
        {"scores", LogSoftmax{}}},
       solver(Adam{}, 2)},
      {"rnn",
       {6, 3},
       2,
       0,
       {{"rnn", Rnn{.hidden_size = 4, .output = RnnOutput::last_step}}, {"fc", Linear{2}}},
       solver(RMSprop{}, 1)},
      {"dropout and normalisation",
       {6},
       3,
       0,
       {{"a", Linear{8}}, {"norm", BatchNormalization{}}, {"drop", Dropout{.probability = 0.3f}}, {"b", Linear{3}}},
       accumulating},
      {"synchronised dropout and normalisation",
       {6},
       3,
       0,
       {{"a", Linear{8}}, {"norm", BatchNormalization{}}, {"drop", Dropout{.probability = 0.3f}}, {"b", Linear{3}}},
       at_once},
      {"synchronised normalisations",
       {2, 6, 6},
       3,
       0,
       {{"norm", BatchNormalization{}},
        {"conv", Convolution{.num_output = 4, .filter_shape = 3}},
        {"norm_of_images", BatchNormalization{}},
        {"relu", ReLU{}},
        {"steps", Reshape{{8, 8}}},
        {"norm_of_steps", BatchNormalization{.axis = -1}},
        {"b", Linear{3}}},
       synchronised},
      {"shared and clipped", {6}, 2, 0, {shared("a"), {"t", TanH{}}, shared("b"), {"c", Linear{2}}}, clipped},
      {"frozen", {5}, 3, 0, {{"a", Linear{7}}, {"t", TanH{}}, {"b", Linear{3}}}, momentum, {"a"}},
      {"frozen, shared and clipped",
       {6},
       2,
       0,
       {shared("a"), {"t", TanH{}}, shared("b"), {"c", Linear{2}}},
       clipped,
       {"c"}},
      {"bounded",
       {6},
       3,
       0,
       {{"a", Linear{.output_size = 40, .weight = {.max_norm = {0.4f}}}},
        {"norm", BatchNormalization{}},
        {"b", Linear{3}}},
       momentum},
      {"bfloat16 and accumulated",
       {6},
       3,
       0,
       {{"a", Linear{8}}, {"norm", BatchNormalization{}}, {"b", Linear{3}}},
       rounded},
      {"bfloat16, shared and clipped",
       {6},
       2,
       0,
       {shared("a"), {"t", TanH{}}, shared("b"), {"c", Linear{2}}},
       rounded_and_clipped},
  };
}

template <class T>
void append(std::string& bytes, T const* values, std::size_t count) {
  bytes.append(reinterpret_cast<char const*>(values), count * sizeof(T));
}

inline dynamic::Solver solver_of(Case const& c) {
  SolverConfig config = c.solver;
  dynamic::SequentialConfig layers;
  for (LayerConfig const& layer : c.layers) layers.add_layer(layer);
  config.network = LayerConfig{"net", layers};
  config.objective =
      c.classes > 0 ? LayerConfig{"loss", NegativeLogLikelihood{c.classes}} : LayerConfig{"loss", MeanSquaredError{}};
  dynamic::Solver solver = dynamic::Solver::from_config(dynamic::Backend::like_static(), std::move(config), c.input, 7);
  for (std::string const& name : c.frozen) solver.freeze(name);
  return solver;
}

/// Minibatches of these sizes, of which few can be cut into equal parts.
inline constexpr Index batches[] = {12, 7, 16, 1, 5, 8, 13};

/// Weights, states and waiting gradients after the steps, with the loss and the outputs of each.
inline std::string train(dynamic::Solver& solver, Case const& c) {
  Random random{11};
  std::string all;
  for (Index const batch : batches) {
    auto const x = random.values<float>(batch * c.input.size());
    std::vector<float> t = random.values<float>(batch * c.targets);
    for (std::size_t i = 0; c.classes > 0 && i < t.size(); ++i)
      t[i] = static_cast<float>(i * 7 % 5 % static_cast<std::size_t>(c.classes));
    float const loss = solver.train_minibatch(x, t);
    append(all, &loss, 1);
    auto const y = solver.network().executable().output();
    append(all, y.data(), y.size());
  }
  solver.gather_state(true);
  auto const checkpoint = persist::serialize(persist::checkpoint_of(std::as_const(solver)));
  append(all, checkpoint.data(), checkpoint.size());
  return all;
}
inline std::string trained_alone(Case const& c) {
  dynamic::Solver solver = solver_of(c);
  return train(solver, c);
}
inline std::string trained_on(Case const& c, Communicator& communicator, bool shards = false) {
  dynamic::Solver solver = solver_of(c);
  solver.options().shard_optimizer = shards;
  distributed::start(solver, communicator);
  return train(solver, c);
}

/// A network type with losses and statistics of its own, two outputs, dropout and running statistics.
struct Classifier {
  constexpr auto operator()(auto x, auto labels) const {
    auto const hidden = x | Linear{6} | BatchNormalization{} | Dropout{.probability = 0.2f} | TanH{};
    auto const scores = hidden | Linear{4} | LogSoftmax{};
    apply(Accuracy{}, scores, labels) | coldpress::name("accuracy");
    apply(NegativeLogLikelihood{4}, scores, labels) | coldpress::name("loss");
    return outputs(scores, hidden | Linear{2});
  }
};
inline constexpr auto classifier = graph(Classifier{});
using Typed = Network<Graph<classifier>, Inputs{Shape{3}, Shape{1}}>;

template <bool bfloat16 = false, bool shards = false, bool synchronised = false>
std::string typed_trained(Communicator* communicator, Executor* executor = nullptr) {
  auto const net = std::make_unique<Typed>(3);
  net->run_on(executor);
  using Solver = coldpress::Solver<Typed, OwnLosses{}, Adam{.learning_rate = 0.02f},
                                   SolverOptions{.clip_gradients = 0.5f,
                                                 .weight_decay = 0.01f,
                                                 .microbatch = 2,
                                                 .sync_batch_normalization = synchronised,
                                                 .bfloat16_gradients = bfloat16,
                                                 .shard_optimizer = shards}>;
  auto const solver = std::make_unique<Solver>(*net);
  if (communicator) distributed::start(*solver, *communicator);
  Random random{5};
  std::string all;
  for (Index const batch : batches) {
    auto const x = random.values<float>(batch * 3);
    std::vector<float> labels(static_cast<std::size_t>(batch));
    for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<float>(i * 7 % 4);
    float const loss = solver->train_minibatch(std::tie(x, labels));
    append(all, &loss, 1);
    auto const y = solver->output();
    append(all, y.values.data(), y.values.size());
  }
  double const statistics[] = {solver->template statistic<"accuracy">(), solver->template statistic<"loss">()};
  append(all, statistics, 2);
  solver->gather_state(true);
  auto const checkpoint = persist::serialize(persist::checkpoint_of(*solver));
  append(all, checkpoint.data(), checkpoint.size());
  return all;
}

}  // namespace coldpress::test
