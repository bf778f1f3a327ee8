// Makes solvers of trainings and of checkpoints, and checkpoints of solvers, apart from network.cpp because programs
// that never train need none of it.
#include "weights.hpp"

#include <coldpress/core/counted.hpp>

#include <algorithm>

namespace coldpress::persist {
namespace {

/// The places in the checkpoint of each buffer's values: the optimizer's states, and the gradients if samples wait.
std::vector<std::vector<dynamic::Values>> in_order(Checkpoint const& checkpoint,
                                                   std::vector<dynamic::Executable::Weight> const& weights, int states,
                                                   bool accumulates) {
  if (checkpoint.waiting > 0 && !accumulates)
    throw MismatchError{
        "the checkpoint is between the minibatches of one update, but the solver updates after each minibatch"};
  if (checkpoint.waiting > std::uint64_t{1} << 40) throw FormatError{"more samples wait for their update than 2^40"};
  Tensors tensors{checkpoint.optimizer_state};
  std::vector<std::vector<dynamic::Values>> buffers;
  for (int b = 0; b < states + (checkpoint.waiting > 0); ++b) {
    auto& values = buffers.emplace_back();
    for (auto const& weight : weights) values.push_back(tensors.take(weight, buffer_name(b, states, weight.name), {}));
  }
  tensors.expect_empty();
  return buffers;
}

/// The executable's buffer that corresponds to buffer b of buffers_in_order.
int buffer_of(int b, int states) { return b < states ? dynamic::Executable::state + b : dynamic::Executable::gradient; }

/// The config of a solver with the optimizer, the policies and the minibatches per update of its options. The learning
/// rate of an optimizer of the same kind is that of the config: what changes it in a run also remembers it.
dynamic::SolverConfig config_now(dynamic::Solver const& solver) {
  dynamic::SolverConfig config = solver.config();
  dynamic::TrainingOptions const& options = solver.options();
  config.network.reset(), config.objective.reset();
  config.shard_optimizer = false;
  config.lr_policy = options.lr_policy, config.momentum_policy = options.momentum_policy;
  bool const amid_update = solver.progress().waiting > 0;
  // Samples that wait are those of an update of several minibatches.
  config.accumulate =
      options.accumulate > 1 || !amid_update ? options.accumulate : std::max<Index>(config.accumulate, 2);
  std::visit(
      [&](auto const& optimizer) {
        using Optimizer = std::remove_cvref_t<decltype(optimizer)>;
        constexpr bool has_momentum = requires { optimizer.momentum; };
        Optimizer now = optimizer;
        if (auto const* const given = std::get_if<Optimizer>(&config.solver)) {
          Optimizer before = *given;
          before.learning_rate = now.learning_rate = config.base_lr;
          if constexpr (has_momentum) before.momentum = config.momentum;
          if (now == before) return;
        }
        config.solver = now, config.base_lr = now.learning_rate, config.momentum = 0;
        if constexpr (has_momentum) config.momentum = now.momentum;
      },
      options.optimizer);
  return config;
}

/// The kind of the loss that is an objective, or at the end of one.
std::string loss_of(dynamic::LayerConfig const& objective) {
  auto const* const container = std::get_if<dynamic::SequentialConfig>(&objective.layer_type);
  return container && !container->layers.empty() ? loss_of(container->layers.back())
                                                 : camel_case(dynamic::type_name(objective.layer_type));
}

}  // namespace

void check_optimizer(Checkpoint const& checkpoint, std::string_view optimizer, int states) {
  auto const has_state = [&](int state) {
    std::string const end = buffer_name(state, state + 1, "");
    return std::ranges::any_of(checkpoint.optimizer_state,
                               [&](auto const& tensor) { return tensor.name.ends_with(end); });
  };
  int kept = 0;
  while (has_state(kept)) ++kept;
  std::string name = checkpoint.optimizer;
  if (name.empty() && checkpoint.solver != dynamic::SolverConfig{}) {
    std::visit(
        [&](auto const& type) {
          if (type.states == kept) name = type.name;
        },
        checkpoint.solver.solver);
  }
  std::string const its = name.empty() ? "the checkpoint's optimizer has " + counted(kept, "state") + " per weight"
                                       : "the checkpoint's optimizer is " + name;
  if (!name.empty() && name != optimizer) throw MismatchError{its + ", but the solver's is " + std::string{optimizer}};
  if (kept != states)
    throw MismatchError{its + ", but the solver's " + std::string{optimizer} + " has " + std::to_string(states)};
}

void check_loss(Checkpoint const& checkpoint, std::optional<dynamic::LayerConfig> const& loss) {
  if (!checkpoint.loss) return;
  std::string const its = loss_of(*checkpoint.loss), wanted = loss ? loss_of(*loss) : "";
  if (its == wanted) return;
  throw MismatchError{"the checkpoint's loss is " + its +
                      (loss ? ", but the solver's is " + wanted : ", which the solver does not have")};
}

std::vector<std::vector<std::vector<float>>> buffers_in_order(Checkpoint const& checkpoint, int states,
                                                              bool accumulates) {
  auto const weights = wanted(checkpoint.model);
  std::vector<std::vector<std::vector<float>>> result;
  for (auto const& buffer : in_order(checkpoint, weights, states, accumulates))
    result.push_back(copies(buffer, weights));
  return result;
}

Checkpoint checkpoint_of(dynamic::Solver const& solver) {
  solver.check_finite();
  dynamic::Layer const& layer = solver.network();
  dynamic::Executable const& executable = layer.executable();
  Checkpoint checkpoint{
      .model = model_of(layer),
      .loss = solver.config().objective,
      .solver = config_now(solver),
      .optimizer = std::visit([](auto const& type) { return std::string{type.name}; }, solver.options().optimizer),
      .random_state = {executable.seed()},
      .iteration = solver.iteration(),
      .waiting = static_cast<std::uint64_t>(solver.progress().waiting)};
  if (executable.step() != solver.iteration()) checkpoint.random_state.push_back(executable.step());
  int const states = solver.state_count();
  for (int b = 0; b < states + (checkpoint.waiting > 0); ++b) {
    for (std::size_t i = 0; i < checkpoint.model.weights.size(); ++i) {
      NamedTensor tensor = checkpoint.model.weights[i];
      tensor.name = buffer_name(b, states, tensor.name);
      if (b < states && solver.has_other_state()) {
        std::ranges::fill(tensor.values, 0.f);  // as the next step will
      } else {
        executable.read(buffer_of(b, states), static_cast<int>(i), tensor.values);
      }
      checkpoint.optimizer_state.push_back(std::move(tensor));
    }
  }
  return checkpoint;
}

namespace {

int states_of(dynamic::SolverConfig const& config) {
  return std::visit([](auto const& optimizer) { return optimizer.states; }, config.solver);
}

/// Everything but the network's own weights.
void restore(dynamic::Solver& solver, Checkpoint const& checkpoint,
             std::vector<std::vector<dynamic::Values>> const& buffers) {
  dynamic::Executable& executable = solver.network().executable();
  int const states = solver.state_count();
  solver.clear_state();
  for (std::size_t b = 0; b < buffers.size(); ++b) {
    executable.clear(buffer_of(static_cast<int>(b), states));
    for (std::size_t i = 0; i < buffers[b].size(); ++i)
      executable.write(buffer_of(static_cast<int>(b), states), static_cast<int>(i), buffers[b][i]);
  }
  auto const& random = checkpoint.random_state;
  executable.set_step(random.size() > 1 ? random[1] : checkpoint.iteration);
  solver.set_progress({checkpoint.iteration, static_cast<Index>(checkpoint.waiting)});
  solver.network().gradients_changed();
}

}  // namespace

dynamic::Solver solver_of(dynamic::Backend const& backend, Checkpoint const& checkpoint) {
  auto const& random = checkpoint.random_state;
  std::uint64_t const seed = random.empty() ? checkpoint.seed : random[0];
  std::visit(
      [&](auto const& type) {
        bool const named = checkpoint.solver != dynamic::SolverConfig{} || checkpoint.optimizer.empty();
        if (!named && checkpoint.optimizer != type.name)
          throw MismatchError{"the checkpoint's optimizer, " + checkpoint.optimizer +
                              ", belongs to a network type, and no config can name it: resume a solver of that type"};
        check_optimizer(checkpoint, type.name, type.states);
      },
      checkpoint.solver.solver);
  dynamic::SolverConfig config = checkpoint.solver;
  config.objective = checkpoint.loss;
  int const states = states_of(config);
  bool const accumulates = config.accumulate > 1;
  std::vector<std::vector<dynamic::Values>> buffers;
  auto layer = dynamic::Layer::from_config(backend, checkpoint.model.config, input_of(checkpoint.model, {}), seed,
                                           [&](auto const& weights) {
                                             buffers = in_order(checkpoint, weights, states, accumulates);
                                             return in_order(checkpoint.model, weights);
                                           });
  if (!config.objective && !layer.executable().has_losses())
    throw MismatchError{
        "the checkpoint has no loss, since that of its network type is not built in: resume a solver of that type"};
  dynamic::Solver solver{std::move(layer), std::move(config)};
  restore(solver, checkpoint, buffers);
  return solver;
}

dynamic::Solver solver_of(dynamic::Backend const& backend, Training const& training, std::optional<Shape> input) {
  dynamic::SolverConfig config = training.solver;
  config.network = training.network;
  config.objective = training.loss;
  return dynamic::Solver::from_config(backend, std::move(config), input, training.seed);
}

void resume(dynamic::Solver& solver, Checkpoint const& checkpoint) {
  dynamic::Executable& executable = solver.network().executable();
  auto const& random = checkpoint.random_state;
  std::uint64_t const seed = random.empty() ? checkpoint.seed : random[0];
  if (seed != executable.seed()) {
    throw MismatchError{"the checkpoint's network has the seed " + std::to_string(seed) + ", the solver's " +
                        std::to_string(executable.seed())};
  }
  if (auto const found = dynamic::difference(checkpoint.model.config, model_of(solver.network()).config);
      !found.empty())
    throw MismatchError{"the checkpoint's network is not the solver's: " + found};
  std::visit([&](auto const& type) { check_optimizer(checkpoint, type.name, type.states); },
             solver.options().optimizer);
  check_loss(checkpoint, solver.config().objective);
  auto const& weights = executable.weights();
  auto const buffers = in_order(checkpoint, weights, solver.state_count(), solver.options().accumulate > 1);
  auto const values = in_order(checkpoint.model, weights);
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::vector<float> const none(values[i].empty() ? static_cast<std::size_t>(weights[i].shape.size()) : 0);
    executable.write(dynamic::Executable::data, static_cast<int>(i), values[i].empty() ? none : values[i]);
  }
  solver.network().weights_changed();
  restore(solver, checkpoint, buffers);
}

}  // namespace coldpress::persist
