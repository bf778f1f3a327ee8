#include "laws/config_networks.hpp"

#include "../../src/dynamic/program_for.hpp"
#include "../../src/reference/runtime_reference.hpp"

#include <coldpress/dynamic/solver.hpp>
#include <coldpress/run/execute.hpp>

#include <stdexcept>

namespace coldpress::test {

using namespace testing;
using dynamic::LayerConfig;
using dynamic::SequentialConfig;

namespace {

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

/// The program of "cpu:reference" in double, and its memory.
struct ExactProgram {
  using Backend = dynamic::RuntimeReference<double>;

  ExactProgram(LayerConfig const& config, PlanOptions options, std::uint64_t number)
      : graph(config, {}),
        program(graph, Backend{}, options, number),
        seed(number),
        parameters(static_cast<std::size_t>(program.parameter_size())),
        gradients(parameters.size()) {
    program.link_training();
  }
  TableRun<Backend> run(Index batch, std::array<double const*, TableProgram<Backend>::inputs_capacity> const& inputs,
                        std::uint64_t step) {
    auto const size = static_cast<std::size_t>(program.scratch() + program.plan().workspace * batch);
    if (memory.size() < size) memory.resize(size);
    Backend backend;
    backend.scratch = memory.data();
    return {program.passes(), backend, parameters.data(), memory.data() + program.scratch(), inputs, batch, seed, step};
  }
  GradientSinks<double> sinks() { return {{gradients.data()}, program.slots()}; }
  Slot const& slot(std::size_t weight) const { return program.slot(graph.owners()[weight]); }

  dynamic::Graph graph;
  dynamic::ProgramFor<Backend> program;
  std::uint64_t seed;
  std::vector<double> parameters, gradients, memory;
};

class ExactConfig final : public TestedNetwork<double> {
 public:
  ExactConfig(LayerConfig const& config, std::uint64_t seed)
      : exact_(config, {.training = true, .input_gradient = true}, seed) {
    describe(*this, exact_.graph);
  }

  std::vector<double> read(std::size_t weight) const override { return read(exact_.parameters, weight); }
  void write(std::size_t weight, std::vector<double> const& values) override {
    std::copy(values.begin(), values.end(), exact_.parameters.begin() + exact_.slot(weight).offset);
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
    coldpress::backward(pass, exact_.sinks());
    Buffer const& dx = exact_.program.plan().input_gradients[0];
    if (!dx.used()) return {};
    return {pass.at(dx), pass.at(dx) + x_.size()};
  }
  std::vector<double> gradient(std::size_t weight) const override { return read(exact_.gradients, weight); }

 private:
  std::vector<double> read(std::vector<double> const& buffer, std::size_t weight) const {
    auto const first = buffer.begin() + exact_.slot(weight).offset;
    return {first, first + exact_.slot(weight).size};
  }
  TableRun<ExactProgram::Backend> run() {
    return exact_.run(static_cast<Index>(x_.size()) / input.size(), {x_.data()}, step_);
  }

  ExactProgram exact_;
  std::uint64_t step_ = 0;
  std::vector<double> x_;
};

class ExactLosses final : public TestedLosses {
 public:
  ExactLosses(LayerConfig const& config, std::uint64_t seed)
      : exact_(config, {.training = true, .losses = true}, seed) {
    auto const node = [&](int number) -> Node const& { return exact_.graph.nodes[static_cast<std::size_t>(number)]; };
    input = node(0).shape, output = node(exact_.graph.outputs[0]).shape;
    Random random{seed + 1};
    std::size_t size = 0;
    for (std::size_t i = 0; i < exact_.graph.owners().size(); ++i) {
      auto const& parameter = exact_.graph.parameters[static_cast<std::size_t>(exact_.graph.owners()[i])];
      auto const values = random_weight<double>(random, parameter);
      std::copy(values.begin(), values.end(), exact_.parameters.begin() + exact_.slot(i).offset);
      size += values.size();
    }
    if (size != exact_.parameters.size()) throw std::logic_error{"parameters are not one after the other"};
  }
  std::span<double> parameters() override { return exact_.parameters; }
  double loss_of(std::vector<double> const& x, std::vector<double> const& targets) override {
    auto const pass = exact_.run(static_cast<Index>(x.size()) / input.size(), {x.data(), targets.data()}, 1);
    coldpress::forward(pass);
    double const loss = loss_and_gradient(pass, [](auto...) {});
    coldpress::backward(pass, exact_.sinks());
    return loss;
  }
  std::vector<double> gradients() override { return exact_.gradients; }

