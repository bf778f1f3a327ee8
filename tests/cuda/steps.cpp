// Steps on a GPU: each is one launch that nothing waits for, with graphs that later steps start again, and what is read
// is what the reference computes. The emulated device does everything as late as a GPU may.
#include "cuda/devices.hpp"
#include "cuda/since.hpp"
#include "dynamic/random_case.hpp"

#include <coldpress/dynamic/describe.hpp>

namespace {

using namespace coldpress;
using namespace coldpress::test;

Net network_of(LayerConfig const& config, std::string const& backend) {
  return Net::from_config(Backend{backend}, config, {}, 11);
}
LayerConfig dense(std::vector<LayerConfig> between = {{"relu", ReLU{}}}) {
  between.insert(between.begin(), {"first", Linear{9}});
  between.push_back({"last", Linear{3}});
  return sequential(std::move(between), Shape{6});
}
SolverConfig config_of(dynamic::LayerType const& loss = MeanSquaredError{}) {
  SolverConfig config{.base_lr = 0.05f};
  config.objective = LayerConfig{"loss", loss};
  return config;
}
Floats samples(Index count, std::uint64_t seed) { return values_of(noise({count}, seed)); }

Floats predicted(Trainer& solver) { return copy_of<float>(solver.mut_network().predict(samples(6, 50))); }
/// Some steps, from the values of `seed` on; what was given is overwritten at once.
void train(Trainer& solver, int steps, std::uint64_t seed = 0, Index batch = 7) {
  for (int step = 0; step < steps; ++step, ++seed) {
    Floats x = samples(batch * 6, seed), t = samples(batch * 3, seed + 100);
    solver.train_minibatch(x, t);
    std::fill(x.begin(), x.end(), 1e9f), std::fill(t.begin(), t.end(), 1e9f);
  }
}

}  // namespace

TEST_CASE("steps are one launch each, which nothing waits for and nothing is allocated for") {
  std::string const device = GENERATE(from_range(devices()));
  SolverConfig config = config_of();
  config.clip_gradients = 0.5f;
  Trainer solver{network_of(dense(), device), config};
  train(solver, 3);
  Since const since;
  train(solver, 10, 3);
  auto const made = since();
  CHECK(made.launches == 10);
  CHECK(made.graphs == 0);
  CHECK(made.allocations == 0);
  CHECK(made.waits == 0);
  CHECK(made.downloads == 0);
  CHECK(made.uploads == 20);
  // Forward and backward of two layers, the slope of ReLU in one of them, loss, and update.
  CHECK(made.kernels == 10 * 7);
  CHECK(made.blocks <= made.kernels * 2);
  // What reads a minibatch, which is where that of the step before is not; and the update, which has its number.
  CHECK(made.patches >= 10 * 4);
  CHECK(made.patches < made.kernels);

  float const loss = solver.loss();
  CHECK(since().waits == 1);
  CHECK(solver.loss() == loss);
  CHECK(since().waits == 1);
  Floats const y = copy_of<float>(solver.network().executable().output());
  CHECK(since().waits == 2);
  CHECK(same_bits(copy_of<float>(solver.network().executable().output()), y));
  CHECK(since().waits == 2);
  auto const& weights = solver.network().learnable_weights_data();
  weights[0].read();
  CHECK(since().waits == 3);
  weights[0].read();
  CHECK(since().waits == 3);
}

TEST_CASE("forward has the kernels that its description says") {
  std::vector<LayerConfig> const networks{
      dense(),
      dense({{"norm", LayerNormalization{}}, {"tanh", TanH{}}}),
      dense({{"softmax", Softmax{}}}),
      dense({{"drop", Dropout{}}, {"flat", Flatten{}}, {"power", Power{.power = 2}}}),
      dense({{"norm", BatchNormalization{}}}),
      dense({{"in", Flatten{}}, {"rnn", Rnn{.hidden_size = 4}}})};
  for (LayerConfig const& config : networks) {
    Net net = network_of(config, "cuda:emulated");
    Since const since;
    net.predict(samples(5 * 6, 1));
    std::string const text = dynamic::describe_on_gpu(config);
    CHECK(text.find(" of " + std::to_string(since().kernels) + " kernels, ") != std::string::npos);
  }
}

