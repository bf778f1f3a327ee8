#include <coldpress/dynamic/solver.hpp>

#include <cmath>

namespace coldpress::dynamic {
namespace {

AnyLoss loss_of(SolverConfig const& config) {
  if (!config.objective) throw ConfigError{"solver: the config has no objective"};
  return std::visit(
      [&](auto const& type) -> AnyLoss {
        if constexpr (Loss<std::remove_cvref_t<decltype(type)>>) {
          return type;
        } else {
          throw ConfigError{"solver: the objective '" + config.objective->name + "' is a " +
                            type_name(config.objective->layer_type) + ", which is no loss"};
        }
      },
      config.objective->layer_type);
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
  loss_of(config), options_of(config);  // what is cheap to check comes first
  Layer network = Layer::from_config(network_backend, network_of(config), input, seed);
  return {std::move(network), std::move(config)};
}

Solver::Solver(Layer network, SolverConfig config)
    : network_(std::move(network)),
      config_(std::move(config)),
      objective_(loss_of(config_)),
      options_(options_of(config_)) {
  coldpress::with_context(
      [&] {
        std::visit([&](auto const& loss) { static_cast<void>(loss.target_shape(network_.output_shape())); },
                   objective_);
      },
      [&](Error& e) { e.in_layer(config_.objective->name); });
  if (network_.learnable_weights_names().empty())
    throw ConfigError{"solver: the network has no parameters; there is nothing to train"};
}

float Solver::train_minibatch(std::span<float const> x, std::span<float const> targets) {
  network_.send_weights();
  loss_ = network_.executable().train_minibatch(x, targets, objective_, options_);
  network_.weights_changed();
  return loss_;
}

SharedTensor const& Solver::train_minibatch(SharedTensor const& x, SharedTensor const& targets) {
  x.check_samples(network_.input_shape().size());
  targets.check_samples(
      std::visit([&](auto const& loss) { return loss.target_shape(network_.output_shape()).size(); }, objective_));
  train_minibatch(x.read(), targets.read());
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
