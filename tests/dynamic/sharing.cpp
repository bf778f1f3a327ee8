// W1: weights of one name are one weight: one value, one update, the sum of all gradients. Typed and type-less alike.
#include "tensors.hpp"

#include <coldpress/coldpress.hpp>
#include <coldpress/dynamic/adapter.hpp>
#include <coldpress/dynamic/solver.hpp>
#include <coldpress/dynamic/to_config.hpp>

namespace {

using namespace coldpress;
using namespace coldpress::test;
using dynamic::DimCheckMode;
using dynamic::WeightConfig;

LayerConfig named(std::string name, dynamic::LayerType type, std::vector<WeightConfig> params) {
  LayerConfig config{std::move(name), std::move(type)};
  config.params = std::move(params);
  return config;
}
/// Three times the same step.
LayerConfig recurrent(std::vector<WeightConfig> params, Index last = 5) {
  return sequential({named("a", Linear{5}, params),
                     {"t1", TanH{}},
                     named("b", Linear{5}, params),
                     {"t2", TanH{}},
                     named("c", Linear{last}, params)},
                    Shape{5});
}
using Twice =
    Network<Sequential<Shared<"step", Linear{5}>{}, TanH{}, Shared<"step", Linear{5}>{}, Linear{2}>, Shape{5}>;

}  // namespace

TEST_CASE("W1: shared weights are there once, and their gradient is the sum over the layers") {
  for (std::string const backend : {"cpu", "cpu:reference"}) {
    Net shared = Net::from_config(Backend{backend}, recurrent({{.name = "w"}}), {}, 3);
    Net apart = Net::from_config(Backend{backend}, recurrent({}), {}, 3);
    CHECK(shared.learnable_weights_names() == std::vector<std::string>{"a-0", "a-0-bias"});
    for (std::size_t i = 0; i < 6; ++i) {
      auto const from = shared.learnable_weights_data()[i % 2].read();
      std::copy(from.begin(), from.end(), apart.learnable_weights_data()[i].write_only().begin());
    }
    SharedTensor const x = noise({3, 5}, 1), dy = noise({3, 5}, 2);
    CHECK(same_bits(values_of(shared.forward(x)), values_of(apart.forward(x))));
    CHECK(same_bits(values_of(shared.backward(dy)), values_of(apart.backward(dy))));
    for (std::size_t i = 0; i < 2; ++i) {
      Floats const sum = values_of(shared.learnable_weights_gradients()[i]);
      auto const part = [&](std::size_t n) { return values_of(apart.learnable_weights_gradients()[2 * n + i]); };
      Floats const a = part(0), b = part(1), c = part(2);
      for (std::size_t e = 0; e < sum.size(); ++e)
        CHECK(sum[e] == Approx(a[e] + b[e] + c[e]).epsilon(1e-5).margin(1e-6));
    }
  }
}

TEST_CASE("weights have names of their own, and those of a layer's first name") {
  // One name for both, as in Juice; or one for each; or only the bias is shared.
  auto const names = [](std::vector<WeightConfig> const& params) {
    return Net::from_config(Backend{}, recurrent(params)).learnable_weights_names();
  };
  std::vector<std::string> const once{"a-0", "a-0-bias"}, bias_once{"a-0", "a-0-bias", "b-0", "c-0"};
  CHECK(names({{.name = "w"}}) == once);
  CHECK(names({{.name = "w"}, {.name = "v"}}) == once);
  CHECK(names({{}, {.name = "v"}}) == bias_once);
}

