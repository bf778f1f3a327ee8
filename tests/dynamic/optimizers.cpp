// Every optimizer and option: a network type and its config train with the same bits, and what a config says has
// effect.
#include "tensors.hpp"

#include <coldpress/coldpress.hpp>
#include <coldpress/dynamic/adapter.hpp>

#include <limits>

namespace {

using namespace coldpress;
using namespace coldpress::test;

constexpr Weight slow{.lr_mult = 0.5f, .decay_mult = 2}, frozen{.lr_mult = 0};
using Layers = Sequential<Linear{.output_size = 19, .weight = slow}, Dropout{.probability = 0.25f}, TanH{},
                          Linear{.output_size = 5, .bias = frozen}, LogSoftmax{}>;
using Classifier = Network<Layers, Shape{7}>;
constexpr NegativeLogLikelihood nll{5};
constexpr Policy rise_and_fall =
    lr::Staged{{3, lr::Warmup{.max_iter = 3}}, {4, lr::CosineRestarts{.period = 2}}, {1, lr::Exp{.gamma = 0.5f}, 0.5f}};
constexpr Policy growing =
    policy::Staged{{2, policy::Fixed{}}, {1, policy::Linear{.gamma = 0.1f, .stepsize = 2, .max = 0.8f}}};
constexpr Policy cycle = policy::OneCycle{.max_iter = 8, .start = 1.05f, .end = 1.05f};

/// The same minibatches for a static solver, the dynamic one of its config, and an adapted network.
template <auto optimizer, SolverOptions options>
void check_training() {
  Classifier net{12}, inside{12};
  Solver<Classifier, nll, optimizer, options> solver{net};
  SolverConfig const config = dynamic::to_solver_config(solver);
  auto other = Trainer::from_config(Backend::like_static(), config, {}, 12);
  Trainer adapted{Net::adapt(inside), config};
  Random random{3};
  for (int step = 0; step < 9; ++step) {
    Index const batch = step % 4 == 3 ? 1 : 16 - step;
    auto const x = random.values<float>(batch * 7);
    Floats labels;
    for (Index i = 0; i < batch; ++i) labels.push_back(static_cast<float>(random.integer(0, 4)));
    float const loss = solver.train_minibatch(x, labels);
    REQUIRE(loss == other.train_minibatch(std::span<float const>{x}, std::span<float const>{labels}));
    CHECK(adapted.train_minibatch(std::span<float const>{x}, std::span<float const>{labels}) ==
          Approx(loss).epsilon(1e-3));
    REQUIRE(solver.progress() == other.progress());
    REQUIRE(solver.progress() == adapted.progress());
  }
  for (int i = 0; i < net.weight_count; ++i) {
    Floats weight(static_cast<std::size_t>(net.weight_shape(i).size())), close = weight;
    net.read_weight(i, weight);
    CHECK(same_bits(weight, values_of(other.network().learnable_weights_data()[static_cast<std::size_t>(i)])));
    inside.read_weight(i, close);  // softmax and loss apart
    for (std::size_t e = 0; e < weight.size(); ++e) CHECK(close[e] == Approx(weight[e]).margin(2e-3));
  }
}

template <SolverOptions options>
void check_all() {
  for_each_type(BuiltinOptimizers{}, []<class Optimizer>() {
    INFO(Optimizer::name);
    check_training<Optimizer{}, options>();
  });
}

SolverConfig line(LayerConfig layer = {"fc", Linear{2}}) {
  return {.network = sequential({std::move(layer)}, Shape{3}), .objective = LayerConfig{"loss", MeanSquaredError{}}};
}
Trainer make(SolverConfig config) { return Trainer::from_config(Backend{}, std::move(config), {}, 3); }

/// Weights before and after some steps.
std::pair<Floats, Floats> trained(SolverConfig config, int steps = 1) {
  Trainer solver = make(std::move(config));
  Floats before = weights_of(solver.network());
  for (int n = 0; n < steps; ++n) solver.train_minibatch(noise({4, 3}, 1), noise({4, 2}, 2));
  return {before, weights_of(solver.network())};
}

}  // namespace

