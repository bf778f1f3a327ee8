// Networks with branches, joins, losses and statistics, streams and files, by the GPU's kernels.
#include "cuda/loss_case.hpp"
#include "cuda/parity.hpp"
#include "dynamic/other_layers.hpp"

#include <coldpress/dynamic/describe.hpp>
#include <coldpress/persist.hpp>

#include "persist/files.hpp"

namespace {

using namespace coldpress;
using namespace coldpress::test;

Net network_of(LayerConfig const& config, std::string const& backend) {
  return Net::from_config(Backend{backend}, config, {}, 11);
}

}  // namespace

TEST_CASE("random graphs are within the bound of the reference, in passes and in training") {
  check_random_graphs(backends());
}

TEST_CASE("every loss trains as on the reference") {
  std::string const device = GENERATE(from_range(devices()));
  int count = 0;
  for_each_type(BuiltinLosses{}, [&]<class L>() {
    INFO(std::string{L::name});
    auto const made = loss_case<L>(7);
    auto const steps = [&](std::string const& backend) {
      SolverConfig config{.base_lr = 0.01f};
      config.objective = LayerConfig{"loss", made.loss};
      Trainer solver{network_of(made.network, backend), config};
      Floats all;
      for (int step = 0; step < 3; ++step) solver.train_minibatch(made.x, made.t), all.push_back(solver.loss());
      Floats const weights = weights_of(solver.network());
      all.insert(all.end(), weights.begin(), weights.end());
      return all;
    };
    CHECK(excess_of(steps(device), steps("cpu:reference"), 400) <= 1);
    ++count;
  });
  CHECK(count >= 10);
}

TEST_CASE("every optimizer trains as on the reference") {
  std::string const device = GENERATE(from_range(devices()));
  LayerConfig const network = sequential({{"first", Linear{9}}, {"relu", ReLU{}}, {"last", Linear{3}}}, Shape{6});
  SharedTensor const x = noise({7, 6}, 1), t = noise({7, 3}, 2);
  for_each_type(BuiltinOptimizers{}, [&]<class Optimizer>() {
    auto const steps = [&](std::string const& backend) {
      SolverConfig config{.weight_decay = 0.01f};
      config.solver = Optimizer{};
      config.objective = LayerConfig{"loss", MeanSquaredError{}};
      Trainer solver{network_of(network, backend), config};
      for (int step = 0; step < 5; ++step) solver.train_minibatch(x, t);
      return weights_of(solver.network());
    };
    INFO(std::string{Optimizer::name});
    CHECK(excess_of(steps(device), steps("cpu:reference"), 100) <= 1);
  });
}

TEST_CASE("layers that random networks do not have train as on the reference") {
  check_networks_of_other_layers(GENERATE(from_range(devices())));
}

TEST_CASE("frozen weights stay, bounds hold, and gradients of several minibatches are one update's") {
  std::string const device = GENERATE(from_range(devices()));
  LayerConfig network = sequential({{"first", Linear{.output_size = 9, .weight = {.max_norm = {0.5f, 2}}}},
                                    {"batch", BatchNormalization{}},
                                    {"last", Linear{3}}},
                                   Shape{6});
  auto const steps = [&](std::string const& backend) {
    SolverConfig config{.base_lr = 0.1f};
    config.accumulate = 2;
    config.objective = LayerConfig{"loss", MeanSquaredError{}};
    Trainer solver{network_of(network, backend), config};
    solver.freeze("last");
    for (std::uint64_t step = 0; step < 6; ++step) solver.train_minibatch(noise({7, 6}, step), noise({7, 3}, step + 9));
    return weights_of(solver.network());
  };
  CHECK(excess_of(steps(device), steps("cpu:reference"), 1000) <= 1);
}

TEST_CASE("streams go on where they were") {
  std::string const device = GENERATE(from_range(devices()));
  for (auto const& layer :
       std::vector<dynamic::LayerType>{Rnn{.hidden_size = 5}, Rnn{.hidden_size = 4, .rnn_type = RnnType::gru},
                                       Convolution{.num_output = 3, .filter_shape = 3, .dilation = 2}}) {
    auto const net_of = [&](Index steps) {
      Net net = network_of(sequential({{"first", layer}, {"last", TanH{}}}, Shape{steps, 2}), device);
      net.set_mode(Mode::inference);
      return net;
    };
    SharedTensor const x = noise({1, 8, 2}, 4);
    Net whole_net = net_of(8), net = net_of(2);
    Floats const whole = values_of(whole_net.forward(x)), values = values_of(x);
    Floats parts;
    for (std::size_t part = 0; part < 4; ++part) {
      dynamic::Values const y = net.step(std::span{values}.subspan(part * 4, 4));
      parts.insert(parts.end(), y.begin(), y.end());
    }
    CHECK(excess_of(parts, whole, 20) <= 1);
  }
}

TEST_CASE("what is trained on one backend goes on on another, by a file") {
  std::string const device = GENERATE(from_range(devices()));
  LayerConfig const network = sequential({{"first", Convolution{.num_output = 4, .filter_shape = 3}},
                                          {"pool", Pooling{.filter_shape = 2, .stride = 2}},
                                          {"rnn", Reshape{{3, 12}}},
                                          {"lstm", Rnn{.hidden_size = 5, .output = RnnOutput::last_step}},
                                          {"last", Linear{3}}},
                                         Shape{1, 8, 8});
  SharedTensor const x = noise({4, 1, 8, 8}, 3);
  Net here = network_of(network, device);
  Net there = persist::layer_of(Backend{"cpu:reference"},
                                persist::parse(persist::text_of(persist::serialize(persist::model_of(here)))), {}, 5);
  CHECK(same_bits(weights_of(here), weights_of(there)));
  CHECK(excess_of(values_of(here.forward(x)), values_of(there.forward(x)), 200) <= 1);
}