TEST_CASE("steps that are started together are one launch, with the bits of one a launch") {
  std::string const device = GENERATE(from_range(devices()));
  auto const solver_of = [&](int together) {
    Net net = Net::from_config(Backend{device, {.passes_a_launch = together}}, dense({{"drop", Dropout{}}}), {}, 11);
    return Trainer{std::move(net), config_of()};
  };
  Trainer one = solver_of(1), four = solver_of(4);
  for (Trainer* solver : {&one, &four}) train(*solver, 8);
  Since const since;
  train(four, 8, 8);
  auto const made = since();
  CHECK(made.launches == 2);
  CHECK(made.kernels == 8 * 7);
  CHECK(made.graphs == 0);
  CHECK(made.allocations == 0);
  CHECK(made.waits == 0);
  train(one, 8, 8);
  CHECK(same_bits(predicted(four), predicted(one)));
  // What is read is there, however many steps have been taken; and the next are right.
  for (int steps : {1, 2, 3, 6}) {
    for (Trainer* solver : {&one, &four}) train(*solver, steps, 16);
    CHECK(one.loss() == four.loss());
    CHECK(same_bits(weights_of(one.network()), weights_of(four.network())));
    CHECK(same_bits(predicted(four), predicted(one)));
  }
  for (Trainer* solver : {&one, &four}) {  // a pass that fails takes none of those before with it
    train(*solver, 2, 30);
    CHECK_THROWS_AS(solver->train_minibatch(samples(5, 1), samples(3, 1)), ShapeError);
    train(*solver, 1, 33);
  }
  CHECK(same_bits(weights_of(one.network()), weights_of(four.network())));
  CHECK_THROWS_AS(solver_of(0), UnsupportedError);
}

TEST_CASE("what is read after steps is of the last one, and the reference's") {
  std::string const device = GENERATE(from_range(devices()));
  auto const run = [&](std::string const& backend) {
    SolverConfig config = config_of();
    config.solver = Adam{};
    config.base_lr = 0.01f;
    config.lr_policy = lr::Staged{{2, lr::Warmup{.max_iter = 2}}, {1, lr::Step{.gamma = 0.5f, .stepsize = 2}}};
    config.clip_gradients = 0.5f;
    config.clip_values = 0.05f;
    Trainer solver{network_of(dense({{"tanh", TanH{}}, {"dropout", Dropout{.probability = 0.3f}}}), backend), config};
    Floats made;
    auto const add = [&](std::span<float const> values) { made.insert(made.end(), values.begin(), values.end()); };
    for (std::uint64_t round = 0; round < 3; ++round) {
      train(solver, 3, 10 * round), train(solver, 1, 10 * round + 5, 2);
      // Others come between the step and whoever reads its loss.
      add(solver.mut_network().predict(samples(4 * 6, round)));
      made.push_back(solver.loss());
      train(solver, 2, 10 * round + 6);
      add(solver.network().executable().output());
      made.push_back(solver.loss());
      train(solver, 1, 10 * round + 8, 9 + static_cast<Index>(round));  // memory grows
    }
    add(weights_of(solver.network()));
    return made;
  };
  CHECK(excess_of(run(device), run("cpu:reference"), 400) <= 1);
}

TEST_CASE("tensors are copied once each way, where they are read or were written") {
  std::string const device = GENERATE(from_range(devices()));
  Net net = network_of(dense(), device);
  SharedTensor const x = noise({7, 6}, 1), dy = noise({7, 3}, 2);
  auto const copies = [](auto const& what) {
    Since const since;
    what();
    return std::pair{since().uploads, since().downloads};
  };
  using Copies = std::pair<Index, Index>;  // up and down
  auto const forward = [&] { net.forward(x); };
  auto const read = [](SharedTensor const& tensor) { return [&] { CHECK(!tensor.read().empty()); }; };
  SharedTensor const &w = net.learnable_weights_data()[0], &dw = net.learnable_weights_gradients()[0];
  forward();
  CHECK(copies(forward) == Copies{1, 0});                    // the input,
  CHECK(copies([&] { net.backward(dy); }) == Copies{1, 0});  // and the output's gradient
  CHECK(copies(read(dw)) == Copies{0, 1});
  CHECK(copies(read(dw)) == Copies{0, 0});
  CHECK(copies(read(w)) == Copies{0, 1});
  CHECK(copies([&] { net.update_weights(); }) == Copies{0, 0});  // where they are
  CHECK(copies(read(w)) == Copies{0, 1});
  CHECK(copies([&] { w.read_write()[0] = 2; }) == Copies{0, 0});
  CHECK(copies(forward).first == 2);  // the input, and the weight once
  CHECK(copies(forward) == Copies{1, 0});
}

