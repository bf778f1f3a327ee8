// Juice's solver: its vectors by hand, its options, and what it refuses.
#include "tensors.hpp"

#include <coldpress/dynamic/adapter.hpp>

#include <limits>

namespace {

using namespace coldpress;
using namespace coldpress::test;

LayerConfig const squares{"loss", MeanSquaredError{}};

Trainer make(SolverConfig config, std::uint64_t seed = 3, std::string backend = "cpu") {
  return Trainer::from_config(Backend{backend}, Backend{}, std::move(config), {}, seed);
}
SolverConfig linear_config(float rate, float momentum) {
  return {.network = sequential({{"fc", Linear{2}}}, Shape{3}),
          .objective = squares,
          .base_lr = rate,
          .momentum = momentum};
}

/// y = W x + b with squared errors in double, trained in Juice's order: clip by the norm of all gradients, divide,
/// velocity, update.
class ByHand {
 public:
  explicit ByHand(Floats const& weights) : weights_(weights.begin(), weights.end()), velocity_(weights.size()) {}

  double rate = 0.01, momentum = 0, clip = 0;
  Index minibatch = 0;
  bool divide_first = false;  // the wrong order

  void step(Floats const& x, Floats const& t) {
    std::size_t const batch = x.size() / in;
    std::vector<double> g(weights_.size());
    for (std::size_t n = 0; n < batch; ++n) {
      for (std::size_t o = 0; o < out; ++o) {
        double y = weights_[in * out + o];
        for (std::size_t i = 0; i < in; ++i) y += weights_[o * in + i] * static_cast<double>(x[n * in + i]);
        double const dy = 2 * (y - static_cast<double>(t[n * out + o]));
        for (std::size_t i = 0; i < in; ++i) g[o * in + i] += dy * static_cast<double>(x[n * in + i]);
        g[in * out + o] += dy;
      }
    }
    double const divisor = static_cast<double>(minibatch > 0 ? minibatch : static_cast<Index>(batch));
    if (divide_first) divide(g, divisor);
    double norm = 0;
    for (double v : g) norm += v * v;
    norm = std::sqrt(norm);
    if (clip > 0 && norm > clip) divide(g, norm / clip);
    if (!divide_first) divide(g, divisor);
    for (std::size_t i = 0; i < g.size(); ++i) {
      velocity_[i] = rate * g[i] + momentum * velocity_[i];
      weights_[i] -= velocity_[i];
    }
  }
  double distance(Floats const& weights) const {
    double most = weights.size() == weights_.size() ? 0 : 1e9;
    for (std::size_t i = 0; i < weights_.size(); ++i)
      most = std::max(most, std::abs(weights_[i] - static_cast<double>(weights[i])));
    return most;
  }

 private:
  static constexpr std::size_t in = 3, out = 2;
  static void divide(std::vector<double>& values, double by) {
    for (double& v : values) v /= by;
  }
  std::vector<double> weights_, velocity_;
};

void step_both(Trainer& solver, ByHand& hand, Index batch, std::uint64_t seed) {
  SharedTensor const x = noise({batch, 3}, seed), t = noise({batch, 2}, seed + 100);
  solver.train_minibatch(x, t);
  hand.step(values_of(x), values_of(t));
}

/// Everything that training changes.
struct State {
  Floats weights, velocity;
  std::uint64_t step;
  explicit State(Trainer const& solver) : weights(weights_of(solver.network())), step(solver.iteration()) {
    auto const& executable = solver.network().executable();
    for (int i = 0; i < static_cast<int>(executable.weights().size()); ++i) {
      Floats values(static_cast<std::size_t>(executable.weights()[static_cast<std::size_t>(i)].shape.size()));
      executable.read(dynamic::Executable::state, i, values);
      velocity.insert(velocity.end(), values.begin(), values.end());
    }
  }
  bool operator==(State const& other) const {
    return same_bits(weights, other.weights) && same_bits(velocity, other.velocity) && step == other.step;
  }
};

}  // namespace