TEST_CASE("strict sharing wants one shape, permissive as many values") {
  auto const refused = [](LayerConfig const& config, std::string const& layer) {
    Error const error = error_of<ShapeError>([&] { Net::from_config(Backend{"cpu:reference"}, config); });
    CHECK(error.layer() == layer);
    CHECK(says(error, "shared"));
  };
  refused(recurrent({{.name = "w"}}, 4), "c");
  refused(recurrent({{.name = "w", .share_mode = DimCheckMode::permissive}}, 4), "c");
  auto const pair = [](DimCheckMode mode) {  // {6, 4} and {8, 3}
    WeightConfig const weight{.name = "w", .share_mode = mode};
    return sequential({named("a", Linear{6}, {weight, {.name = "x"}}), named("n", Linear{3}, {}),
                       named("b", Linear{8}, {weight, {.name = "y"}})},
                      Shape{4});
  };
  refused(pair(DimCheckMode::strict), "b");
  Net net = Net::from_config(Backend{"cpu:reference"}, pair(DimCheckMode::permissive));
  CHECK(net.learnable_weights_names().size() == 5);
  // The fast backend keeps matrices of different shapes in different orders, and says so.
  Error const error = error_of<ShapeError>([&] { Net::from_config(Backend{"cpu"}, pair(DimCheckMode::permissive)); });
  CHECK(error.layer() == "b");
  CHECK(error.sentence() ==
        "weight 'w' {8, 3} is shared with that of layer 'a' {6, 4}, but this backend keeps the values of the two in "
        "different orders; cpu:reference keeps them in one");
}

TEST_CASE("recurrent weights of different kinds are not shared, however many they are") {
  // Both have 1344 values, in other orders.
  WeightConfig const weight{.name = "w"};
  auto const config = [&](RnnType second) {
    return sequential({named("a", Rnn{.hidden_size = 32, .rnn_type = RnnType::tanh}, {weight}),
                       named("n", Linear{8}, {}), named("b", Rnn{.hidden_size = 8, .rnn_type = second}, {weight})},
                      Shape{2, 8});
  };
  Error const error = error_of<ShapeError>([&] { Net::from_config(Backend{}, config(RnnType::lstm)); });
  CHECK(error.layer() == "b");
}

TEST_CASE("a layer that shares a weight cannot set its filler and factors") {
  auto const config = [](WeightConfig const& second) {
    return sequential({named("a", Linear{5}, {{.name = "w", .lr_mult = 0.5f}}), named("b", Linear{5}, {second})},
                      Shape{5});
  };
  Net::from_config(Backend{}, config({.name = "w"}));
  Net::from_config(Backend{}, config({.name = "w", .lr_mult = 0.5f}));
  for (WeightConfig const& second :
       {WeightConfig{.name = "w", .lr_mult = 0.0f}, WeightConfig{.name = "w", .decay_mult = 2.0f},
        WeightConfig{.name = "w", .filler = Constant{3}}, WeightConfig{.name = "w", .regularizer = Regularizer::l1},
        WeightConfig{.name = "w", .max_norm = MaxNorm{1}}})
    CHECK(error_of<ConfigError>([&] { Net::from_config(Backend{}, config(second)); }).layer() == "b");
}