TEST_CASE("the output of a step is brought over when it is read, once, and before it is gone") {
  std::string const device = GENERATE(from_range(devices()));
  auto const run = [&](std::string const& backend, bool late) {
    Trainer solver{network_of(dense(), backend), config_of()};
    Floats made;
    for (std::uint64_t step = 0; step < 3; ++step) {
      Index const batch = 5 + static_cast<Index>(step) / 2;
      SharedTensor const& y = solver.train_minibatch(noise({batch, 6}, step), noise({batch, 3}, step + 9));
      if (late) solver.mut_network().predict(samples(4 * 6, step));
      Floats const values = values_of(y);
      made.insert(made.end(), values.begin(), values.end());
    }
    SharedTensor const held = solver.train_minibatch(noise({5, 6}, 3), noise({5, 3}, 12));
    solver.train_minibatch(noise({2, 6}, 4), noise({2, 3}, 13));
    train(solver, 1, 5, 8);
    for (Floats const& values : {values_of(held), predicted(solver)})
      made.insert(made.end(), values.begin(), values.end());
    return made;
  };
  CHECK(excess_of(run(device, false), run("cpu:reference", false), 100) <= 1);
  CHECK(same_bits(run(device, true), run(device, false)));

  Trainer solver{network_of(dense(), device), config_of()};
  auto const steps = [&](int count) {
    for (int step = 0; step < count; ++step) solver.train_minibatch(noise({5, 6}, 1), noise({5, 3}, 2));
  };
  steps(3);
  Since const since;
  steps(10);
  CHECK(since().waits == 0);
  SharedTensor const& y = solver.train_minibatch(noise({5, 6}, 1), noise({5, 3}, 2));
  y.read(), y.read();
  CHECK(since().waits == 1);
}

TEST_CASE("a loss that is read late is the step's, whatever was evaluated in between") {
  std::string const device = GENERATE(from_range(devices()));
  SequentialConfig config;
  config.add_input("data", {6}).add_input("target", {3});
  config.add_layer(wired({"first", Linear{3}}, {"data"}, {"scores"}));
  config.add_layer(wired({"near", SquareLoss{}}, {"scores", "target"}, {"near"}));
  config.add_layer(wired({"below", Hinge{.loss_weight = 0.5f}}, {"scores", "target"}, {"below"}));
  auto const run = [&](std::string const& backend) {
    Trainer solver{network_of({"network", config}, backend), SolverConfig{.base_lr = 0.05f}};
    Floats made;
    for (std::uint64_t step = 0; step < 3; ++step) {
      Floats const x = samples(24, step), t = samples(12, step + 9), others = samples(24, 77);
      dynamic::Values const trained[] = {x, t}, evaluated[] = {others, t};
      dynamic::MeanLoss const mean = solver.train_minibatch(trained);
      solver.mut_network().executable().evaluate(evaluated);
      made.push_back(mean);
      for (auto const& [name, loss] : solver.losses()) made.push_back(loss);
      CHECK(solver.losses().size() == 2);
      CHECK(mean == solver.losses()[0].second + solver.losses()[1].second);
    }
    return made;
  };
  CHECK(excess_of(run(device), run("cpu:reference"), 100) <= 1);
}

TEST_CASE("a loss that is read late and is not finite names the step that it is of") {
  std::string const device = GENERATE(from_range(devices()));
  Trainer solver{network_of(dense(), device), config_of()};
  Floats const x = samples(12, 1), t = samples(6, 2), beyond(6, 1e30f);
  dynamic::MeanLoss const early = solver.train_minibatch(x, t);
  solver.train_minibatch(x, beyond);
  Trainer const elsewhere = std::move(solver);
  try {
    float const loss = early;
    FAIL("was read as " << loss);
  } catch (DivergenceError const& error) {
    CHECK((error.step == 2 && std::isinf(error.loss)));
  }
}

