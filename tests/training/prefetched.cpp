// The loops of docs/data.md: batches that a thread reads ahead train the same networks, bit for bit.
#include "support/catch.hpp"

#include <coldpress/coldpress.hpp>
#include <coldpress/data/prefetcher.hpp>
#include <coldpress/dynamic.hpp>

#include "data/blocks.hpp"

using namespace coldpress;

namespace {

using Net = Network<Sequential<Linear{8}, TanH{}, Linear{2}>, Shape{3}>;

data::Dataset small_numbers() {
  data::Dataset dataset = numbered(100);
  for (auto* const values : {&dataset.samples, &dataset.targets})
    for (float& value : *values) value = value / 150 - 1;
  return dataset;
}

template <class AnyBatches>
std::vector<float> typed(AnyBatches batches) {
  Net net{42};
  Solver<Net, MeanSquaredError{}, Sgd{.learning_rate = 0.05f}> solver{net};
  for (int epoch = 0; epoch < 3; ++epoch)
    for (auto const& batch : batches.epoch()) solver.train_minibatch(batch.samples, batch.targets);
  auto const y = net.forward(std::vector<float>{0.1f, 0.2f, 0.3f});
  return {y.begin(), y.end()};
}

template <class AnyBatches>
std::vector<float> dynamic_one(AnyBatches batches) {
  dynamic::SequentialConfig layers;
  layers.add_input("x", Shape{3});
  layers.add_layer({"linear1", Linear{8}}).add_layer({"tanh1", TanH{}}).add_layer({"linear2", Linear{2}});
  dynamic::SolverConfig const config{.network = dynamic::LayerConfig{"net", layers},
                                     .objective = dynamic::LayerConfig{"loss", MeanSquaredError{}},
                                     .base_lr = 0.05f};
  auto solver = dynamic::Solver::from_config(dynamic::Backend{"cpu"}, config, {}, 42);
  for (int epoch = 0; epoch < 3; ++epoch)
    for (auto const& batch : batches.epoch()) solver.train_minibatch(batch.samples, batch.targets);
  auto const y = solver.mut_network().predict(std::vector<float>{0.1f, 0.2f, 0.3f});
  return {y.begin(), y.end()};
}

}  // namespace

TEST_CASE("a typed and a dynamic network learn the same from batches that are read ahead") {
  data::Dataset const dataset = small_numbers();
  auto const source = data::borrow(dataset);
  auto const batches = [&] { return data::Batches{data::shuffled(*source, 1), 16}; };
  auto const expected = typed(data::Batches{dataset, 16, 1});
  CHECK(typed(batches()) == expected);
  CHECK(typed(data::Prefetcher{batches()}) == expected);
  auto const from_config = dynamic_one(batches());
  CHECK(dynamic_one(data::Prefetcher{batches()}) == from_config);
}
