// Networks with branches, joins, losses and statistics, streams and files, by the GPU's kernels.
#include "cuda/parity.hpp"

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

namespace {

/// A network for a loss of labels, or of values, with a statistic where there are labels.
template <class L>
void check_loss(std::string const& device, L loss, Index outputs) {
  INFO(std::string{L::name});
  LayerConfig network = sequential(
      {{"first", Linear{9}}, {"tanh", TanH{}}, {"last", Linear{outputs}}, {"scores", LogSoftmax{}}}, Shape{6});
  Shape const target = loss.target_shape({outputs});
  Random random{5};
  SharedTensor const x = noise({7, 6}, 1);
  SharedTensor t = noise({7, target.size()}, 2);
  if constexpr (L::target == Target::label) {
    for (float& label : t.read_write()) label = static_cast<float>(random.integer(0, loss.classes({outputs}) - 1));
  } else {
    for (float& value : t.read_write()) value = std::abs(value) + 0.1f;
  }
  auto const steps = [&](std::string const& backend) {
    SolverConfig config{.base_lr = 0.01f};
    config.objective = LayerConfig{"loss", loss};
    Trainer solver{network_of(network, backend), config};
    Floats made;
    for (int step = 0; step < 3; ++step) solver.train_minibatch(x, t), made.push_back(solver.loss());
    Floats const weights = weights_of(solver.network());
    made.insert(made.end(), weights.begin(), weights.end());
    return made;
  };
  CHECK(excess_of(steps(device), steps("cpu:reference"), 400) <= 1);
}

}  // namespace

TEST_CASE("every loss trains as on the reference") {
  std::string const device = GENERATE(from_range(devices()));
  int count = 0;
  for_each_type(BuiltinLosses{}, [&]<class L>() {
    L loss{};
    if constexpr (requires { loss.num_classes; }) loss.num_classes = 4;
    check_loss(device, loss, 4);
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
  std::string const device = GENERATE(from_range(devices()));
  auto const chain = [](std::vector<LayerConfig> layers) {
    layers.insert(layers.begin(), {{"first", Linear{12}}, {"matrix", Reshape{{3, 4}}}});
    layers.push_back({"last", Linear{2}});
    return sequential(std::move(layers), Shape{6});
  };
  SequentialConfig product;
  product.add_input("data", {6});
  product.add_layer(wired({"a", Linear{12}}, {"data"}, {"a"})).add_layer(wired({"m", Reshape{{3, 4}}}, {"a"}, {"m"}));
  product.add_layer(wired({"b", Linear{20}}, {"data"}, {"b"})).add_layer(wired({"n", Reshape{{4, 5}}}, {"b"}, {"n"}));
  product.add_layer(wired({"product", MatMul{}}, {"m", "n"}, {"p"}))
      .add_layer(wired({"last", Linear{2}}, {"p"}, {"y"}));
  for (LayerConfig const& network :
       {chain({{"most", Argmax{.axis = -1}}, {"words", Embedding{.vocabulary = 4, .features = 5}}}),
        chain({{"most", Argmax{.axis = -1}}, {"places", Onehot{.num_classes = 4, .axis = 1}}}),
        chain({{"turned", Permute{{1, 0}}}, {"mask", RandomMask{.probability = 0.3f}}, {"tied", TiedLinear{7}}}),
        chain({{"elu", ELU{}}, {"leaky", LeakyReLU{}}, {"silu", SiLU{}}, {"softplus", Softplus{}}}),
        chain({{"power", Power{}}, {"identity", Identity{}}, {"e", Exponential{}}, {"threshold", Threshold{}}}),
        LayerConfig{"network", product}}) {
    auto const steps = [&](std::string const& backend) {
      SolverConfig config{.base_lr = 0.01f};
      config.objective = LayerConfig{"loss", MeanSquaredError{}};
      Trainer solver{network_of(network, backend), config};
      for (std::uint64_t step = 0; step < 3; ++step)
        solver.train_minibatch(noise({7, 6}, step), noise({7, 2}, step + 9));
      return weights_of(solver.network());
    };
    INFO(dynamic::describe(network));
    CHECK(excess_of(steps(device), steps("cpu:reference"), 400) <= 1);
  }
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