TEST_CASE("plain gradient descent, and momentum, are those by hand") {
  for (std::string const backend : {"cpu", "cpu:reference"}) {
    for (float momentum : {0.0f, 0.9f}) {
      Trainer solver = make(linear_config(0.05f, momentum), 3, backend);
      ByHand hand{weights_of(solver.network())};
      hand.rate = 0.05f, hand.momentum = momentum;
      for (std::uint64_t step = 0; step < 20; ++step) step_both(solver, hand, 4, step);
      CHECK(hand.distance(weights_of(solver.network())) < 1e-5);
      CHECK(solver.iteration() == 20);
    }
  }
}

TEST_CASE("gradients are clipped by their norm first and divided afterwards") {
  SolverConfig config = linear_config(0.05f, 0.5f);
  config.clip_gradients = 1.5f;
  Trainer solver = make(config);
  ByHand hand{weights_of(solver.network())}, wrong = hand;
  for (ByHand* h : {&hand, &wrong}) h->rate = 0.05f, h->momentum = 0.5f, h->clip = 1.5f;
  wrong.divide_first = true;
  for (std::uint64_t step = 0; step < 10; ++step) {
    SharedTensor const x = noise({8, 3}, step), t = noise({8, 2}, step + 50);
    solver.train_minibatch(x, t);
    for (ByHand* h : {&hand, &wrong}) h->step(values_of(x), values_of(t));
  }
  CHECK(hand.distance(weights_of(solver.network())) < 1e-5);
  CHECK(wrong.distance(weights_of(solver.network())) > 1e-2);
}

TEST_CASE("gradients are divided by minibatch_size where it is set, else by the samples of the call") {
  for (Index minibatch : {0, 1, 4, 16}) {
    SolverConfig config = linear_config(0.01f, 0.3f);
    if (minibatch > 0) config.minibatch_size = minibatch;
    Trainer solver = make(config);
    ByHand hand{weights_of(solver.network())};
    hand.momentum = 0.3f, hand.minibatch = minibatch;
    for (Index batch : {4, 4, 4, 1})
      step_both(solver, hand, batch, static_cast<std::uint64_t>(batch));  // the last is smaller
    CHECK(hand.distance(weights_of(solver.network())) < 1e-5);
  }
}

TEST_CASE("W3: a loss's weight is a factor of its value and gradient") {
  auto const trained = [](float weight, float rate) {
    SolverConfig config = linear_config(rate, 0);
    config.objective = LayerConfig{"loss", MeanSquaredError{.loss_weight = weight}};
    Trainer solver = make(config);
    solver.train_minibatch(noise({4, 3}, 1), noise({4, solver.network().output_shape().size()}, 2));
    Floats result = values_of(solver.network().learnable_weights_data()[0]);
    result.push_back(solver.loss() / weight);
    return result;
  };
  CHECK(same_bits(trained(0.5f, 0.5f), trained(1, 0.25f)));
  CHECK_FALSE(same_bits(trained(0.5f, 0.5f), trained(1, 0.5f)));
  SolverConfig config = linear_config(0.1f, 0);
  config.objective = LayerConfig{"loss", MeanSquaredError{.loss_weight = -1}};
  CHECK(error_of<ShapeError>([&] { make(config); }).layer() == "loss");
}

TEST_CASE("options that mean nothing are refused when they are used, and another optimizer starts anew") {
  SharedTensor const x = noise({4, 3}, 1);
  auto const refused = [&](auto change) {
    Trainer solver = make(linear_config(0.1f, 0.5f));
    change(solver.options());
    error_of<ConfigError>([&] { solver.train_minibatch(x, noise({4, solver.network().output_shape().size()}, 2)); });
  };
  refused([](auto& options) { options.accumulate = 0; });
  refused([](auto& options) { options.lr_policy = lr::Step{.stepsize = 0}; });
  refused([](auto& options) { options.minibatch_size = -3; });
  refused([](auto& options) { options.clip_gradients = -1; });
  refused([](auto& options) { options.clip_values = -1; });
  refused([](auto& options) { options.momentum_policy = policy::Linear{.stepsize = 0}; });
  refused([](auto& options) { options.momentum_policy = policy::Linear{}; });  // 0.5 and more, without end
  refused([](auto& options) { options.optimizer = Adam{}, options.momentum_policy = policy::Step{}; });
  // At a rate of 0 Adam fills its states, of which the first is no sum of squares, and moves no weight.
  auto const stepped = [&](int steps, bool changes) {
    SolverConfig config = linear_config(0, 0);
    config.solver = Adam{};
    Trainer solver = make(config);
    SharedTensor const t = noise({4, solver.network().output_shape().size()}, 2);
    for (int i = 0; i < steps; ++i) solver.train_minibatch(x, t);
    CHECK((State{solver}.velocity == Floats(State{solver}.velocity.size())) == (steps == 0));
    if (changes) solver.options().optimizer = Adagrad{.learning_rate = 0.1f};
    solver.train_minibatch(x, t);
    return State{solver};
  };
  CHECK(same_bits(stepped(0, true).weights, stepped(3, true).weights));
  CHECK(same_bits(stepped(0, true).velocity, stepped(3, true).velocity));
  CHECK_FALSE(same_bits(stepped(0, false).velocity, stepped(3, false).velocity));  // the same kind goes on
}

