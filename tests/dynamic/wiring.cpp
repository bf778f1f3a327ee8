// Who reads what, by name: branches, several inputs and outputs, containers in containers, in place, and where
// gradients stop. After Juice's rules (SEQUENTIAL_i, in place by equal names).
#include "tensors.hpp"

#include <coldpress/coldpress.hpp>
#include <coldpress/dynamic/adapter.hpp>
#include <coldpress/dynamic/solver.hpp>

namespace {

using namespace coldpress;
using namespace coldpress::test;
using dynamic::ShapedInput;

using Tensors = std::vector<SharedTensor>;

LayerConfig container(std::vector<LayerConfig> layers, std::vector<ShapedInput> inputs,
                      std::vector<std::string> outputs = {}, std::string name = "network") {
  LayerConfig config{std::move(name), SequentialConfig{std::move(layers), std::move(inputs)}};
  config.outputs = std::move(outputs);
  return config;
}
std::vector<Floats> values_of(std::span<SharedTensor const> tensors) {
  std::vector<Floats> all;
  for (SharedTensor const& tensor : tensors) all.push_back(test::values_of(tensor));
  return all;
}
using test::values_of;

/// Σ over outputs of dy y.
double objective(Net& net, Tensors const& inputs, Tensors const& gradients) {
  double sum = 0;
  auto const outputs = net.forward(inputs);
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    auto const y = outputs[k].read(), dy = gradients[k].read();
    for (std::size_t i = 0; i < y.size(); ++i) sum += double{y[i]} * double{dy[i]};
  }
  return sum;
}
/// Gradients of inputs and weights are those of central differences, on both backends.
void check_gradients(LayerConfig const& config, Index batch = 3) {
  for (std::string const backend : {"cpu", "cpu:reference"}) {
    Net net = Net::from_config(Backend{backend}, config, {}, 11);
    Tensors inputs, gradients;
    auto const noise_like = [&](Shape const& shape, std::uint64_t seed) { return noise({batch, shape.size()}, seed); };
    for (Shape const& shape : net.input_shapes()) inputs.push_back(noise_like(shape, inputs.size() + 1));
    for (Shape const& shape : net.output_shapes()) gradients.push_back(noise_like(shape, gradients.size() + 50));
    objective(net, inputs, gradients);
    std::vector<Floats> found = values_of(net.backward(gradients));
    Tensors variables = inputs;
    for (std::size_t w = 0; w < net.learnable_weights_data().size(); ++w) {
      variables.push_back(net.learnable_weights_data()[w]);
      found.push_back(values_of(net.learnable_weights_gradients()[w]));
    }
    for (std::size_t v = 0; v < variables.size(); ++v) {
      for (std::size_t i = 0; i < found[v].size(); ++i) {
        float const middle = variables[v].read()[i], step = 1e-2f;
        auto const at = [&](float value) {
          variables[v].read_write()[i] = value;
          return objective(net, inputs, gradients);
        };
        double const slope = (at(middle + step) - at(middle - step)) / (2 * double{step});
        at(middle);
        INFO(backend << ", variable " << v << ", value " << i);
        REQUIRE(double{found[v][i]} == Approx(slope).epsilon(0.01).margin(2e-3));
      }
    }
  }
}

LayerConfig const tanh_layer{"tanh", TanH{}}, sigmoid_layer{"sigmoid", Sigmoid{}};
LayerConfig linear(std::string name, Index size) { return {std::move(name), Linear{size}}; }

}  // namespace

TEST_CASE("a value that is read twice has the sum of both gradients") {
  check_gradients(container({wired(linear("a", 5), {"data"}, {"a"}), wired(tanh_layer, {"a"}, {"left"}),
                             wired(sigmoid_layer, {"a"}, {"right"})},
                            {{"data", {4}}}, {"left", "right"}));
  // Three readers, a chain before them, a view between, and an output that is read too.
  check_gradients(container({wired(linear("a", 6), {"data"}, {"a"}), wired(tanh_layer, {"a"}, {"t"}),
                             wired(linear("b", 3), {"t"}, {"b"}), wired({"view", Reshape{{2, 3}}}, {"t"}, {"v"}),
                             wired(linear("c", 2), {"v"}, {"c"}), wired({"soft", Softmax{}}, {"t"}, {"s"})},
                            {{"data", {4}}}, {"b", "t", "c", "s"}));
  // The network's input itself.
  check_gradients(container({wired(linear("a", 3), {"data"}, {"a"}), wired(tanh_layer, {"data"}, {"t"}),
                             wired({"log", LogSoftmax{}}, {"data"}, {"l"})},
                            {{"data", {4}}}, {"a", "t", "l"}));
}

