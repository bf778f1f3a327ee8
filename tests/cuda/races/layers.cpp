// The kernels of networks that are known at run time, by real threads: ThreadSanitizer reports nothing, and the bits
// are those of one that does all. These networks have each layer, loss, statistic and optimizer that there is.
#include "races.hpp"

#include "cuda/loss_case.hpp"
#include "dynamic/other_layers.hpp"
#include "dynamic/random_case.hpp"
#include "dynamic/random_network.hpp"

#include <coldpress/dynamic/describe.hpp>

#include <unistd.h>

#include <cstdio>
#include <sstream>

using namespace coldpress;
using namespace coldpress::test;

namespace {

/// Kernels of all test cases.
std::set<cuda::Loops> all_played;

Backend device() { return Backend{"cuda:emulated"}; }

/// A pass forward and back, some steps of training with what the config asks for, and a pass in inference.
Floats story_of(LayerConfig const& network, SolverConfig const& config, SharedTensor const& x, SharedTensor const& t) {
  Net net = Net::from_config(device(), network, {}, 3);
  Floats made = values_of(net.forward(x));
  Shape const y = net.output_shape();
  auto const tell = [&](Floats const& values) { made.insert(made.end(), values.begin(), values.end()); };
  tell(values_of(net.backward(noise({x.shape()[0], y.size()}, 4))));
  tell(gradients_of(net));
  net.update_weights();
  net.set_mode(Mode::inference);
  tell(values_of(net.forward(x)));
  Trainer solver{Net::from_config(device(), network, {}, 3), config};
  for (int step = 0; step < 2; ++step) {
    tell(values_of(solver.train_minibatch(x, t)));
    made.push_back(solver.loss());
  }
  tell(weights_of(solver.network()));
  return made;
}
/// Some steps of a network that has its losses.
Floats steps_of(LayerConfig const& network, std::vector<SharedTensor> const& inputs) {
  Trainer solver{Net::from_config(device(), network, {}, 3), SolverConfig{.base_lr = 0.01f}};
  Floats made;
  for (int step = 0; step < 2; ++step) {
    solver.train_minibatch(inputs);
    for (auto const& [name, loss] : solver.losses()) made.push_back(loss);
  }
  for (auto const& [name, value] : solver.statistics()) made.push_back(static_cast<float>(value));
  Floats const weights = weights_of(solver.network());
  made.insert(made.end(), weights.begin(), weights.end());
  return made;
}
SolverConfig with(LayerConfig loss, dynamic::AnyOptimizer optimizer = Sgd{}) {
  SolverConfig config{.solver = std::move(optimizer), .base_lr = 0.01f};
  config.objective = std::move(loss);
  return config;
}

template <class F>
void check(F const& made) {
  check_races(made, all_played);
}

// Where the program begins in memory.
extern "C" char const __executable_start;

/// The kernels that are in this program, by their names, as nm lists them.
std::map<std::string, cuda::Loops> kernels() {
  std::map<std::string, cuda::Loops> all;
  std::FILE* const listed = ::popen(("nm -C /proc/" + std::to_string(::getpid()) + "/exe").c_str(), "r");
  REQUIRE(listed);
  std::string text;
  for (int c = std::fgetc(listed); c != EOF; c = std::fgetc(listed)) text += static_cast<char>(c);
  REQUIRE(::pclose(listed) == 0);
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    auto const at = line.find(" void coldpress::cuda::loops<");
    if (at == std::string::npos) continue;
    auto const address = reinterpret_cast<std::uintptr_t>(&__executable_start) + std::stoull(line, nullptr, 16);
    all[line.substr(at)] = reinterpret_cast<cuda::Loops>(address);
  }
  return all;
}

}  // namespace