TEST_CASE("rate, momentum and clipping may change between steps") {
  Trainer solver = make(linear_config(0.05f, 0.0f));
  ByHand hand{weights_of(solver.network())};
  hand.rate = 0.05f;
  step_both(solver, hand, 4, 1);
  std::get<Sgd>(solver.options().optimizer) = {.learning_rate = 0.02f, .momentum = 0.8f};
  hand.rate = 0.02f, hand.momentum = 0.8f;
  step_both(solver, hand, 4, 2);
  solver.options().clip_gradients = 0.5f, hand.clip = 0.5;
  step_both(solver, hand, 4, 3);
  solver.options().minibatch_size = 2, hand.minibatch = 2;
  step_both(solver, hand, 4, 4);
  solver.options().clip_gradients = 0, hand.clip = 0;
  step_both(solver, hand, 4, 5);
  CHECK(hand.distance(weights_of(solver.network())) < 1e-5);
}

TEST_CASE("a step gives the outputs before it, and their mean loss") {
  Trainer solver = make(linear_config(0.05f, 0.0f));
  Net same = Net::from_config(Backend{}, *linear_config(0, 0).network, {}, 3);
  SharedTensor const x = noise({4, 3}, 1), t = noise({4, 2}, 2);
  auto const expected = values_of(same.forward(x));
  SharedTensor const& y = solver.train_minibatch(x, t);
  CHECK(same_bits(values_of(y), expected));
  CHECK(y.shape() == std::vector<Index>{4, 2});
  double loss = 0;
  for (std::size_t i = 0; i < expected.size(); ++i)
    loss += std::pow(static_cast<double>(expected[i] - t.read()[i]), 2) / 4;
  CHECK(static_cast<double>(solver.loss()) == Approx(loss));
  CHECK(solver.train_minibatch(noise({2, 3}, 1), noise({2, 2}, 1)).shape() == std::vector<Index>{2, 2});
  float const mean = solver.train_minibatch(x.read(), t.read());
  CHECK(mean == solver.loss());
}

TEST_CASE("the outputs of a step are targets and inputs of the next one") {
  for (std::optional<Index> const microbatch : {std::optional<Index>{}, std::optional<Index>{1}}) {
    SolverConfig config = linear_config(0.1f, 0);
    config.microbatch = microbatch;
    auto const run = [&](auto keep) {
      Trainer trainer = make(config);
      auto const own = [&] { return trainer.network().executable().outputs()[0]; };
      Floats const x{1, 2, 3, 4, 5, 6}, t{1, 2, 3, 4};
      trainer.train_minibatch(x, t);
      for (int times = 0; times < 3; ++times) trainer.train_minibatch(x, keep(own()));
      CHECK(trainer.loss() > 0);
      return weights_of(trainer.network());
    };
    Floats copy;
    CHECK(same_bits(run([](auto view) { return view; }),
                    run([&](auto view) { return copy.assign(view.begin(), view.end()), dynamic::Values{copy}; })));
  }
}