TEST_CASE("a graph that is started again has the bits of one that is new") {
  std::string const device = GENERATE(from_range(devices()));
  LayerConfig const network = dense({{"tanh", TanH{}}, {"dropout", Dropout{.probability = 0.3f}}});
  SolverConfig config = config_of();
  config.lr_policy = lr::Exp{.gamma = 0.9f};
  Trainer again{network_of(network, device), config};
  for (std::uint64_t step = 0; step < 8; ++step) {
    Trainer fresh{network_of(network, device), config};
    for (std::size_t i = 0; i < 4; ++i) {
      auto const from = again.network().learnable_weights_data()[i].read();
      auto const to = fresh.network().learnable_weights_data()[i].write_only();
      std::copy(from.begin(), from.end(), to.begin());
    }
    fresh.mut_network().executable().set_step(again.network().executable().step());
    fresh.set_progress(again.progress());
    train(again, 1, step), train(fresh, 1, step);
    CHECK(same_bits(weights_of(again.network()), weights_of(fresh.network())));
    CHECK(again.loss() == fresh.loss());
  }
}

TEST_CASE("passes of several kinds keep their graphs") {
  std::string const device = GENERATE(from_range(devices()));
  Trainer solver{network_of(dense(), device), config_of()};
  auto const round = [&](std::uint64_t seed) {
    train(solver, 2, seed), train(solver, 1, seed + 2, 2);
    solver.mut_network().predict(samples(4 * 6, seed));
    solver.mut_network().predict(samples(2 * 6, seed));
  };
  round(0), round(3);
  Since const since;
  round(6), round(9);
  CHECK(since().graphs == 0);
  CHECK(since().launches == 10);
  CHECK(since().allocations == 0);
}

TEST_CASE("backward passes read the inputs of their forward, however many there are") {
  std::string const device = GENERATE(from_range(devices()));
  auto const run = [&](std::string const& backend) {
    Net net = network_of(dense(), backend);
    Floats made;
    for (std::uint64_t round = 0; round < 3; ++round) {
      net.forward(noise({5, 6}, round));
      for (std::uint64_t time = 0; time < 4; ++time) net.backward(noise({5, 3}, 10 * round + time));
      Floats const gradients = gradients_of(net);
      made.insert(made.end(), gradients.begin(), gradients.end());
      if (round > 0) net.update_weights();  // passes of odd and of even numbers come first
      net.clear_weights_gradients();
    }
    return made;
  };
  CHECK(excess_of(run(device), run("cpu:reference"), 100) <= 1);
}

TEST_CASE("updates of large, frozen, observed and bounded parameters are the reference's") {
  std::string const device = GENERATE(from_range(devices()));
  LayerConfig const network =
      sequential({{"first", Linear{.output_size = 500, .weight = {.max_norm = {0.05f, 2}}}},
                  {"batch", BatchNormalization{}},
                  {"frozen", Linear{70}},
                  {"tanh", TanH{}},
                  {"last", Linear{.output_size = 3, .weight = {.lr_mult = 2, .decay_mult = 0}}}},
                 Shape{6});
  auto const run = [&](std::string const& backend) {
    SolverConfig config = config_of();
    config.momentum = 0.9f, config.weight_decay = 0.1f, config.clip_gradients = 0.3f;
    Trainer solver{network_of(network, backend), config};
    solver.freeze("frozen");
    train(solver, 3);
    solver.unfreeze("frozen"), solver.freeze("last");
    train(solver, 3, 3);
    return weights_of(solver.network());
  };
  CHECK(excess_of(run(device), run("cpu:reference"), 3000) <= 1);
}

TEST_CASE("the norm of gradients that are clipped has an order of its own, whatever the order of threads") {
  auto const run = [&](grid::Order order) {
    grid::order() = order;
    SolverConfig config = config_of();
    config.clip_gradients = 0.01f;
    Trainer solver{network_of(sequential({{"first", Linear{700}}, {"last", Linear{3}}}, Shape{6}), "cuda:emulated"),
                   config};
    train(solver, 3);
    Floats const made = weights_of(solver.network());
    grid::order() = grid::Order::forward;
    return made;
  };
  Floats const forward = run(grid::Order::forward);
  CHECK(same_bits(run(grid::Order::backward), forward));
  CHECK(same_bits(run(grid::Order::shuffled), forward));
}