TEST_CASE("each optimizer has the same bits") { check_all<SolverOptions{}>(); }
TEST_CASE("each optimizer has the same bits with L2 and a policy") {
  check_all<SolverOptions{.weight_decay = 0.01f, .lr_policy = lr::Step{.gamma = 0.5f, .stepsize = 3}}>();
}
TEST_CASE("each optimizer has the same bits with L1, clipping and accumulation") {
  check_all<SolverOptions{.clip_gradients = 2,
                          .weight_decay = 0.01f,
                          .regularization_method = Regularization::l1,
                          .accumulate = 3,
                          .lr_policy = lr::Inv{.gamma = 0.5f, .power = 0.75f}}>();
}

TEST_CASE("each optimizer has the same bits with a list of policies and clipping by value") {
  check_all<SolverOptions{.clip_values = 0.05f, .lr_policy = rise_and_fall}>();
  check_all<SolverOptions{.clip_values = 0.05f, .weight_decay = 0.01f, .accumulate = 2, .lr_policy = rise_and_fall}>();
  check_training<Sgd{.momentum = 0.5f}, SolverOptions{.momentum_policy = growing}>();
  check_training<Nesterov{}, SolverOptions{.lr_policy = lr::OneCycle{.max_iter = 8}, .momentum_policy = cycle}>();
}

TEST_CASE("without momentum no velocity of a table is kept, in a config as in a type, and every weight is the same") {
  using Words = Network<Sequential<Embedding{.vocabulary = 9, .features = 5}, Linear{3}>, Shape{4}>;
  Words net{12};
  Solver<Words, MeanSquaredError{}, Sgd{.learning_rate = 0.05f}> solver{net};
  SolverConfig const config = dynamic::to_solver_config(solver);
  auto const made = [&] { return Trainer::from_config(Backend::like_static(), config, {}, 12); };
  Trainer other = made(), dense = made();
  dense.options().keep_gradients = true;  // all rows have a gradient, and a velocity
  Random random{3};
  for (int step = 0; step < 5; ++step) {
    if (step == 3) {  // from here on it shows what velocities there were
      solver.optimizer().momentum = 0.5f;
      for (Trainer* trainer : {&other, &dense}) std::get<Sgd>(trainer->options().optimizer).momentum = 0.5f;
    }
    Floats x, t = random.values<float>(6 * 3);
    for (Index n = 0; n < 6 * 4; ++n) x.push_back(static_cast<float>(random.integer(0, 8)));
    solver.train_minibatch(x, t);
    for (Trainer* trainer : {&other, &dense})
      trainer->train_minibatch(std::span<float const>{x}, std::span<float const>{t});
    Floats weights;
    for (int i = 0; i < net.weight_count; ++i) {
      Floats weight(static_cast<std::size_t>(net.weight_shape(i).size()));
      net.read_weight(i, weight);
      weights.insert(weights.end(), weight.begin(), weight.end());
    }
    CHECK(same_bits(weights, weights_of(other.network())));
    CHECK(same_bits(weights, weights_of(dense.network())) == (step < 3));
  }
}

TEST_CASE("W3: lr_mult and decay_mult of a WeightConfig, and weight_decay, have effect") {
  LayerConfig layer{"fc", Linear{2}};
  auto const [start, plain] = trained(line(layer));
  layer.params = {{.lr_mult = 0.0f}, {.lr_mult = 2.0f}};
  CHECK(make(line(layer)).network().learnable_weights_lr() == std::vector<std::optional<float>>{0.0f, 2.0f});
  auto const [again, scaled] = trained(line(layer));
  CHECK(same_bits(Floats(start.begin(), start.begin() + 6), Floats(scaled.begin(), scaled.begin() + 6)));
  for (std::size_t i = 6; i < 8; ++i) CHECK(scaled[i] - start[i] == Approx(2 * (plain[i] - start[i])));

  for (bool const l1 : {false, true}) {
    layer.params = {{.decay_mult = 3.0f}, {.decay_mult = 0.0f}};
    SolverConfig config = line(layer);
    config.weight_decay = 0.5f;
    if (l1) config.regularization_method = Regularization::l1;
    auto const [same, decayed] = trained(config);
    for (std::size_t i = 0; i < 8; ++i) {
      float const slope = !l1 ? start[i] : start[i] > 0 ? 1.0f : -1.0f;
      CHECK(decayed[i] == Approx(plain[i] - 0.01f * (i < 6 ? 1.5f : 0.0f) * slope).margin(1e-6));
    }
  }
  // A WeightConfig counts instead of what the layer itself says.
  layer = {"fc", Linear{.output_size = 2, .weight = {.lr_mult = 0}}};
  CHECK(make(line(layer)).network().learnable_weights_lr()[0] == 0.0f);
  layer.params = {{.lr_mult = 1.0f}};
  CHECK(trained(line(layer)).second == plain);
}