TEST_CASE("inputs and outputs have names and an order") {
  LayerConfig const config =
      container({wired(linear("b", 2), {"second"}, {"y2"}), wired(tanh_layer, {"first"}, {"y1"})},
                {{"first", {3}}, {"second", {5}}}, {"y1", "y2"});
  Net net = Net::from_config(Backend{}, config);
  REQUIRE(net.input_shapes().size() == 2);
  CHECK(net.input_shapes()[1] == Shape{5});
  CHECK(net.output_shapes()[0] == Shape{3});
  CHECK(net.output_shapes()[1] == Shape{2});
  Tensors const inputs{noise({4, 3}, 1), noise({4, 5}, 2)};
  auto const y = net.forward(inputs);
  REQUIRE(y.size() == 2);
  CHECK(values_of(y[0])[1] == Approx(std::tanh(inputs[0].read()[1])));
  CHECK(y[1].shape() == std::vector<Index>{4, 2});
  check_gradients(config);
  // Without a name the first is what the first layer reads.
  Net plain = Net::from_config(Backend{}, container({linear("a", 3)}, {{"first", {4}}, {"second", {5}}}));
  CHECK(plain.learnable_weights_data()[0].shape() == std::vector<Index>{3, 4});
  // As many as there are, and samples in step.
  error_of<ShapeError>([&] { net.forward(inputs[0]); });
  error_of<ShapeError>([&] { net.forward({inputs[0], noise({3, 5}, 2)}); });
  dynamic::Values const first[] = {inputs[0].read(), {}};
  error_of<ShapeError>([&] { net.executable().forward(first, Mode::inference); });
  net.forward(inputs);
  error_of<ShapeError>([&] { net.backward(inputs[0]); });
}

TEST_CASE("a branch that no output depends on is not computed, and passes no gradient back") {
  LayerConfig const config =
      container({wired(linear("a", 5), {"data"}, {"a"}), wired({"dead", Softmax{}}, {"a"}, {"dead"}),
                 wired(linear("b", 2), {"a"}, {"b"})},
                {{"data", {4}}}, {"b"});
  Net net = Net::from_config(Backend{}, config, {}, 1);
  Net without = Net::from_config(Backend{}, sequential({linear("a", 5), linear("b", 2)}, Shape{4}), {}, 1);
  SharedTensor const x = noise({3, 4}, 1), dy = noise({3, 2}, 2);
  CHECK(same_bits(values_of(net.forward(x)), values_of(without.forward(x))));
  CHECK(same_bits(values_of(net.backward(dy)), values_of(without.backward(dy))));
}

TEST_CASE("values without a name have Juice's") {
  // 0: softmax, 1: in place on it, 2: softmax, 3: last.
  LayerConfig const a{"a", Softmax{}}, b{"b", LogSoftmax{}};
  auto const reads = [&](std::string const& name) {
    return container({a, tanh_layer, b, wired(linear("c", 4), {name}, {})}, {{"data", {4}}});
  };
  auto const of = [](LayerConfig const& config) {
    Net net = Net::from_config(Backend{}, config, {}, 1);
    return values_of(net.forward(noise({2, 4}, 1)));
  };
  Floats const from_data = of(container({a, tanh_layer, b, wired(linear("c", 4), {"data"}, {})}, {{"data", {4}}})),
               chain = of(reads("SEQUENTIAL_2"));
  CHECK(same_bits(chain, of(container({a, tanh_layer, b, linear("c", 4)}, {{"data", {4}}}))));
  CHECK(same_bits(
      of(reads("SEQUENTIAL_0")),
      of(container({a, wired(tanh_layer, {}, {"t"}), b, wired(linear("c", 4), {"t"}, {})}, {{"data", {4}}}))));
  CHECK_FALSE(same_bits(from_data, chain));
  // A layer that draws random numbers has a value of its own, and what it reads keeps its name.
  auto const behind_mask = [&](std::string const& name) {
    return container({a, {"drop", Dropout{.probability = 0.75f}}, b, wired(linear("c", 4), {name}, {})},
                     {{"data", {4}}});
  };
  CHECK_FALSE(same_bits(of(behind_mask("SEQUENTIAL_0")), of(behind_mask("SEQUENTIAL_1"))));
  CHECK(same_bits(of(behind_mask("SEQUENTIAL_0")), of(container({a, wired(linear("c", 4), {}, {})}, {{"data", {4}}}))));
  error_of<ConfigError>([&] { of(reads("SEQUENTIAL_1")); });
  error_of<ConfigError>([&] { of(reads("SEQUENTIAL_OUTPUT_3")); });
}

