// What runs again and again does not touch the heap after its first time.
#include "support/executors.hpp"
#include "support/heap.hpp"
#include "tensors.hpp"

#include <coldpress/dynamic/adapter.hpp>

#include <map>

namespace {

using namespace coldpress;
using namespace coldpress::test;

std::atomic<std::size_t> const& calls = heap.calls;

/// Heap calls after the first two times, of which the first has the largest batch.
template <class Action>
std::size_t steady(Action action) {
  for (Index batch : {32, 7}) action(batch);
  std::size_t const before = calls;
  for (Index batch : {32, 7, 1, 7, 32, 16}) action(batch);
  return calls - before;
}

struct Data {
  SharedTensor x, dy, targets, labels;
  explicit Data(Index n) : x(noise({n, 20}, 1)), dy(noise({n, 10}, 2)), targets(noise({n, 10}, 3)), labels({n}) {
    labels.write_only();
  }
};

LayerConfig network() {
  return sequential(
      {{"a", Linear{33}}, {"t", TanH{}}, {"d", Dropout{.probability = 0.2f}}, {"b", Linear{10}}, {"s", LogSoftmax{}}},
      Shape{20});
}
/// With every kind of layer that needs memory of its own, and a value that two layers read.
LayerConfig windows_and_steps() {
  LayerConfig config =
      sequential({wired({"view", Reshape{{1, 4, 5}}}, {}, {"image"}),
                  {"conv", Convolution{.num_output = 3, .filter_shape = 3, .padding = 1}},
                  {"pool", Pooling{.filter_shape = 2}},
                  {"steps", Reshape{{4, 9}}},
                  {"rnn", Rnn{.hidden_size = 6, .dropout_probability = 0.3f, .output = RnnOutput::last_step}},
                  wired({"b", Linear{10}}, {}, {"b"}),
                  wired({"t", TanH{}}, {"b"}, {"t"}),
                  wired({"s", LogSoftmax{}}, {"b"}, {"s"})},
                 Shape{20});
  config.outputs = {"s"};
  return config;
}

}  // namespace

TEST_CASE("the heap is counted") {
  std::size_t const before = calls;
  Floats const values(100);
  HeapMemory<float> const memory(100);
  CHECK(values.size() == static_cast<std::size_t>(memory.size()));
  CHECK(calls == before + 2);
}

TEST_CASE("forward, backward and training stay off the heap") {
  std::map<Index, Data> data;
  for (Index batch : {1, 7, 16, 32}) data.emplace(batch, Data{batch});
  Network<Sequential<Linear{33}, TanH{}, Linear{10}, LogSoftmax{}>, Shape{20}> type{1};
  auto const check = [&](auto make) {
    for (Mode mode : {Mode::training, Mode::inference}) {
      Net net = make();
      net.set_mode(mode);
      CHECK(steady([&](Index n) { net.forward(data.at(n).x.read()); }) == 0);
      CHECK(steady([&](Index n) { net.forward(data.at(n).x); }) == 0);
    }
    Net net = make();
    CHECK(steady([&](Index n) {
            net.forward(data.at(n).x);
            net.backward(data.at(n).dy);
          }) == 0);
    CHECK(steady([&](Index n) {
            net.forward(data.at(n).x);
            net.backward_input(data.at(n).dy);
            net.backward_parameters();
            net.update_weights();
            net.learnable_weights_data()[0].read();
            net.learnable_weights_gradients()[0].read_write();
            net.clear_weights_gradients();
          }) == 0);
    for (bool clip : {false, true}) {
      for (bool classes : {false, true}) {
        SolverConfig config{.momentum = 0.9f};
        config.objective = classes ? LayerConfig{"l", NegativeLogLikelihood{10}} : LayerConfig{"l", MeanSquaredError{}};
        if (clip) config.clip_gradients = 0.5f;
        Trainer solver{make(), config};
        auto const targets = [&](Index n) -> SharedTensor const& {
          return classes ? data.at(n).labels : data.at(n).targets;
        };
        CHECK(steady([&](Index n) { solver.train_minibatch(data.at(n).x.read(), targets(n).read()); }) == 0);
        CHECK(steady([&](Index n) { solver.train_minibatch(data.at(n).x, targets(n)); }) == 0);
      }
    }
  };
  check([] { return Net::from_config(Backend{}, network()); });
  check([] { return Net::from_config(Backend{}, windows_and_steps()); });
  check([shared = Backend{"cpu", {.executor = std::make_shared<FineThreads>(3)}}] {
    return Net::from_config(shared, windows_and_steps());
  });
  check([&] { return Net::adapt(type); });
}

TEST_CASE("room that is made after a forward pass leaves no backward pass of it") {
  Data const two{2};
  auto const check = [&](Net net) {
    net.forward(two.x);
    net.reserve(64);
    CHECK_THROWS_WITH(net.backward(two.dy), Catch::Contains("call forward in training mode first"));
    net.forward(two.x), net.reserve(2);  // there is room already
    net.forward(two.x), net.backward(two.dy);
  };
  check(Net::from_config(Backend{}, network()));
  Network<Sequential<Linear{33}, TanH{}, Linear{10}, LogSoftmax{}>, Shape{20}> type{1};
  check(Net::adapt(type));
}

