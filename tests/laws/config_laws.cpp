#include "laws/config_laws.hpp"

#include "../../src/dynamic/program_for.hpp"
#include "../../src/reference/runtime_reference.hpp"

#include <coldpress/dynamic/solver.hpp>
#include <coldpress/run/execute.hpp>

namespace coldpress::test {
namespace {

using namespace testing;
using dynamic::LayerConfig;
using dynamic::SequentialConfig;

template <class T>
void describe(TestedNetwork<T>& network, dynamic::Graph const& graph) {
  auto const node = [&](int number) -> Node const& { return graph.nodes[static_cast<std::size_t>(number)]; };
  network.input = node(0).shape, network.output = node(graph.outputs[0]).shape;
  auto const named = graph.weights();
  auto const owners = graph.owners();
  for (std::size_t i = 0; i < named.size(); ++i)
    network.weights.push_back({graph.parameters[static_cast<std::size_t>(owners[i])], named[i].name});
  for (Node const& any : graph.nodes) network.largest = std::max(network.largest, any.shape.size());
}

/// A network from a config in double, on the program of "cpu:reference".
class ExactConfig final : public TestedNetwork<double> {
  using Backend = dynamic::RuntimeReference<double>;

 public:
  ExactConfig(LayerConfig const& config, std::uint64_t seed)
      : graph_(config, {}),
        program_(graph_, Backend{}, {.training = true, .input_gradient = true}, seed),
        seed_(seed),
        parameters_(static_cast<std::size_t>(program_.parameter_size())),
        gradients_(parameters_.size()) {
    program_.link_training();
    describe(*this, graph_);
  }

  std::vector<double> read(std::size_t weight) const override { return read(parameters_, weight); }
  void write(std::size_t weight, std::vector<double> const& values) override {
    std::copy(values.begin(), values.end(), parameters_.begin() + slot(weight).offset);
  }
  std::vector<double> forward(std::vector<double> const&) override { return {}; }  // laws compare it in training alone
  std::vector<double> forward_training(std::vector<double> const& x, std::uint64_t step) override {
    x_ = x, step_ = step;
    auto const pass = run();
    coldpress::forward(pass);
    auto const y = pass.value(pass.program.output());
    return {y.data, y.data + y.rows * y.columns};
  }
  std::vector<double> backward(std::vector<double> const& dy) override {
    auto const pass = run();
    seed_gradient(pass, pass.program.output(), dy.data());
    coldpress::backward(pass, GradientSinks<double>{{gradients_.data()}, program_.slots()});
    Buffer const& dx = program_.plan().input_gradients[0];
    std::vector<double> result(x_.size());
    if (dx.used()) std::copy_n(pass.at(dx), x_.size(), result.begin());
    return result;
  }
  std::vector<double> gradient(std::size_t weight) const override { return read(gradients_, weight); }

 private:
  Slot const& slot(std::size_t weight) const { return program_.slot(graph_.owners()[weight]); }
  std::vector<double> read(std::vector<double> const& buffer, std::size_t weight) const {
    auto const first = buffer.begin() + slot(weight).offset;
    return {first, first + slot(weight).size};
  }
  TableRun<Backend> run() {
    auto const batch = static_cast<Index>(x_.size()) / input.size();
    auto const size = static_cast<std::size_t>(program_.scratch() + program_.plan().workspace * batch);
    if (memory_.size() < size) memory_.resize(size);
    Backend backend;
    backend.scratch = memory_.data();
    return {program_.passes(),
            backend,
            parameters_.data(),
            memory_.data() + program_.scratch(),
            {x_.data()},
            batch,
            seed_,
            step_};
  }

  dynamic::Graph graph_;
  dynamic::ProgramFor<Backend> program_;
  std::uint64_t seed_, step_ = 0;
  std::vector<double> parameters_, gradients_, memory_, x_;
};

/// A network from a config, as programs use it.
class FastConfig final : public TestedNetwork<float> {
 public:
  FastConfig(LayerConfig const& config, std::uint64_t seed)
      : layer(dynamic::Layer::from_config(dynamic::Backend::like_static(), config, {}, seed)) {
    describe(*this, dynamic::Graph{config, {}});
  }

  std::vector<float> read(std::size_t weight) const override { return read(dynamic::Executable::data, weight); }
  void write(std::size_t weight, std::vector<float> const& values) override {
    layer.executable().write(dynamic::Executable::data, static_cast<int>(weight), values);
  }
  std::vector<float> forward(std::vector<float> const& x) override { return copy_of<float>(layer.predict(x)); }
  std::vector<float> forward_training(std::vector<float> const& x, std::uint64_t step) override {
    layer.executable().set_step(step - 1);
    x_ = x;  // backward reads it again
    return copy_of<float>(layer.forward(x_));
  }
  std::vector<float> backward(std::vector<float> const& dy) override {
    auto const dx = copy_of<float>(layer.executable().backward_input(dy));
    layer.executable().backward_parameters();
    return dx;
  }
  std::vector<float> gradient(std::size_t weight) const override { return read(dynamic::Executable::gradient, weight); }

  dynamic::Layer layer;