TEST_CASE("W8: a layer in place may come first, last and anywhere") {
  LayerConfig const first = container({wired(tanh_layer, {"data"}, {"data"}), wired(linear("a", 3), {"data"}, {"y"}),
                                       wired(sigmoid_layer, {"y"}, {"y"})},
                                      {{"data", {4}}}, {"y"});
  Net net = Net::from_config(Backend{}, first, {}, 1);
  SharedTensor const x = noise({2, 4}, 1);
  Floats const before = values_of(x);
  CHECK(same_bits(
      values_of(net.forward(x)),
      values_of(Net::from_config(Backend{}, sequential({tanh_layer, linear("a", 3), sigmoid_layer}, Shape{4}), {}, 1)
                    .forward(x))));
  CHECK(same_bits(values_of(x), before));  // the caller's own values are not written over
  check_gradients(first);
  // Who reads the name later reads what was made in place.
  check_gradients(container({wired(linear("a", 3), {"data"}, {"v"}), wired(tanh_layer, {"v"}, {"v"}),
                             wired(linear("b", 2), {"v"}, {"b"}), wired(linear("c", 2), {"v"}, {"c"})},
                            {{"data", {4}}}, {"b", "c"}));
}

TEST_CASE("W6, W7: containers in containers, with several inputs and outputs") {
  LayerConfig inner = container(
      {wired(linear("a", 3), {"p"}, {"pa"}), wired(linear("b", 2), {"q"}, {"qb"}), wired(tanh_layer, {"pa"}, {"pt"})},
      {{"p", {4}}, {"q", {2, 3}}}, {"qb", "pt"}, "inner");
  inner.inputs = {"first", "second"};
  LayerConfig const outer =
      container({inner, wired(linear("c", 5), {"pt"}, {"c"}), wired(sigmoid_layer, {"qb"}, {"s"})},
                {{"first", {4}}, {"second", {6}}}, {"c", "s"});
  check_gradients(outer);
  LayerConfig const flat = container(
      {wired(linear("a", 3), {"first"}, {"pa"}), wired(linear("b", 2), {"second"}, {"qb"}),
       wired(tanh_layer, {"pa"}, {"pt"}), wired(linear("c", 5), {"pt"}, {"c"}), wired(sigmoid_layer, {"qb"}, {"s"})},
      {{"first", {4}}, {"second", {6}}}, {"c", "s"});
  Tensors const x{noise({2, 4}, 1), noise({2, 6}, 2)};
  CHECK(values_of(Net::from_config(Backend{}, outer, {}, 1).forward(x)) ==
        values_of(Net::from_config(Backend{}, flat, {}, 1).forward(x)));
  // Without names the container reads what the layer before makes, and the layer after it what its last one makes.
  LayerConfig const plain =
      sequential({linear("a", 3), sequential({tanh_layer, sequential({linear("b", 4)}, Shape{3}, "deep")}, {}, "mid"),
                  sigmoid_layer},
                 Shape{4});
  check_gradients(plain);
}