TEST_CASE("images have no race") {
  LayerConfig const network =
      sequential({{"crop", Crop{.size = {11, 12}, .random_crop = true}},
                  {"filters", Convolution{.num_output = 6, .filter_shape = 3, .padding = 1}},
                  {"batch", BatchNormalization{}},
                  {"relu", ReLU{}},
                  {"largest", Pooling{.filter_shape = 2, .stride = 2}},
                  {"groups", Convolution{.num_output = 8, .filter_shape = {3, 2}, .stride = {1, 2}, .groups = 2}},
                  {"near", LRN{.size = 3}},
                  {"mean", Pooling{.mode = PoolingMode::average, .filter_shape = 2}},
                  {"channels", ChannelPooling{.filter_size = 2, .stride = 1}},
                  {"last", Linear{5}},
                  {"scores", LogSoftmax{}}},
                 Shape{4, 13, 14});
  SolverConfig config = with({"loss", NegativeLogLikelihood{5}});
  config.momentum = 0.9f, config.clip_gradients = 0.1f, config.weight_decay = 0.01f;
  check([&] { return story_of(network, config, noise({7, 4, 13, 14}, 1), labels(7, 5)); });
}

TEST_CASE("sequences have no race") {
  LayerConfig const network = sequential(
      {{"words", Embedding{.vocabulary = 9, .features = 5}},
       {"long", Rnn{.hidden_size = 9, .num_layers = 2, .dropout_probability = 0.2f}},
       {"layer", LayerNormalization{}},
       {"elu", ELU{}},
       {"both", Rnn{.hidden_size = 7, .rnn_type = RnnType::gru, .direction_mode = DirectionMode::bi_directional}},
       {"last", Rnn{.hidden_size = 70, .rnn_type = RnnType::tanh, .output = RnnOutput::last_step}},
       {"drop", Dropout{}},
       {"scores", Linear{90}},
       {"softmax", Softmax{}}},
      Shape{6});
  SharedTensor x = labels(8 * 6, 9);
  check([&] {
    return story_of(network, with({"loss", MeanSquaredError{}}, Adam{}), tensor({8, 6}, values_of(x)),
                    noise({8, 90}, 2));
  });
}

TEST_CASE("products of many blocks have no race") {
  LayerConfig const network = sequential({{"first", Linear{.output_size = 130, .weight = {.max_norm = {.norm = 0.4f}}}},
                                          {"gelu", GELU{}},
                                          {"second", Linear{70}},
                                          {"scores", LogSoftmax{}}},
                                         Shape{20});
  check([&] {
    return story_of(network, with({"loss", NegativeLogLikelihood{70}}, Nesterov{}), noise({150, 20}, 1),
                    labels(150, 70));
  });
}

TEST_CASE("no optimizer has a race") {
  for_each_type(BuiltinOptimizers{}, [&]<class O>() {
    SolverConfig config = with({"loss", MeanSquaredError{}}, O{});
    config.accumulate = 2;
    check([&] { return story_of(small_network(), config, noise({5, 4}, 1), noise({5, 3}, 2)); });
  });
}

TEST_CASE("no loss has a race") {
  for_each_type(BuiltinLosses{}, [&]<class L>() {
    INFO(std::string{L::name});
    auto const made = loss_case<L>(9);
    check([&] { return story_of(made.network, with({"loss", made.loss}), made.x, made.t); });
  });
}

TEST_CASE("layers that random networks do not have have no race") {
  for (LayerConfig const& network : networks_of_other_layers()) {
    INFO(dynamic::describe(network));
    check([&] { return story_of(network, with({"loss", MeanSquaredError{}}), noise({5, 6}, 1), noise({5, 2}, 2)); });
  }
}