TEST_CASE("weights are fresh after training, and what is written to them counts") {
  Trainer solver = make(linear_config(0.05f, 0.0f));
  auto const& bias = solver.network().learnable_weights_data()[1];
  ByHand hand{weights_of(solver.network())};
  hand.rate = 0.05f;
  step_both(solver, hand, 4, 1);
  CHECK(hand.distance(weights_of(solver.network())) < 1e-5);
  bias.read_write()[0] = 5;
  hand = ByHand{weights_of(solver.network())};
  hand.rate = 0.05f;
  step_both(solver, hand, 4, 2);
  CHECK(hand.distance(weights_of(solver.network())) < 1e-5);
  CHECK(std::abs(bias.read()[0] - 5) < 1);
  // The network is there to be used between steps; then backward comes after a forward of its own.
  SharedTensor const x = noise({4, 3}, 1), dy = noise({4, 2}, 3);
  solver.mut_network().forward(x);
  solver.train_minibatch(x, dy);
  error_of<ShapeError>([&] { solver.mut_network().backward(dy); });
}

TEST_CASE("solvers move") {
  Trainer solver = make(linear_config(0.05f, 0.9f));
  ByHand hand{weights_of(solver.network())};
  hand.rate = 0.05f, hand.momentum = 0.9f;
  auto const weights = solver.network().learnable_weights_data();
  step_both(solver, hand, 4, 1);
  Trainer moved = std::move(solver);
  error_of<UnsupportedError>([&] { solver.iteration(); });
  step_both(moved, hand, 4, 2);
  solver = std::move(moved);
  error_of<UnsupportedError>([&] { moved.iteration(); });
  error_of<UnsupportedError>([&] { moved.train_minibatch(noise({4, 3}, 1), noise({4, 2}, 3)); });
  step_both(solver, hand, 4, 3);
  CHECK(hand.distance(values_of(weights)) < 1e-5);
}

TEST_CASE("a network goes on from one solver to another, whose loss it then learns from") {
  SolverConfig const first = linear_config(0.05f, 0);
  SolverConfig second = first;
  second.objective = LayerConfig{"loss", SquareLoss{}};
  SharedTensor const x = noise({4, 3}, 1), t = noise({4, 2}, 2);
  Trainer solver = make(first);
  solver.train_minibatch(x, t);
  ByHand hand{weights_of(solver.network())};
  Trainer other{std::move(solver.mut_network()), second};
  other.train_minibatch(x, t);
  hand.rate = 0.05 / 2;  // half of the gradients
  hand.step(values_of(x), values_of(t));
  CHECK(hand.distance(weights_of(other.network())) < 1e-6);
}

TEST_CASE("two solvers of one config and seed are the same, whatever the data were before") {
  SolverConfig const config{
      .network = sequential({{"a", Linear{9}}, {"d", Dropout{}}, {"b", Linear{3}}, {"s", LogSoftmax{}}}, Shape{4}),
      .objective = LayerConfig{"nll", NegativeLogLikelihood{3}},
      .momentum = 0.9f};
  Trainer a = make(config), b = make(config), c = make(config, 4);
  for (std::uint64_t step = 0; step < 5; ++step) {
    SharedTensor const x = noise({4, 4}, step), labels = tensor({4}, {0, 1, 2, 1});
    for (Trainer* solver : {&a, &b, &c}) solver->train_minibatch(x, labels);
    error_of<DataError>([&] { b.train_minibatch(noise({64, 4}, 9), tensor({64}, Floats(64, 3.0f))); });
  }
  CHECK(State{a} == State{b});
  CHECK_FALSE(State{a} == State{c});
}

