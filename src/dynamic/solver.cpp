#include <coldpress/dynamic/solver.hpp>

#include "objective.hpp"

#include <coldpress/graph/node.hpp>

#include <array>
#include <cmath>

namespace coldpress::dynamic {
namespace {

Objective objective_of(SolverConfig const& config) {
  if (!config.objective) throw ConfigError{"solver: the config has no objective"};
  return objective_of(*config.objective);
}

TrainingOptions options_of(SolverConfig const& config) {
  auto const check = [](bool holds, char const* field, char const* sentence) {
    if (holds) return;
    ConfigError error{sentence};
    error.in_field(field);
    throw error;
  };
  check(std::isfinite(config.base_lr) && config.base_lr >= 0, "base_lr", "must be a finite number of at least 0");
  check(std::isfinite(config.momentum) && config.momentum >= 0 && config.momentum < 1, "momentum",
        "must be at least 0 and below 1");
  check(!config.minibatch_size || *config.minibatch_size > 0, "minibatch_size", "must be at least 1");
  check(!config.clip_gradients || (std::isfinite(*config.clip_gradients) && *config.clip_gradients > 0),
        "clip_gradients", "must be a finite number above 0");
  return {.optimizer = Sgd{.learning_rate = config.base_lr, .momentum = config.momentum},
          .minibatch_size = config.minibatch_size.value_or(0),
          .clip_gradients = config.clip_gradients.value_or(0)};
}

LayerConfig network_of(SolverConfig const& config) {
  if (!config.network) throw ConfigError{"solver: the config has no network"};
  return *config.network;
}

}  // namespace

Solver Solver::from_config(Backend const& network_backend, Backend const&, SolverConfig config,
                           std::optional<Shape> input, std::uint64_t seed) {
  objective_of(config), options_of(config);  // what is cheap to check comes first
  Layer network = Layer::from_config(network_backend, network_of(config), input, seed);
  return {std::move(network), std::move(config)};
}

Solver::Solver(Layer network, SolverConfig config)
    : network_(std::move(network)),
      config_(std::move(config)),
      objective_(objective_of(config_)),
      options_(options_of(config_)) {
  coldpress::with_context(
      [&] {
        Shape const shape = loss_input(objective_, network_.output_shape());
        target_size_ = std::visit([&](auto const& loss) { return loss.target_shape(shape).size(); }, objective_.loss);
      },
      [&](Error& e) { e.in_layer(config_.objective->name); });
  if (network_.learnable_weights_names().empty())
    throw ConfigError{"solver: the network has no parameters; there is nothing to train"};
}

float Solver::train(std::span<Values const> inputs, Values targets) {
  network_.send_weights();
  loss_ = network_.executable().train_minibatch(inputs, targets, objective_, options_);
  network_.weights_changed();
  network_.take_input_gradients();
  return loss_;
}

SharedTensor const& Solver::train_minibatch(std::span<SharedTensor const> inputs, SharedTensor const& targets) {
  auto const shapes = network_.input_shapes();
  require(inputs.size() == shapes.size(), "train_minibatch: there must be as many inputs as the network has");
  std::array<Values, max_network_inputs> values;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    inputs[k].check_samples(shapes[k].size());
    values[k] = inputs[k].read();
  }
  targets.check_samples(target_size_);
  train({values.data(), inputs.size()}, targets.read());
  auto const y = network_.executable().output();
  Shape const out = network_.output_shape();
  Index extents[Shape::max_rank + 1] = {static_cast<Index>(y.size()) / out.size()};
  std::copy_n(out.extents, out.rank(), extents + 1);
  output_.remake({extents, static_cast<std::size_t>(out.rank()) + 1});
  std::copy(y.begin(), y.end(), output_.write_only().begin());
  return output_;
}

int Solver::state_count() const {
  return std::visit([](auto const& optimizer) { return std::remove_cvref_t<decltype(optimizer)>::states; },
                    options_.optimizer);
}

}  // namespace coldpress::dynamic