TEST_CASE("joins and statistics have no race") {
  SequentialConfig graph;
  graph.add_input("data", {8}).add_input("labels", {1}).add_input("bits", {4});
  auto const add = [&](std::string const& name, dynamic::LayerType layer, std::vector<std::string> inputs) {
    graph.add_layer(wired({name, std::move(layer)}, std::move(inputs), {name}));
  };
  add("a", Linear{12}, {"data"}), add("b", Linear{12}, {"data"}), add("s", Sigmoid{}, {"b"});
  add("e", Exponential{}, {"s"}), add("less", Subtract{}, {"a", "s"}), add("part", Divide{}, {"a", "e"});
  add("times", Multiply{}, {"less", "part"}), add("more", Add{}, {"times", "s"});
  add("m", Reshape{{3, 4}}, {"a"}), add("n", Reshape{{4, 3}}, {"s"}), add("product", MatMul{}, {"m", "n"});
  add("flat", Flatten{}, {"product"}), add("all", Concat{}, {"more", "less", "flat"});
  add("y", Linear{4}, {"all"}), add("scores", LogSoftmax{}, {"y"}), add("p", Sigmoid{}, {"y"});
  graph.add_layer(wired({"accuracy", Accuracy{}}, {"scores", "labels"}, {}));
  graph.add_layer(wired({"binary", BinaryAccuracy{}}, {"p", "bits"}, {}));
  graph.add_layer(wired({"loss", NegativeLogLikelihood{4}}, {"scores", "labels"}, {}));
  std::vector<SharedTensor> const inputs{noise({9, 8}, 1), labels(9, 4), tensor({9, 4}, values_of(labels(9 * 4, 2)))};
  check([&] { return steps_of({"network", graph}, inputs); });
}

TEST_CASE("no loss whose targets have gradients has a race") {
  for_each_type(BuiltinLosses{}, [&]<class L>() {
    if constexpr (ElementLoss<L> && has_target_gradient<L>) {
      INFO(std::string{L::name});
      SequentialConfig graph;
      graph.add_input("data", {5});
      graph.add_layer(wired({"a", Linear{4}}, {"data"}, {"a"})).add_layer(wired({"y", Sigmoid{}}, {"a"}, {"y"}));
      graph.add_layer(wired({"b", Linear{L{}.target_shape({4}).size()}}, {"data"}, {"b"}));
      graph.add_layer(wired({"t", Sigmoid{}}, {"b"}, {"t"})).add_layer(wired({"loss", L{}}, {"y", "t"}, {}));
      check([&] { return steps_of({"network", graph}, {noise({9, 5}, 1)}); });
    }
  });
}

TEST_CASE("random networks have no race") {
  Random random{2026};
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    RandomNetwork const network{random};
    check([&] {
      Trace const made{"cuda:emulated", network, seed, 5};
      Floats all;
      for (auto member : {&Trace::output, &Trace::input_gradient, &Trace::gradients, &Trace::inference, &Trace::losses,
                          &Trace::trained})
        all.insert(all.end(), (made.*member).begin(), (made.*member).end());
      return all;
    });
  }
}

TEST_CASE("random graphs have no race") {
  for (int number = 0; number < 8; ++number) {
    RandomConfig const random{static_cast<std::uint64_t>(number), 12, number % 2 == 1};
    check([&] {
      Case one{random, Net::from_config(device(), random.config(), {}, 11), 1 + number % 5};
      Made const made = one.pass();
      Floats all = made.outputs;
      auto const tell = [&](Floats const& values) { all.insert(all.end(), values.begin(), values.end()); };
      tell(made.inputs);
      for (auto const& [name, values] : made.weights) tell(values);
      if (random.losses() == 0 || one.net.learnable_weights_names().empty()) return all;
      for (auto const& [name, values] : trained(one, number % 4 == 1)) tell(values);
      return all;
    });
  }
}

TEST_CASE("the networks of these tests have every kernel") {
  auto const all = kernels();
  CHECK(all.size() > 80);
  for (auto const& [name, kernel] : all) {
    INFO(name);
    bool const of_libraries = name.find("BiasGradient") != name.npos || name.find("CopySteps") != name.npos;
    CHECK((of_libraries || all_played.count(kernel) == 1));
  }
}