 private:
  ExactProgram exact_;
};

}  // namespace

LayerConfig sequential(std::vector<LayerConfig> layers, Shape const& in) {
  SequentialConfig config{.layers = std::move(layers), .inputs = {}};
  config.add_input("data", in);
  return {"network", std::move(config)};
}
LayerConfig wired(LayerConfig layer, std::vector<std::string> inputs, std::string output) {
  layer.inputs = std::move(inputs), layer.outputs = {std::move(output)};
  return layer;
}
Shape output_shape(LayerConfig const& network) { return dynamic::Graph{network, {}}.nodes.back().shape; }

Tested<double> exact_of(LayerConfig const& config, std::uint64_t seed) {
  return randomized<double>(std::make_unique<ExactConfig>(config, seed), seed);
}
std::unique_ptr<TestedLosses> exact_losses_of(LayerConfig const& config, std::uint64_t seed) {
  return std::make_unique<ExactLosses>(config, seed);
}

FastConfig::FastConfig(LayerConfig const& config, std::uint64_t seed)
    : layer(dynamic::Layer::from_config(dynamic::Backend::like_static(), config, {}, seed)) {
  describe(*this, dynamic::Graph{config, {}});
}
void FastConfig::write(std::size_t weight, std::vector<float> const& values) {
  layer.executable().write(dynamic::Executable::data, static_cast<int>(weight), values);
}
std::vector<float> FastConfig::forward(std::vector<float> const& x) { return copy_of<float>(layer.predict(x)); }
std::vector<float> FastConfig::forward_training(std::vector<float> const& x, std::uint64_t step) {
  layer.executable().set_step(step - 1);
  x_ = x;  // backward reads it again
  return copy_of<float>(layer.forward(x_));
}
std::vector<float> FastConfig::backward(std::vector<float> const& dy) {
  auto const dx = copy_of<float>(layer.executable().backward_input(dy));
  layer.executable().backward_parameters();
  return dx;
}
std::vector<float> FastConfig::read(int buffer, std::size_t weight) const {
  std::vector<float> values(static_cast<std::size_t>(weights[weight].parameter.shape.size()));
  layer.executable().read(buffer, static_cast<int>(weight), values);
  return values;
}
Tested<float> fast_of(LayerConfig const& config, std::uint64_t seed) {
  return randomized<float>(std::make_unique<FastConfig>(config, seed), seed);
}

std::vector<float> ConfigTraining::operator()(Index batch, std::uint64_t seed, bool gradients) const {
  auto const tested = fast_of(network, seed);
  auto& fast = static_cast<FastConfig&>(*tested);
  dynamic::Solver solver{std::move(fast.layer),
                         dynamic::SolverConfig{.objective = objective, .base_lr = rate, .momentum = momentum}};
  solver.options().keep_gradients = gradients;
  Random random{seed};
  std::vector<float> result;
  for (int step = 0; step < 4; ++step) {
    auto const x = random.values<float>(batch * fast.input.size());
    if (objective) {
      result.push_back(solver.train_minibatch(
          x, targets ? targets(random, batch, fast.output) : random.values<float>(batch * fast.output.size())));
    } else {
      result.push_back(solver.train_minibatch(std::array{dynamic::Values{x}}));
    }
    if (outputs) FastConfig::append(result, copy_of<float>(solver.network().executable().outputs()[0]));
  }
  fast.layer = std::move(solver.mut_network());
  for (std::size_t i = 0; i < fast.weights.size(); ++i) FastConfig::append(result, fast.read(i));
  return result;
}
std::vector<float> ConfigTraining::gradients(std::vector<float> const& x, std::vector<float> const& t,
                                             std::uint64_t seed) const {
  auto const tested = fast_of(network, seed);
  auto& fast = static_cast<FastConfig&>(*tested);
  dynamic::Solver solver{std::move(fast.layer), dynamic::SolverConfig{.objective = objective}};
  solver.options().keep_gradients = true;
  solver.train_minibatch(x, t);
  fast.layer = std::move(solver.mut_network());
  return tested->gradients();
}

}  // namespace coldpress::test