TEST_CASE("bad data change nothing") {
  auto const check = [](Trainer solver) {
    SharedTensor const x = noise({4, 4}, 1), labels = tensor({4, 1}, {0, 1, 2, 1});
    solver.train_minibatch(x, labels);
    SharedTensor const y = tensor({4, 3}, copy_of<float>(solver.network().executable().output()));
    State const before{solver};
    float const loss = solver.loss();
    float const nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
    for (float label : {3.0f, -1.0f, 0.5f, nan, infinity, -infinity, 1e30f}) {
      error_of<DataError>([&] { solver.train_minibatch(x, tensor({4}, {0, 1, 2, label})); });
    }
    error_of<DataError>([&] { solver.train_minibatch(noise({99, 4}, 1), tensor({99}, Floats(99, 7.0f))); });
    error_of<ShapeError>([&] { solver.train_minibatch(x, tensor({3}, {0, 1, 2})); });
    error_of<ShapeError>([&] { solver.train_minibatch(x, tensor({4, 3}, Floats(12))); });
    error_of<ShapeError>([&] { solver.train_minibatch(noise({4, 5}, 1), tensor({5}, Floats(5, 7.0f))); });
    error_of<ShapeError>([&] { solver.train_minibatch(noise({2, 8}, 1), labels); });
    error_of<ShapeError>([&] { solver.train_minibatch(x, tensor({1, 4}, {0, 1, 2, 1})); });
    error_of<ShapeError>([&] { solver.train_minibatch(noise({3}, 1), labels); });
    error_of<ShapeError>([&] { solver.train_minibatch(std::span<float const>{}, std::span<float const>{}); });
    CHECK(State{solver} == before);
    CHECK(solver.loss() == loss);
    CHECK(same_bits(copy_of<float>(solver.network().executable().output()), values_of(y)));
    solver.train_minibatch(x, labels);
    CHECK_FALSE(State{solver} == before);
  };
  SolverConfig const config{.network = sequential({{"a", Linear{3}}, {"s", LogSoftmax{}}}, Shape{4}),
                            .objective = LayerConfig{"nll", NegativeLogLikelihood{3}},
                            .momentum = 0.9f};
  check(make(config));
  check(make(config, 3, "cpu:reference"));
  SolverConfig clipped = config;
  clipped.clip_gradients = 0.1f;
  check(make(clipped));
  check(Trainer{Net::adapt(Network<Sequential<Linear{3}, LogSoftmax{}>, Shape{4}>{1}), clipped});
}

TEST_CASE("numbers that make no sense are named by their field") {
  float const nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  auto const refuses = [](std::string const& field, auto change) {
    SolverConfig config = linear_config(0.1f, 0);
    change(config);
    CHECK(error_of<ConfigError>([&] { make(config); }).field() == field);
    CHECK(error_of<ConfigError>([&] {
            Trainer{Net::from_config(Backend{}, *config.network), config};
          }).field() == field);
  };
  for (float value : {nan, infinity, -infinity, -0.1f}) {
    refuses("base_lr", [&](SolverConfig& config) { config.base_lr = value; });
    refuses("momentum", [&](SolverConfig& config) { config.momentum = value; });
    refuses("clip_gradients", [&](SolverConfig& config) { config.clip_gradients = value; });
  }
  refuses("clip_gradients", [](SolverConfig& config) { config.clip_gradients = 0.0f; });
  for (Index value : {Index{0}, Index{-1}, std::numeric_limits<Index>::min()}) {
    refuses("minibatch_size", [&](SolverConfig& config) { config.minibatch_size = value; });
  }
}

TEST_CASE("network and objective must be there, and fit") {
  SolverConfig config = linear_config(0.1f, 0);
  config.objective.reset();
  CHECK(says(error_of<ConfigError>([&] { make(config); }), "no objective"));
  config.objective = LayerConfig{"tanh", TanH{}};
  CHECK(says(error_of<ConfigError>([&] { make(config); }), "'tanh' is a tanh"));
  config.objective = sequential({{"relu", ReLU{}}}, Shape{3}, "container");
  CHECK(says(error_of<ConfigError>([&] { make(config); }), "'relu' is a relu"));
  config.objective = sequential({squares, squares}, Shape{3}, "container");
  CHECK(says(error_of<ConfigError>([&] { make(config); }), "one loss, at its end"));
  config.objective = sequential({{"fc", Linear{3}}, squares}, Shape{3}, "container");
  CHECK(error_of<ConfigError>([&] { make(config); }).layer() == "fc");
  config.objective = sequential({}, Shape{3}, "container");
  CHECK(says(error_of<ConfigError>([&] { make(config); }), "has no layers"));
  config.objective = LayerConfig{"nll", NegativeLogLikelihood{3}};
  CHECK(error_of<ShapeError>([&] { make(config); }).layer() == "nll");
  config = linear_config(0.1f, 0);
  config.network.reset();
  CHECK(says(error_of<ConfigError>([&] { make(config); }), "no network"));
  config.network = sequential({{"relu", ReLU{}}}, Shape{3});
  CHECK(says(error_of<ConfigError>([&] { make(config); }), "no parameters"));
  config.network = LayerConfig{"loss", MeanSquaredError{}};
  error_of<UnsupportedError>([&] { make(config); });
  config.network = sequential({{"fc", Linear{0}}}, Shape{3});
  CHECK(error_of<ShapeError>([&] { make(config); }).layer() == "fc");
  Trainer given = Trainer::from_config(Backend{}, Backend{},
                                       {.network = LayerConfig{"fc", Linear{2}}, .objective = squares}, Shape{3});
  given.train_minibatch(noise({4, 3}, 1), noise({4, 2}, 1));
}