TEST_CASE("propagate_down stops the gradient at that input, and what is before it does not learn") {
  auto const network = [](bool down) {
    LayerConfig stop = wired(linear("b", 3), {"a"}, {"b"});
    stop.propagate_down = {down};
    return container({wired(linear("a", 5), {"data"}, {"a"}), stop, wired(linear("c", 3), {"a"}, {"c"})},
                     {{"data", {4}}}, {"b", "c"});
  };
  SharedTensor const x = noise({2, 4}, 1);
  Tensors const dy{noise({2, 3}, 2), noise({2, 3}, 3)}, none{tensor({2, 3}, Floats(6)), dy[1]};
  Net stopped = Net::from_config(Backend{}, network(false), {}, 1),
      open = Net::from_config(Backend{}, network(true), {}, 1);
  stopped.forward(x), open.forward(x);
  Floats const dx = values_of(stopped.backward(dy)[0]);
  CHECK_FALSE(same_bits(dx, values_of(open.backward(dy)[0])));
  Floats const own = values_of(stopped.learnable_weights_gradients()[2]);
  CHECK(same_bits(own, values_of(open.learnable_weights_gradients()[2])));  // its own weights learn
  open.forward(x);
  CHECK(same_bits(dx, values_of(open.backward(none)[0])));  // as if b had passed nothing back

  // Of a join each operand for itself.
  for (std::size_t const shut : {0u, 1u}) {
    LayerConfig sum = wired({"sum", Multiply{}}, {"a", "b"}, {"s"});
    sum.propagate_down = {shut != 0, shut != 1};
    Net net = Net::from_config(
        Backend{}, container({wired(linear("a", 3), {"data"}, {"a"}), wired(linear("b", 3), {"data"}, {"b"}), sum},
                             {{"data", {4}}}, {"s"}));
    net.forward(x);
    net.backward(dy[1]);
    for (std::size_t const operand : {0u, 1u}) {
      Floats const gradients = values_of(net.learnable_weights_gradients()[2 * operand]);
      CHECK((gradients == Floats(gradients.size())) == (operand == shut));
    }
  }

  // Alone in a chain: nothing before it learns, in a solver either, whether its update is fused or not.
  LayerConfig last = linear("b", 3);
  last.propagate_down = {false};
  for (std::optional<float> clip : {std::optional<float>{}, std::optional<float>{100}}) {
    dynamic::Solver solver =
        dynamic::Solver::from_config(Backend{}, {.network = sequential({linear("a", 5), tanh_layer, last}, Shape{4}),
                                                 .objective = LayerConfig{"loss", MeanSquaredError{}},
                                                 .momentum = 0.5f,
                                                 .clip_gradients = clip});
    auto const& weights = solver.network().learnable_weights_data();
    Floats const a = values_of(weights[0]), b = values_of(weights[2]);
    for (std::uint64_t step = 0; step < 3; ++step) solver.train_minibatch(noise({2, 4}, step), noise({2, 3}, step + 9));
    CHECK(same_bits(a, values_of(weights[0])));
    CHECK_FALSE(same_bits(b, values_of(weights[2])));
  }
  // A view passes the stop on; a container has one for each input.
  LayerConfig view{"view", Flatten{}};
  view.propagate_down = {false};
  LayerConfig inner = sequential({linear("b", 3)}, Shape{5}, "inner");
  LayerConfig deep = inner;
  deep.propagate_down = {true};
  LayerConfig around = sequential({deep}, Shape{5}, "around");
  inner.propagate_down = around.propagate_down = {false};
  for (LayerConfig const& config :
       {sequential({linear("a", 5), view, linear("b", 3)}, Shape{4}), sequential({linear("a", 5), inner}, Shape{4}),
        sequential({linear("a", 5), around}, Shape{4})}) {
    Net net = Net::from_config(Backend{}, config);
    net.forward(x);
    for (float const g : values_of(net.backward(dy[0]))) CHECK(g == 0);
    for (float const g : values_of(net.learnable_weights_gradients()[0])) CHECK(g == 0);
    CHECK(std::abs(values_of(net.learnable_weights_gradients()[2])[0]) > 0);
  }
}

TEST_CASE("inputs that no gradient reaches have zeros, as many as they have values") {
  auto const stop = [](std::string name, std::string input) {
    LayerConfig layer = wired({name, TanH{}}, {std::move(input)}, {name});
    layer.propagate_down = {false};
    return layer;
  };
  LayerConfig const config = container({stop("a", "large"), stop("b", "small"), wired(linear("c", 2), {"b"}, {"c"})},
                                       {{"large", {4096}}, {"small", {3}}}, {"a", "c"});
  Net net = Net::from_config(Backend{}, config);
  Tensors const x{noise({64, 4096}, 1), noise({64, 3}, 2)}, dy{noise({64, 4096}, 3), noise({64, 2}, 4)};
  net.forward(x);
  auto const dx = net.backward(dy);
  REQUIRE(dx.size() == 2);
  CHECK(values_of(dx[0]) == Floats(64 * 4096));
  CHECK(values_of(dx[1]) == Floats(64 * 3));
}

TEST_CASE("force_backward computes the input's gradient in a training step too") {
  LayerConfig config = sequential({linear("a", 5), tanh_layer, linear("b", 3)}, Shape{4});
  auto const solver_of = [&](bool force) {
    std::get<SequentialConfig>(config.layer_type).force_backward = force;
    return dynamic::Solver::from_config(Backend{},
                                        {.network = config, .objective = LayerConfig{"loss", MeanSquaredError{}}});
  };
  SharedTensor const x = noise({2, 4}, 1), t = noise({2, 3}, 2);
  Net net = Net::from_config(Backend{}, config), loss = Net::from_config(Backend{}, {"loss", MeanSquaredError{}});
  loss.forward({net.forward(x), t});
  Floats const wanted = values_of(net.backward(loss.backward()[0]));
  dynamic::Solver forced = solver_of(true), plain = solver_of(false);
  forced.train_minibatch(x, t), plain.train_minibatch(x, t);
  REQUIRE(forced.network().input_gradients().size() == 1);
  CHECK(values_of(forced.network().input_gradients()[0]) == wanted);
  CHECK(plain.network().input_gradients().empty());
  CHECK(same_bits(values_of(forced.network().learnable_weights_data()[0]),
                  values_of(plain.network().learnable_weights_data()[0])));
}