TEST_CASE("W4: gradients stay gradients") {
  Trainer solver = make(line());
  solver.options().keep_gradients = true;
  Net same = Net::from_config(Backend{}, *line().network, {}, 3);
  SharedTensor const x = noise({4, 3}, 1), t = noise({4, 2}, 2);
  for (int step = 0; step < 2; ++step) {  // of this step, not of all so far
    for (std::size_t i = 0; i < 2; ++i) {
      auto const now = values_of(solver.network().learnable_weights_data()[i]);
      std::copy(now.begin(), now.end(), same.learnable_weights_data()[i].write_only().begin());
    }
    Floats dy = values_of(same.forward(x));
    for (std::size_t i = 0; i < dy.size(); ++i) dy[i] = 2 * (dy[i] - t.read()[i]);
    same.backward(tensor({4, 2}, dy));
    solver.train_minibatch(x, t);
    auto const kept = gradients_of(solver.network()), expected = gradients_of(same);
    for (std::size_t i = 0; i < kept.size(); ++i) CHECK(kept[i] == Approx(expected[i]).epsilon(1e-5));
  }
}

TEST_CASE("gradients of the minibatches of an update are summed where they can be seen") {
  SolverConfig config = line();
  config.accumulate = 2;
  Trainer solver = make(config);
  SharedTensor const x = noise({4, 3}, 1), t = noise({4, 2}, 2);
  Floats const start = weights_of(solver.network());
  solver.train_minibatch(x, t);
  CHECK(same_bits(start, weights_of(solver.network())));
  Floats const once = gradients_of(solver.network());
  solver.train_minibatch(x, t);
  Floats const twice = gradients_of(solver.network());
  for (std::size_t i = 0; i < once.size(); ++i) CHECK(twice[i] == Approx(2 * once[i]));
  auto const plain = trained(line()).second;
  auto const now = weights_of(solver.network());
  for (std::size_t i = 0; i < plain.size(); ++i) CHECK(now[i] == Approx(plain[i]).margin(1e-6));
  CHECK(solver.iteration() == 2);
  // What waits counts, also when the next minibatch needs no other any more.
  solver.train_minibatch(x, t);
  solver.options().accumulate = 1;
  solver.train_minibatch(x, t);
  CHECK(solver.progress() == Progress{4, 0});
  auto const both = trained(line(), 2).second, after = weights_of(solver.network());
  for (std::size_t i = 0; i < both.size(); ++i) CHECK(after[i] == Approx(both[i]).margin(1e-6));
}

TEST_CASE("base_lr and momentum are those of the config's solver") {
  SolverConfig config = line();
  config.solver = Adam{.beta1 = 0.5f};
  config.base_lr = 0.25f;
  CHECK(std::get<Adam>(make(config).options().optimizer) == Adam{.learning_rate = 0.25f, .beta1 = 0.5f});
  config.solver = Nesterov{};
  config.momentum = 0.5f;
  CHECK(std::get<Nesterov>(make(config).options().optimizer) == Nesterov{.learning_rate = 0.25f, .momentum = 0.5f});
}