TEST_CASE("neither samples nor losses that are not finite change anything, and both are said with their place") {
  SolverConfig const config{.network = sequential({{"a", Linear{4}}, {"r", ReLU{}}, {"b", Linear{2}}}, Shape{3}),
                            .objective = squares,
                            .momentum = 0.9f};
  SolverConfig clipped = config;
  clipped.clip_gradients = 0.1f;
  auto const check = [](Trainer solver) {
    SharedTensor const x = noise({4, 3}, 1), t = noise({4, 2}, 2);
    solver.train_minibatch(x, t);
    State const before{solver};
    float const infinity = std::numeric_limits<float>::infinity();
    auto const with = [](SharedTensor const& good, std::size_t at, float value) {
      Floats values = values_of(good);
      values[at] = value;
      return tensor(good.shape(), values);
    };
    CHECK(says(error_of<DataError>([&] { solver.train_minibatch(with(x, 7, std::nanf("")), t); }),
               "value 1 of sample 2 of input 0 is nan"));
    CHECK(says(error_of<DataError>([&] { solver.train_minibatch(x, with(t, 6, -infinity)); }),
               "value 0 of sample 3 of the targets is -inf"));
    try {
      solver.train_minibatch(x, with(t, 0, 1e30f));
      FAIL("a loss beyond all numbers was taken");
    } catch (DivergenceError const& error) {
      CHECK((error.step == 2 && error.weight.empty() && std::isinf(error.loss)));
      CHECK(says(error, "the loss of step 2 is inf; the step was not taken"));
    }
    CHECK(State{solver} == before);
    solver.train_minibatch(x, t);
    CHECK(solver.iteration() == 2);
  };
  check(make(config));
  check(make(clipped));
  check(make(config, 3, "cpu:reference"));
  check(Trainer{Net::adapt(Network<Sequential<Linear{4}, ReLU{}, Linear{2}>, Shape{3}>{1}), config});
}

TEST_CASE("weights that are not finite end training at the next check, with the name of the first") {
  SolverConfig const config{.network = sequential({{"a", Linear{4}}, {"r", ReLU{}}, {"b", Linear{2}}}, Shape{3}, "net"),
                            .objective = squares};
  auto const check = [](Trainer solver, std::string const& name) {
    solver.options().check_every = 2;
    for (std::size_t i : {0u, 1u}) {
      auto const weight = solver.network().learnable_weights_data()[i].write_only();
      std::ranges::fill(weight, -std::numeric_limits<float>::infinity());  // which ReLU turns into 0
    }
    SharedTensor const x = tensor({2, 3}, Floats(6, 1)), t = noise({2, 2}, 2);
    CHECK_NOTHROW(solver.train_minibatch(x, t));
    try {
      solver.train_minibatch(x, t);
      FAIL("a ruined weight was not found");
    } catch (DivergenceError const& error) {
      CHECK((error.step == 2 && error.weight == name && std::isfinite(error.loss)));
    }
    error_of<DivergenceError>([&] { solver.check_finite(); });
  };
  check(make(config), "a-0");
  check(make(config, 3, "cpu:reference"), "a-0");
  check(Trainer{Net::adapt(Network<Sequential<Linear{4}, ReLU{}, Linear{2}>, Shape{3}>{1}), config}, "linear1-0");
}
