// What is said of single weights: regularizer, bound and initial values have the same bits as in a type, statistics
// too, and weights freeze by name.
#include "tensors.hpp"

#include <coldpress/coldpress.hpp>
#include <coldpress/dynamic/adapter.hpp>

namespace {

using namespace coldpress;
using namespace coldpress::test;

constexpr Weight first{.filler = Orthogonal{1.5f}, .regularizer = Regularizer::l1, .max_norm = {1.25f, 2}},
    filters{.filler = Orthogonal{}, .decay_mult = 2, .max_norm = {0.75f}}, bias{.max_norm = {0.01f}};
using Bounded = Network<
    Sequential<Linear{.output_size = 40, .weight = first}, BatchNormalization{}, ReLU{}, Reshape{Shape{2, 4, 5}},
               Convolution{.num_output = 17, .filter_shape = 3, .weight = filters},
               BatchNormalization{.momentum = 0.5f, .bias = {.lr_mult = 0}}, Linear{.output_size = 3, .bias = bias}>,
    Shape{7}>;

template <auto optimizer, SolverOptions options>
void check_training() {
  Bounded net{12}, inside{12};
  Solver<Bounded, MeanSquaredError{}, optimizer, options> solver{net};
  SolverConfig const config = dynamic::to_solver_config(solver);
  auto other = Trainer::from_config(Backend::like_static(), config, {}, 12);
  Trainer adapted{Net::adapt(inside), config};
  auto const each = [&](auto f) { f(solver), f(other), f(adapted); };
  Random random{3};
  for (int step = 0; step < 8; ++step) {
    if (step == 3) each([](auto& s) { s.freeze("linear1"), s.freeze("batch_normalization2-0-mean"); });
    if (step == 5) each([](auto& s) { s.unfreeze("linear1-0"), s.freeze_all(), s.unfreeze("linear2"); });
    if (step == 6) each([](auto& s) { s.unfreeze_all(); });
    Index const batch = 16 - step;
    auto const x = random.values<float>(batch * 7), t = random.values<float>(batch * 3);
    float const loss = solver.train_minibatch(x, t);
    REQUIRE(loss == other.train_minibatch(std::span<float const>{x}, std::span<float const>{t}));
    CHECK(adapted.train_minibatch(std::span<float const>{x}, std::span<float const>{t}) == Approx(loss).epsilon(1e-3));
    for (int i = 0; i < net.weight_count; ++i) {
      INFO("step " << step << ", weight " << net.weight_name(i).view());
      Floats weight(static_cast<std::size_t>(net.weight_shape(i).size())), close = weight;
      net.read_weight(i, weight), inside.read_weight(i, close);
      REQUIRE(same_bits(weight, values_of(other.network().learnable_weights_data()[static_cast<std::size_t>(i)])));
      for (std::size_t e = 0; e < weight.size(); ++e) CHECK(close[e] == Approx(weight[e]).margin(1e-3));
    }
  }
}

SolverConfig line(LayerConfig layer) {
  return {.network = sequential({std::move(layer)}, Shape{3}), .objective = LayerConfig{"loss", MeanSquaredError{}}};
}
Trainer make(LayerConfig layer) { return Trainer::from_config(Backend{}, line(std::move(layer)), {}, 3); }
void step(Trainer& solver) { solver.train_minibatch(noise({4, 3}, 1), noise({4, 2}, 2)); }
double norm(std::span<float const> values) {
  double sum = 0;
  for (float const v : values) sum += static_cast<double>(v) * static_cast<double>(v);
  return std::sqrt(sum);
}

}  // namespace

TEST_CASE("regularizers, bounds, statistics and freezing have the same bits, fused or not") {
  check_training<Sgd{.learning_rate = 0.05f, .momentum = 0.5f}, SolverOptions{.weight_decay = 0.01f}>();
  check_training<Adam{.learning_rate = 0.01f}, SolverOptions{.weight_decay = 0.01f}>();
  check_training<Sgd{.learning_rate = 0.05f}, SolverOptions{.clip_gradients = 5, .accumulate = 2}>();
}

TEST_CASE("regularizer and max_norm of a WeightConfig count instead of the layer's own") {
  LayerConfig layer{"fc", Linear{.output_size = 2, .weight = {.max_norm = {0.125f}}}};
  Trainer own = make(layer);
  step(own);
  auto const first_unit = [](Trainer const& solver) {
    return norm(solver.network().learnable_weights_data()[0].read().first(3));
  };
  CHECK(first_unit(own) == Approx(0.125));
  layer.params = {{.max_norm = MaxNorm{0.25f, 2}}};
  Trainer wished = make(layer);
  step(wished);
  CHECK(first_unit(wished) > 0.3);
  step(wished);
  CHECK(first_unit(wished) == Approx(0.25));
  layer.params = {{.max_norm = MaxNorm{}}};
  Trainer free = make(layer);
  step(free);
  CHECK(first_unit(free) > 0.3);

  auto const decayed = [](LayerConfig config, Regularization all) {
    SolverConfig solver_config = line(std::move(config));
    solver_config.weight_decay = 0.5f, solver_config.regularization_method = all;
    Trainer solver = Trainer::from_config(Backend{}, solver_config, {}, 3);
    step(solver);
    return weights_of(solver.network());
  };
  LayerConfig const plain{"fc", Linear{2}};
  LayerConfig l1{"fc", Linear{.output_size = 2, .weight = {.regularizer = Regularizer::l2}}};
  l1.params = {{.regularizer = Regularizer::l1}, {.regularizer = Regularizer::l1}};
  CHECK(decayed(l1, Regularization::l2) == decayed(plain, Regularization::l1));
  CHECK(decayed(l1, Regularization::l2) != decayed(plain, Regularization::l2));
}