 private:
  std::vector<float> read(int buffer, std::size_t weight) const {
    std::vector<float> values(static_cast<std::size_t>(weights[weight].parameter.shape.size()));
    layer.executable().read(buffer, static_cast<int>(weight), values);
    return values;
  }
  std::vector<float> x_;
};

Tested<double> exact_of(LayerConfig const& config, std::uint64_t seed) {
  return randomized<double>(std::make_unique<ExactConfig>(config, seed), seed);
}
Tested<float> fast_of(LayerConfig const& config, std::uint64_t seed) {
  return randomized<float>(std::make_unique<FastConfig>(config, seed), seed);
}

/// Losses and outputs of four steps, and the weights after them.
std::vector<float> trained(LayerConfig const& config, Index batch, std::uint64_t seed, bool gradients) {
  auto network = fast_of(config, seed);
  auto& fast = static_cast<FastConfig&>(*network);
  dynamic::SolverConfig const settings{
      .objective = LayerConfig{"loss", MeanSquaredError{}}, .base_lr = law_rate, .momentum = law_momentum};
  dynamic::Solver solver{std::move(fast.layer), settings};
  solver.options().keep_gradients = gradients;
  Random random{seed};
  std::vector<float> result;
  for (int step = 0; step < 4; ++step) {
    auto const x = random.values<float>(batch * fast.input.size()),
               targets = random.values<float>(batch * fast.output.size());
    result.push_back(solver.train_minibatch(x, targets));
    TestedNetwork<float>::append(result, copy_of<float>(solver.network().executable().outputs()[0]));
  }
  fast.layer = std::move(solver.mut_network());
  for (std::size_t i = 0; i < fast.weights.size(); ++i) TestedNetwork<float>::append(result, fast.read(i));
  return result;
}

LayerConfig sequential(std::vector<LayerConfig> layers, Shape const& in) {
  SequentialConfig config{.layers = std::move(layers), .inputs = {}};
  config.add_input("data", in);
  return {"network", std::move(config)};
}
LayerConfig wired(LayerConfig layer, std::vector<std::string> inputs, std::string output) {
  layer.inputs = std::move(inputs), layer.outputs = {std::move(output)};
  return layer;
}

LayerUnderTest under_test(LayerConfig const& config) {
  return {.exact = [=](std::uint64_t seed) { return exact_of(config, seed); },
          .fast = [=](std::uint64_t seed) { return fast_of(config, seed); },
          .trained = [=](Index batch, std::uint64_t seed,
                         bool gradients) { return trained(config, batch, seed, gradients); }};
}

Shape const sample{5};

/// The layer between dense ones, and the three parts of that network.
LayerUnderTest alone(dynamic::LayerType const& layer, Shape const& in) {
  LayerConfig const before{"before", Linear{in.size()}}, shape{"shape", Reshape{in}}, own{"layer", layer},
      after{"after", Linear{3}};
  LayerConfig const whole = sequential({before, shape, own, after}, sample);
  auto const out = dynamic::Graph{sequential({own}, in), {}}.nodes.back().shape;
  LayerUnderTest network = under_test(whole);
  network.fusion = [=](std::uint64_t seed) {
    return Fusion{fast_of(whole, seed),
                  {std::make_unique<FastConfig>(sequential({before, shape}, sample), seed),
                   std::make_unique<FastConfig>(sequential({own}, in), seed),
                   std::make_unique<FastConfig>(sequential({after}, out), seed)}};
  };
  return network;
}
/// A layer of several inputs, each of which is a Linear of the network's input.
LayerUnderTest joining(dynamic::LayerType const& layer, std::vector<Shape> const& shapes) {
  SequentialConfig graph;
  graph.add_input("data", sample);
  std::vector<std::string> joined;
  for (std::size_t k = 0; k < shapes.size(); ++k) {
    std::string const number = std::to_string(k);
    graph.add_layer(wired({"before-" + number, Linear{shapes[k].size()}}, {"data"}, "before-" + number));
    graph.add_layer(wired({"shape-" + number, Reshape{shapes[k]}}, {"before-" + number}, "x-" + number));
    joined.push_back("x-" + number);
  }
  graph.add_layer(wired({"layer", layer}, joined, "joined"));
  graph.add_layer(wired({"after", Linear{3}}, {"joined"}, "y"));
  return under_test({"network", graph});
}

/// What the laws need to know of the layer's type.
struct Type {
  bool one_input, pointwise;
  dynamic::LayerType (*copy)(void const* layer);
  bool (*by_sample)(void const* layer, Shapes in);
};
template <class... Types>
Type const& type_of(TypeList<Types...>, int number) {
  static constexpr Type all[] = {
      {OneInput<Types>, PointwiseLayer<Types>,
       [](void const* layer) { return dynamic::LayerType{*static_cast<Types const*>(layer)}; },
       [](void const* layer, Shapes in) { return is_by_sample(*static_cast<Types const*>(layer), in); }}...};
  return all[number];
}

}  // namespace

Violations violations_of_config(int number, void const* given, std::vector<Shape> const& shapes) {
  Violations found;
  Type const& type = type_of(BuiltinLayers::Plain{}, number);
  auto const layer = type.copy(given);
  auto const check = [&](Shape const& in, std::uint64_t seed) {
    auto network = alone(layer, in);
    network.by_sample = type.by_sample(given, {&in, 1});
    check_laws(network, law_batches(seed), seed, found);
  };
  if (!type.one_input) {
    auto network = joining(layer, shapes);
    network.by_sample = type.by_sample(given, {shapes.data(), shapes.size()});
    check_laws(network, several_inputs_batches, 400, found);
  } else if (!shapes.empty()) {
    std::uint64_t seed = 300;
    for (Shape const& in : shapes) check(in, seed += 50);
  } else {
    check({3, 5, 7}, 200), check({71}, 100);
    for (int n = 0; n < (type.pointwise ? 6 : 20); ++n) {
      auto const seed = static_cast<std::uint64_t>(n);
      gradient_law(*exact_of(sequential({{"layer", layer}}, law_shape(n)), seed), 1 + n % 4 * 2, seed, found);
    }
  }
  return found;
}

}  // namespace coldpress::test