TEST_CASE("numbers of optimizers, policies and weights that make no sense are named by their field") {
  float const nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  auto const refuses = [](std::string const& field, auto change) {
    SolverConfig config = line();
    change(config);
    INFO(field);
    CHECK(error_of<ConfigError>([&] { make(config); }).field() == field);
  };
  for (float bad : {nan, infinity, -1.0f}) {
    refuses("solver.adam.beta1", [&](SolverConfig& c) { c.solver = Adam{.beta1 = bad}; });
    refuses("solver.adamw.beta2", [&](SolverConfig& c) { c.solver = AdamW{.beta2 = bad}; });
    refuses("solver.adamw.weight_decay", [&](SolverConfig& c) { c.solver = AdamW{.weight_decay = bad}; });
    refuses("solver.adadelta.rho", [&](SolverConfig& c) { c.solver = Adadelta{.rho = bad}; });
    refuses("solver.rmsprop.epsilon", [&](SolverConfig& c) { c.solver = RMSprop{.epsilon = bad}; });
    refuses("solver.adagrad.epsilon", [&](SolverConfig& c) { c.solver = Adagrad{.epsilon = bad}; });
    refuses("weight_decay", [&](SolverConfig& c) { c.weight_decay = bad; });
    refuses("lr_policy.step.gamma", [&](SolverConfig& c) { c.lr_policy = lr::Step{.gamma = bad}; });
    refuses("lr_policy.inv.power", [&](SolverConfig& c) { c.lr_policy = lr::Inv{.power = bad}; });
    auto const layer = [](std::optional<float> lr, std::optional<float> decay) {
      LayerConfig config{"fc", Linear{2}};
      config.params = {{}, {.lr_mult = lr, .decay_mult = decay}};
      return sequential({config}, Shape{3});
    };
    refuses("lr_mult", [&](SolverConfig& c) { c.network = layer(bad, {}); });
    refuses("decay_mult", [&](SolverConfig& c) { c.network = layer({}, bad); });
    refuses("max_norm", [&](SolverConfig& c) {
      c.network = sequential({{"fc", Linear{.output_size = 2, .weight = {.max_norm = {bad}}}}}, Shape{3});
    });
    refuses("lr_mult", [&](SolverConfig& c) {
      c.network = sequential({{"fc", Linear{.output_size = 2, .weight = {.lr_mult = bad}}}}, Shape{3});
    });
  }
  refuses("solver.adam.beta2", [](SolverConfig& c) { c.solver = Adam{.beta2 = 1}; });
  refuses("solver.adam.epsilon", [](SolverConfig& c) { c.solver = Adam{.epsilon = 0}; });
  refuses("lr_policy.sigmoid.gamma", [&](SolverConfig& c) { c.lr_policy = lr::Sigmoid{.gamma = nan}; });
  for (Index bad : {Index{0}, Index{-1}}) {
    refuses("lr_policy.step.stepsize", [&](SolverConfig& c) { c.lr_policy = lr::Step{.stepsize = bad}; });
    refuses("lr_policy.sigmoid.stepsize", [&](SolverConfig& c) { c.lr_policy = lr::Sigmoid{.stepsize = bad}; });
    refuses("lr_policy.poly.max_iter", [&](SolverConfig& c) { c.lr_policy = lr::Poly{.max_iter = bad}; });
    refuses("lr_policy.warmup.max_iter", [&](SolverConfig& c) { c.lr_policy = lr::Warmup{.max_iter = bad}; });
    refuses("lr_policy.cosine.max_iter", [&](SolverConfig& c) { c.lr_policy = lr::Cosine{.max_iter = bad}; });
    refuses("lr_policy.cosine_restarts.period",
            [&](SolverConfig& c) { c.lr_policy = lr::CosineRestarts{.period = bad}; });
    refuses("lr_policy.cosine_restarts.multiplier",
            [&](SolverConfig& c) { c.lr_policy = lr::CosineRestarts{.period = 1, .multiplier = bad}; });
    refuses("lr_policy.one_cycle.max_iter", [&](SolverConfig& c) { c.lr_policy = lr::OneCycle{.max_iter = bad}; });
    refuses("lr_policy.staged[0].iterations", [&](SolverConfig& c) {
      c.lr_policy = lr::Staged{{bad, lr::Fixed{}}, {1, lr::Exp{}}};
    });
    refuses("lr_policy.staged[1].policy.step.stepsize", [&](SolverConfig& c) {
      c.lr_policy = lr::Staged{{5, lr::Fixed{}}, {1, lr::Step{.stepsize = bad}}};
    });
    refuses("momentum_policy.linear.stepsize",
            [&](SolverConfig& c) { c.momentum_policy = policy::Linear{.stepsize = bad}; });
    refuses("accumulate", [&](SolverConfig& c) { c.accumulate = bad; });
    refuses("accumulate", [&](SolverConfig& c) { c.accumulate = (Index{1} << 20) + 1; });
    refuses("minibatch_size", [&](SolverConfig& c) { c.minibatch_size = (Index{1} << 40) + 1; });
    refuses("lr_policy.multistep.steps", [&](SolverConfig& c) { c.lr_policy = lr::Multistep{.steps = {5, bad, 7}}; });
  }
  refuses("lr_policy.multistep.steps", [](SolverConfig& c) { c.lr_policy = lr::Multistep{.steps = {}}; });
  refuses("lr_policy.multistep.steps", [](SolverConfig& c) { c.lr_policy = lr::Multistep{.steps = {5, 5}}; });
  refuses("lr_policy", [](SolverConfig& c) { c.lr_policy.stages[0].kind = static_cast<Policy::Kind>(99); });
  for (float bad : {nan, infinity, -1.0f}) {
    refuses("lr_policy.warmup.start", [&](SolverConfig& c) { c.lr_policy = lr::Warmup{.max_iter = 5, .start = bad}; });
    refuses("lr_policy.cosine.end", [&](SolverConfig& c) { c.lr_policy = lr::Cosine{.max_iter = 5, .end = bad}; });
    refuses("lr_policy.one_cycle.rise",
            [&](SolverConfig& c) { c.lr_policy = lr::OneCycle{.max_iter = 5, .rise = bad}; });
    refuses("lr_policy.linear.max", [&](SolverConfig& c) { c.lr_policy = lr::Linear{.max = bad}; });
    refuses("lr_policy.staged[0].factor", [&](SolverConfig& c) { c.lr_policy = lr::Staged{{1, lr::Fixed{}, bad}}; });
    refuses("clip_values", [&](SolverConfig& c) { c.clip_values = bad; });
  }
  refuses("clip_values", [](SolverConfig& c) { c.clip_values = 0.0f; });
  refuses("lr_policy.one_cycle.rise", [](SolverConfig& c) { c.lr_policy = lr::OneCycle{.max_iter = 5, .rise = 1.5f}; });
  Policy const four = lr::Staged{{1, lr::Fixed{}}, {1, lr::Exp{}}, {1, lr::Fixed{}}, {1, lr::Exp{}}};
  refuses("lr_policy", [&](SolverConfig& c) { c.lr_policy = lr::Staged{{9, four}, {9, four}, {9, lr::Fixed{}}}; });
  Policy const nine = lr::Multistep{.steps = {1, 2, 3, 4, 5, 6, 7, 8, 9}};
  refuses("lr_policy.steps", [&](SolverConfig& c) { c.lr_policy = lr::Staged{{10, nine}, {10, nine}}; });
  // A momentum must stay below 1, and only some optimizers have one.
  refuses("momentum_policy", [](SolverConfig& c) { c.momentum = 0.5f, c.momentum_policy = policy::Linear{}; });
  refuses("momentum_policy", [](SolverConfig& c) { c.momentum_policy = policy::Linear{.max = 1}; });
  refuses("momentum_policy", [](SolverConfig& c) { c.momentum = 0.5f, c.momentum_policy = policy::Exp{.gamma = 2}; });
  refuses("momentum_policy", [](SolverConfig& c) {
    c.momentum = 0.9f, c.momentum_policy = policy::Staged{{1, policy::Fixed{}, 1.2f}};
  });
  refuses("momentum_policy", [](SolverConfig& c) { c.solver = Adam{}, c.momentum_policy = policy::Step{}; });
  CHECK_NOTHROW([&] {
    SolverConfig c = line();
    c.momentum = 0.5f, c.momentum_policy = policy::Linear{.max = 0.9f};
    make(c);
  }());
  auto const sentence = [](auto change) {
    SolverConfig c = line();
    change(c);
    return error_of<ConfigError>([&] { make(c); }).sentence();
  };
  CHECK(sentence([](auto& c) { c.lr_policy = lr::Poly{.max_iter = -3}; }) == "must be at least 1, is -3");
  CHECK(sentence([](auto& c) { c.lr_policy = lr::Exp{.gamma = -0.5f}; }) == "must be at least 0, is -0.5");
  CHECK(sentence([](auto& c) { c.lr_policy = lr::OneCycle{.max_iter = 5, .rise = 1.5f}; }) ==
        "must be at most 1, is 1.5");
  CHECK(sentence([](auto& c) { c.momentum = 0.5f, c.momentum_policy = policy::Step{.gamma = 2, .max = 1.25f}; }) ==
        "must keep the momentum below 1, but from 0.500000 it may reach 1.250000");
  // What would be ignored is refused.
  refuses("solver", [](SolverConfig& c) { c.solver = Adam{.learning_rate = 0.5f}; });
  refuses("solver", [](SolverConfig& c) { c.solver = Sgd{.momentum = 0.5f}; });
  refuses("momentum", [](SolverConfig& c) { c.solver = Adam{}, c.momentum = 0.9f; });
}