TEST_CASE("after reserve no call up to so many samples touches the heap, not even the first") {
  std::map<Index, Data> data;
  for (Index batch : {1, 2, 7, 16, 17, 31, 32, 33, 50}) data.emplace(batch, Data{batch});
  Network<Sequential<Linear{33}, TanH{}, Linear{10}, LogSoftmax{}>, Shape{20}> type{1};
  auto const check = [&](auto make, bool streams, bool trains = true) {
    for (Mode mode : {Mode::training, Mode::inference}) {
      if (mode == Mode::training && !trains) continue;
      Net net = make();
      net.set_mode(mode);
      net.reserve(50);
      std::size_t before = calls;
      for (auto const& [n, some] : data) net.predict(some.x.read());
      CHECK(calls == before);
      for (auto const& [n, some] : data) net.forward(some.x.read());
      CHECK(calls == before);
      for (auto const& [n, some] : data) net.forward(some.x);
      CHECK(calls == before);
      if (mode == Mode::training) {
        net.forward(data.at(50).x), net.backward(data.at(50).dy);
        net.forward(data.at(7).x), net.backward(data.at(7).dy);
        CHECK(calls == before);
      }
      for (auto const& [n, some] : data) {
        if (!streams) continue;
        net.step(some.x.read()), net.step(some.x.read()), net.reset();
      }
      CHECK(calls == before);
    }
  };
  check([] { return Net::from_config(Backend{}, network()); }, true);
  check([] { return Net::from_config(Backend{}, windows_and_steps()); }, false);
  check(
      [] {
        return Net::from_config(Backend{},
                                sequential({{"conv", Convolution{.num_output = 4, .filter_shape = 3, .dilation = 2}},
                                            {"rnn", Rnn{.hidden_size = 5, .output = RnnOutput::last_step}},
                                            {"fc", Linear{10}}},
                                           Shape{20}));
      },
      true);
  check([] { return Net::from_config(Backend{"cpu", {.bfloat16 = true}}, network()); }, true, false);
  check([&] { return Net::adapt(type); }, true);
  Net none = Net::from_config(Backend{}, network());
  error_of<ShapeError>([&] { none.reserve(0); });
}

TEST_CASE("a stream stays off the heap") {
  Net net =
      Net::from_config(Backend{}, sequential({{"conv", Convolution{.num_output = 4, .filter_shape = 3, .dilation = 2}},
                                              {"rnn", Rnn{.hidden_size = 5, .output = RnnOutput::last_step}},
                                              {"fc", Linear{2}}},
                                             Shape{3}));
  Floats const x(3, 0.5f);
  net.step(x);
  std::size_t const before = calls;
  for (int t = 0; t < 20; ++t) net.step(x);
  net.reset();
  net.step(x);
  CHECK(calls == before);
}

TEST_CASE("a loss layer stays off the heap") {
  std::map<Index, Data> data;
  for (Index batch : {1, 7, 16, 32}) data.emplace(batch, Data{batch});
  Net loss = Net::from_config(Backend{}, {"l", MeanSquaredError{}});
  CHECK(steady([&](Index n) {
          loss.forward({data.at(n).dy, data.at(n).targets});
          loss.backward();
        }) == 0);
  Net net = Net::from_config(Backend{}, network());
  auto const step = [&](Index n) {  // the loss holds an output while the network makes the next
    loss.forward({net.forward(data.at(n).x), data.at(n).targets});
    net.backward(loss.backward());
  };
  step(32), step(32);
  CHECK(steady(step) == 0);
}

TEST_CASE("a step that finds no memory for another objective leaves training for the one before as it was") {
  Net net = Net::from_config(Backend{}, sequential({{"a", Linear{33}}, {"t", TanH{}}, {"b", Linear{10}}}, Shape{20}));
  Data const data{4};
  dynamic::TrainingOptions options;
  options.optimizer = Sgd{.learning_rate = 0};
  Progress progress;
  auto const loss = [&](dynamic::Objective const& objective) {
    dynamic::Values const x = data.x.read();
    net.executable().train_minibatch({&x, 1}, data.targets.read(), objective, options, progress, nullptr);
    return net.executable().loss();
  };
  dynamic::Objective const one{.loss = MeanSquaredError{}}, other{.layers = {Sigmoid{}}, .loss = MeanSquaredError{}};
  float const before = loss(one);
  static int left;  // calls until one is refused
  bool refused = true;
  for (int allowed = 0; refused; ++allowed) {
    left = allowed, refused = false;
    heap.refuses = [](std::size_t) { return left-- == 0; };
    try {
      loss(other);
    } catch (std::bad_alloc const&) {
      refused = true;
    }
    heap.refuses = nullptr;
    CHECK(loss(one) == before);
  }
}

TEST_CASE("building, training and dropping networks leaves nothing behind") {
  SharedTensor weight{{1}};
  for (int round = 0; round < 3; ++round) {
    Net net = Net::from_config(Backend{}, network());
    net.forward(noise({5, 20}, 1));
    weight = net.learnable_weights_data()[0];
  }
  CHECK(weight.size() == 33 * 20);
}