TEST_CASE("a shared weight is updated once, typed and type-less, with the same bits") {
  Twice net{4};
  CHECK(Twice::weight_count == 4);
  LayerConfig const config = dynamic::to_config(net);
  Net built = Net::from_config(Backend::like_static(), config, {}, 4);
  CHECK(built.learnable_weights_names() ==
        std::vector<std::string>{"linear1-0", "linear1-0-bias", "linear3-0", "linear3-0-bias"});
  Solver<Twice, MeanSquaredError{}, Sgd{.learning_rate = 0.05f, .momentum = 0.9f}> solver{net};
  static_assert(!decltype(solver)::fused);
  dynamic::Solver other{std::move(built), dynamic::to_solver_config(solver)};
  Twice by_hand{4};
  Random random{1};
  for (int step = 0; step < 4; ++step) {
    Floats const x = random.values<float>(3 * 5), t = random.values<float>(3 * 2);
    if (step == 0) {  // w - learning_rate * gradient / batch
      Twice::TrainingWorkspace workspace;
      Floats const y = copy_of<float>(by_hand.forward_training(x, workspace));
      Floats dy;
      for (std::size_t i = 0; i < y.size(); ++i) dy.push_back(2 * (y[i] - t[i]));
      by_hand.backward(dy, workspace);
      for (Index i = 0; i < Twice::parameter_size; ++i) {
        auto const at = static_cast<std::size_t>(i);
        by_hand.parameters()[at] -= 0.05f / 3 * workspace.gradients()[at];
      }
    }
    REQUIRE(solver.train_minibatch(x, t) == other.train_minibatch(x, t));
    if (step == 0) {
      for (std::size_t i = 0; i < by_hand.parameters().size(); ++i)
        REQUIRE(net.parameters()[i] == Approx(by_hand.parameters()[i]).epsilon(1e-5).margin(1e-7));
    }
  }
  for (int i = 0; i < Twice::weight_count; ++i) {
    Floats ours(static_cast<std::size_t>(Twice::weight_shape(i).size()));
    net.read_weight(i, ours);
    CHECK(same_bits(ours, values_of(other.network().learnable_weights_data()[static_cast<std::size_t>(i)])));
  }
  CHECK_FALSE(dynamic::same_network(
      config, dynamic::to_config<Sequential<Linear{5}, TanH{}, Linear{5}, Linear{2}>, Shape{5}>()));
}

TEST_CASE("a factor of zero freezes a shared weight, and what no gradient reaches stays") {
  LayerConfig config = recurrent({{.name = "w", .lr_mult = 0.0f}});
  std::get<dynamic::SequentialConfig>(config.layer_type).layers.push_back({"d", Linear{2}});
  dynamic::Solver solver = dynamic::Solver::from_config(
      Backend{}, {.network = config, .objective = LayerConfig{"loss", MeanSquaredError{}}});
  Floats const before = values_of(solver.network().learnable_weights_data()[0]),
               after = values_of(solver.network().learnable_weights_data()[2]);
  solver.train_minibatch(noise({2, 5}, 1), noise({2, 2}, 2));
  CHECK(same_bits(before, values_of(solver.network().learnable_weights_data()[0])));
  CHECK_FALSE(same_bits(after, values_of(solver.network().learnable_weights_data()[2])));
  LayerConfig stop{"end", TanH{}};
  stop.propagate_down = {false};
  dynamic::Solver idle =
      dynamic::Solver::from_config(Backend{}, {.network = sequential({{"a", Linear{2}}, stop}, Shape{2}),
                                               .objective = LayerConfig{"loss", MeanSquaredError{}}});
  CHECK(says(error_of<ConfigError>([&] {
               idle.train_minibatch(noise({2, 2}, 1), noise({2, 2}, 2));
             }),
             "no gradient reaches"));
}

TEST_CASE("of shared statistics only the uses that a gradient reaches observe") {
  LayerConfig last = named("b", BatchNormalization{}, {{.name = "n"}});
  last.propagate_down = {false};
  LayerConfig const config = sequential({named("a", BatchNormalization{}, {{.name = "n"}}), last}, Shape{3});
  for (char const* backend : {"cpu", "cpu:reference"}) {
    INFO(backend);
    dynamic::Solver solver = dynamic::Solver::from_config(
        Backend{backend}, {.network = config, .objective = LayerConfig{"loss", MeanSquaredError{}}, .base_lr = 0});
    Floats const bias{1, -2, 3};  // the mean of what the first makes
    std::ranges::copy(bias, solver.network().learnable_weights_data()[1].write_only().begin());
    solver.train_minibatch(noise({6, 3}, 1, 2, 4), noise({6, 3}, 2));
    Floats const mean = values_of(solver.network().learnable_weights_data()[2]);
    for (std::size_t c = 0; c < 3; ++c) CHECK(mean[c] == Approx(0.1f * bias[c]).epsilon(1e-4));
  }
}