TEST_CASE("what cannot be meant of a weight is refused with its layer") {
  auto const refused = [](dynamic::LayerType layer) {
    return error_of<ShapeError>([&] { Net::from_config(Backend{}, sequential({{"it", layer}}, Shape{3})); }).layer();
  };
  CHECK(refused(Linear{.output_size = 2, .bias = Orthogonal{}}) == "it");
  CHECK(refused(Rnn{.weight = Orthogonal{}}) == "it");
  CHECK(refused(Rnn{.weight = {.max_norm = {1}}}) == "it");
  LayerConfig never{"it", Linear{2}};
  never.params = {{.max_norm = MaxNorm{1, 0}}};
  Error const error = error_of<ConfigError>([&] { Net::from_config(Backend{}, never, Shape{3}); });
  CHECK((error.layer() == "it" && error.field() == "max_norm"));
}

TEST_CASE("a layer freezes by its name, by its weights', and by names that a config gives") {
  LayerConfig layer{"fc", Linear{2}};
  layer.params = {{.name = "w"}, {.name = "b"}};
  Net net = Net::from_config(Backend{}, sequential({layer}, Shape{3}));
  SharedTensor const x = noise({4, 3}, 1), dy = noise({4, 2}, 2);
  auto const updated = [&] {
    Floats const before = weights_of(net);
    net.forward(x), net.backward(dy);
    CHECK(norm(values_of(net.input_gradients()[0])) > 0);
    net.update_weights();
    Floats const after = weights_of(net);
    return std::string{before[0] == after[0] ? '0' : '1', before[6] == after[6] ? '0' : '1'};
  };
  CHECK(updated() == "11");
  net.freeze("fc");
  CHECK(updated() == "00");
  net.unfreeze("w");
  CHECK(updated() == "10");
  net.unfreeze("fc-0-bias"), net.freeze("fc-0");
  CHECK(updated() == "01");
  net.freeze_all();
  CHECK(updated() == "00");
  net.unfreeze_all();
  CHECK(updated() == "11");
  for (char const* name : {"", "network", "fc-1", "fc-0-bia"}) {
    CHECK(says(error_of<ConfigError>([&] { net.freeze(name); }), std::string{"'"} + name + "'"));
    CHECK(says(error_of<ConfigError>([&] { net.unfreeze(name); }), std::string{"'"} + name + "'"));
  }
  CHECK(updated() == "11");
}

TEST_CASE("a shared weight freezes under the names of all its layers, typed and type-less") {
  using Tied = Network<Sequential<Shared<"w", Linear{3}>{}, TanH{}, Shared<"w", Linear{3}>{}, Linear{3}>, Shape{3}>;
  auto const check = [](Net net) {
    SharedTensor const x = noise({4, 3}, 1), dy = noise({4, 3}, 2);
    auto const check_moves = [&](bool first_moves, bool last_moves) {
      Floats const before = weights_of(net);
      net.forward(x), net.backward(dy), net.update_weights();
      CHECK((weights_of(net).front() != before.front()) == first_moves);
      CHECK((weights_of(net).back() != before.back()) == last_moves);
    };
    for (char const* name : {"linear1", "linear2", "linear2-0"}) {
      net.freeze(name);
      check_moves(false, true);
      net.unfreeze(name);
      check_moves(true, true);
    }
    net.freeze("linear3");
    check_moves(true, false);
  };
  check(Net::from_config(Backend{}, dynamic::to_config(Tied{3}), {}, 3));
  check(Net::adapt(Tied{3}));
}

TEST_CASE("update_weights leaves statistics to solvers") {
  Net net = Net::from_config(Backend{}, sequential({{"bn", BatchNormalization{}}}, Shape{3}));
  SharedTensor const x = noise({4, 3}, 1, 2, 4);
  net.forward(x), net.backward(x);
  CHECK(values_of(net.learnable_weights_gradients()[2])[0] > 2);  // what was observed
  net.update_weights();
  CHECK(values_of(net.learnable_weights_data()[2]) == Floats{0, 0, 0});
  CHECK(values_of(net.learnable_weights_data()[3]) == Floats{1, 1, 1});
}