TEST_CASE("an objective may be a container with the network's output and the targets as inputs, as Juice's examples") {
  auto const objective = [](std::vector<LayerConfig> layers) {
    return container(std::move(layers), {{"network_out", {3}}, {"label", {1}}}, {}, "classifier");
  };
  LayerConfig const nll{"nll", NegativeLogLikelihood{3}}, log_softmax{"log_softmax", LogSoftmax{}};
  auto const network = [&](bool whole) {
    std::vector<LayerConfig> layers{linear("a", 5), tanh_layer, linear("b", 3)};
    if (whole) layers.push_back(log_softmax);
    return sequential(layers, Shape{4});
  };
  auto const trained = [&](LayerConfig const& net, LayerConfig const& goal, bool adapted) {
    dynamic::SolverConfig const config{.network = net, .objective = goal, .momentum = 0.9f};
    Network<Sequential<Named<"a", Linear{5}>{}, TanH{}, Named<"b", Linear{3}>{}>, Shape{4}> fixed{0};
    dynamic::Solver solver = adapted ? dynamic::Solver{Net::adapt(fixed), config}
                                     : dynamic::Solver::from_config(Backend::like_static(), config);
    Floats losses;
    for (std::uint64_t step = 0; step < 5; ++step) {
      solver.train_minibatch(noise({6, 4}, step), tensor({6, 1}, {0, 1, 2, 2, 1, 0}));
      losses.push_back(solver.loss());
    }
    Floats all = values_of(solver.network().learnable_weights_data()[0]);
    all.insert(all.end(), losses.begin(), losses.end());
    return all;
  };
  Floats const plain = trained(network(true), nll, false);
  CHECK(same_bits(plain, trained(network(true), objective({nll}), false)));
  CHECK(same_bits(plain, trained(network(false), objective({log_softmax, nll}), false)));
  CHECK(same_bits(plain,
                  trained(network(false), objective({log_softmax, wired(nll, {"SEQUENTIAL_0", "label"}, {})}), false)));
  Floats const adapted = trained(network(false), objective({log_softmax, nll}), true);
  for (std::size_t i = 0; i < plain.size(); ++i) CHECK(adapted[i] == Approx(plain[i]).epsilon(1e-4).margin(1e-6));

  for (std::size_t wrong : {std::size_t{0}, std::size_t{1}}) {
    LayerConfig goal = objective({log_softmax, nll});
    for (Index const size : {7, 2}) {
      std::get<SequentialConfig>(goal.layer_type).inputs[wrong].shape = {size};
      CHECK(error_of<ShapeError>([&] { trained(network(false), goal, false); }).layer() == "classifier");
    }
  }

  LayerConfig more = objective({log_softmax, nll});
  std::get<SequentialConfig>(more.layer_type).add_input("weights", Shape{1});
  CHECK(says(error_of<ConfigError>([&] { trained(network(false), more, false); }), "an objective has two inputs"));

  // As a layer of its own: predictions and labels in, the loss out; back comes the gradient of the predictions.
  Net layer = Net::from_config(Backend{}, objective({log_softmax, nll}));
  SharedTensor const y = noise({2, 3}, 1), label = tensor({2, 1}, {2, 0});
  double wanted = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    double sum = 0;
    for (std::size_t c = 0; c < 3; ++c) sum += std::exp(double{y.read()[i * 3 + c]});
    wanted -= double{y.read()[i * 3 + (i == 0 ? 2 : 0)]} - std::log(sum);
  }
  CHECK(values_of(layer.forward({y, label})[0])[0] == Approx(wanted / 2));
  Floats const dy = values_of(layer.backward()[0]);
  CHECK(dy[0] + dy[1] + dy[2] == Approx(0).margin(1e-6));
  CHECK(dy[2] < 0);
  error_of<DataError>([&] { layer.forward({y, tensor({2, 1}, {3, 0})}); });
  error_of<ShapeError>([&] { layer.forward({y, tensor({3, 1}, {1, 0, 0})}); });
}
