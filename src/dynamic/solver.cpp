// Checks the numbers of a SolverConfig, takes steps, and ends a run whose loss or weights are not finite.
#include <coldpress/dynamic/solver.hpp>

#include "objective.hpp"

#include <coldpress/core/counted.hpp>
#include <coldpress/core/finite.hpp>
#include <coldpress/core/to_string.hpp>
#include <coldpress/graph/node.hpp>
#include <coldpress/optim/number_range.hpp>
#include <coldpress/run/labels.hpp>

#include <cmath>

namespace coldpress::dynamic {
namespace {

/// The objective of a config; nothing if the network has its own losses.
std::optional<Objective> objective_of(SolverConfig const& config) {
  if (!config.objective) return {};
  return objective_of(*config.objective);
}

/// The config's optimizer with the config's learning rate and momentum.
AnyOptimizer optimizer_of(SolverConfig const& config) {
  return std::visit(
      [&](auto optimizer) -> AnyOptimizer {
        optimizer.learning_rate = config.base_lr;
        if constexpr (requires { optimizer.momentum; }) optimizer.momentum = config.momentum;
        return optimizer;
      },
      config.solver);
}

TrainingOptions options_of(SolverConfig const& config) {
  check_numbers(config);
  TrainingOptions options;
  options.optimizer = optimizer_of(config);
  options.minibatch_size = config.minibatch_size.value_or(0);
  options.clip_gradients = config.clip_gradients.value_or(0);
  options.clip_values = config.clip_values.value_or(0);
  options.weight_decay = config.weight_decay.value_or(0);
  options.regularization_method = config.regularization_method;
  options.accumulate = config.accumulate;
  options.microbatch = config.microbatch.value_or(0);
  options.sync_batch_normalization = config.sync_batch_normalization;
  options.bfloat16_gradients = config.bfloat16_gradients;
  options.shard_optimizer = config.shard_optimizer;
  options.lr_policy = config.lr_policy;
  options.momentum_policy = config.momentum_policy;
  return options;
}

/// How many targets the loss compares with an output of this shape. Where it says how many values the output should
/// have, the error also says how many there are.
template <class Loss>
Index target_size(Loss const& loss, Shape output) {
  char const* sentence = nullptr;
  Index needed = 0;
  FirstRefusal const require{&sentence, &needed};
  if constexpr (requires { loss.target_shape(output, require); }) {
    static_cast<void>(loss.target_shape(output, require));
    if (sentence != nullptr && needed != 0)
      throw ShapeError{std::string{sentence} + ": expected " + std::to_string(needed) + ", got " +
                       std::to_string(output.size())};
  }
  return loss.target_shape(output).size();
}

/// Checks the inputs that a container declares, which are the network's output and the targets.
void check_declared(LayerConfig const& objective, Shape output, Index targets) {
  auto const* container = std::get_if<SequentialConfig>(&objective.layer_type);
  if (!container) return;
  Index const sizes[] = {output.size(), targets};
  for (std::size_t k = 0; k < container->inputs.size(); ++k) {
    ShapedInput const& input = container->inputs[k];
    if (input.shape.rank() == 0 || input.shape.size() == sizes[k]) continue;
    ShapeError error{"input '" + input.name + "' has shape " + to_string(input.shape) + ", but gets " +
                     std::to_string(sizes[k]) + " values"};
    error.in_layer(objective.name);
    throw error;
  }
}

[[noreturn]] void diverged(Executable const& network, std::uint64_t step, float loss, bool taken) {
  std::string bad;
  int i = 0;
  for (Executable::Weight const& weight : network.weights()) {
    std::vector<float> values(static_cast<std::size_t>(weight.shape.size()));
    network.read(Executable::data, i++, values);
    if (bad.empty() && first_not_finite<float>(values) >= 0) bad = weight.name;
  }
  refuse_divergence(step, static_cast<double>(loss), taken, bad);
}

LayerConfig network_of(SolverConfig const& config) {
  if (!config.network) throw ConfigError{"solver: the config has no network"};
  return *config.network;
}

/// Checks a number by the name of its field, the last in the path, which means the same in every config.
void check_number(std::string const& field, float value) {
  std::string const is = ", is " + std::to_string(value), name = field.substr(field.rfind('.') + 1);
  check_field(std::isfinite(value), field, "must be a finite number" + is);
  NumberRange const range = range_of_number(name);
  check_field(is_in(range, value), field,
              (range == NumberRange::above_0      ? "must be above 0"
               : range == NumberRange::at_least_0 ? "must be at least 0"
                                                  : "must be at least 0 and below 1") +
                  is);
}

void check_optimizer(SolverConfig const& config) {
  auto const check_one = [&](auto const& optimizer) {
    std::remove_cvref_t<decltype(optimizer)> const own;
    std::string const name{own.name};
    bool has_momentum = false;
    check_field(optimizer.learning_rate == own.learning_rate || optimizer.learning_rate == config.base_lr, "solver",
                "the learning rate of " + name + " is set by base_lr");
    if constexpr (requires { optimizer.momentum; }) {
      has_momentum = true;
      check_field(optimizer.momentum == own.momentum || optimizer.momentum == config.momentum, "solver",
                  "the momentum of " + name + " is set by momentum");
    }
    check_field(has_momentum || config.momentum == 0, "momentum", name + " has none");
    for_each_field(optimizer, [&](std::string_view field, float value) {
      check_number("solver." + name + "." + std::string{field}, value);
    });
  };
  std::visit(check_one, config.solver);
}

/// Checks a number of a policy's stage.
template <class Number>
void check_within(std::string const& field, Number number, Number least, Number most) {
  auto const text = [](Number n) {
    if constexpr (std::is_same_v<Number, float>) {
      return coldpress::detail::number_text(static_cast<double>(n));
    } else {
      return n;
    }
  };
  auto const says = [&](auto... words) {
    return std::string{sentence_of("must be ", words..., ", is ", text(number))};
  };
  check_field(number - number == 0, field, says("a finite number"));
  check_field(number >= least, field, says("at least ", text(least)));
  check_field(number <= most, field, says("at most ", text(most)));
}

void check_steps(std::string const& field, std::span<Index const> steps) {
  check_field(!steps.empty(), field, "there are none");
  Index last = 0;
  for (Index const step : steps) {
    check_field(step > last, field, sentence_of("must be ascending, from 1: there is ", step, " after ", last));
    check_within(field, last = step, Index{1}, Policy::most_iterations);
  }
}

void check_policy(std::string const& field, Policy const& policy) {
  check_field(policy.stage_count <= Policy::max_stages, field,
              sentence_of("a list has at most ", Policy::max_stages, " stages, with those of the lists in it"));
  check_field(policy.step_count <= Policy::max_steps, field + ".steps",
              sentence_of("at most ", Policy::max_steps, " are possible, in all stages together"));
  for (int s = 0; s < policy.stage_count; ++s) {
    Policy::Stage const& stage = policy.stages[s];
    bool const listed = policy.stage_count > 1 || stage.factor != 1;
    std::string const at = listed ? field + ".staged[" + std::to_string(s) + "]" : field;
    check_field(stage.kind >= Policy::Kind::fixed && stage.kind <= Policy::Kind::one_cycle, at,
                "there is no such policy");
    check_within(at + ".factor", stage.factor, 0.0f, std::numeric_limits<float>::max());
    if (s + 1 < policy.stage_count)
      check_within(at + ".iterations", stage.iterations, Index{1}, Policy::most_iterations);
    std::string const own = at + (listed ? ".policy." : ".") + std::string{spelling(stage.kind)} + ".";
    Policy::Stage::for_each_number(stage, [&](char const* name, auto number, auto least, auto most) {
      check_within(own + name, number, static_cast<decltype(number)>(least), static_cast<decltype(number)>(most));
    });
    if (stage.kind == Policy::Kind::multistep)
      check_steps(own + "steps", std::span{policy.steps}.subspan(static_cast<std::size_t>(stage.first_step),
                                                                 static_cast<std::size_t>(stage.step_count)));
  }
}

void check_momentum_policy(SolverConfig const& config) {
  check_policy("momentum_policy", config.momentum_policy);
  if (config.momentum_policy == Policy{}) return;
  bool const has_momentum = std::visit(
      [](auto const& optimizer) {
        return requires { optimizer.momentum; };
      },
      config.solver);
  check_field(has_momentum, "momentum_policy", "the optimizer has no momentum");
  float const greatest = config.momentum_policy.upper_bound(config.momentum);
  check_field(greatest < 1, "momentum_policy",
              "must keep the momentum below 1, but from " + std::to_string(config.momentum) + " it may reach " +
                  (std::isfinite(greatest) ? std::to_string(greatest) : "any number: give a max"));
}

}  // namespace

void check_numbers(SolverConfig const& config) {
  check_number("base_lr", config.base_lr);
  check_number("momentum", config.momentum);
  check_optimizer(config);
  check_policy("lr_policy", config.lr_policy);
  check_momentum_policy(config);
  auto const check_count = [](Index count, char const* field, int bits) {  // so that their product does not overflow
    check_field(count >= 1 && count <= Index{1} << bits, field,
                sentence_of("must be at least 1 and at most 2^", bits, ", is ", count));
  };
  check_count(config.minibatch_size.value_or(1), "minibatch_size", 40);
  check_count(config.accumulate, "accumulate", 20);
  check_count(config.microbatch.value_or(1), "microbatch", 40);
  check_field(config.microbatch || !config.bfloat16_gradients, "bfloat16_gradients",
              "is for the gradients of the parts of a minibatch: set microbatch, the samples of a part");
  check_field(config.microbatch || !config.shard_optimizer, "shard_optimizer",
              "is for ranks, which share the parts of a minibatch: set microbatch, the samples of a part");
  if (config.clip_gradients) check_number("clip_gradients", *config.clip_gradients);
  if (config.clip_values) check_number("clip_values", *config.clip_values);
  if (config.weight_decay) check_number("weight_decay", *config.weight_decay);
}

Solver Solver::from_config(Backend const& network_backend, Backend const&, SolverConfig config,
                           std::optional<Shape> input, std::uint64_t seed) {
  objective_of(config), options_of(config);  // cheap checks come first
  Layer network = Layer::from_config(network_backend, network_of(config), input, seed);
  return {std::move(network), std::move(config)};
}

Solver::Solver(Layer network, SolverConfig config)
    : network_(std::move(network)),
      config_(std::move(config)),
      objective_(objective_of(config_)),
      options_(options_of(config_)) {
  optimizer_ = options_.optimizer.index();
  if (objective_) {
    coldpress::with_context(
        [&] {
          Shape const shape = loss_input(*objective_, network_.output_shape());
          target_size_ = std::visit([&](auto const& loss) { return target_size(loss, shape); }, objective_->loss);
        },
        [&](Error& e) { e.in_layer(config_.objective->name); });
    check_declared(*config_.objective, network_.output_shape(), target_size_);
  } else if (!network_.executable().has_losses()) {
    throw ConfigError{
        "solver: the config has no objective, which is the field loss of a file, and its network has no loss"};
  }
  if (network_.learnable_weights_names().empty())
    throw ConfigError{"solver: the network has no parameters; there is nothing to train"};
}

MeanLoss::operator float() const {
  float const loss = network_->loss();
  if (!network_->device().empty() && !std::isfinite(loss)) diverged(*network_, progress_->minibatches, loss, true);
  return loss;
}

void Solver::check_finite() const {
  network_.send_weights();
  Executable const& network = network_.executable();
  if (!network.is_finite()) diverged(network, iteration(), network.loss(), true);
}

void Solver::check_samples(std::span<Values const> inputs, Values targets, Homes homes) const {
  auto const shapes = network_.input_shapes();
  auto const check_one = [&](std::size_t k, Values values, Index size, auto... what) {
    if (!homes || !homes[k]) return coldpress::check_finite(values, size, what...);
    auto const* const facts = homes[k]->facts();
    if (!facts || facts->finite) return;
    std::vector<float> fetched(values.size());
    homes[k]->pull(fetched);
    coldpress::check_finite(Values{fetched}, size, what...);
  };
  for (std::size_t k = 0; k < inputs.size() && k < shapes.size(); ++k)
    check_one(k, inputs[k], shapes[k].size(), "input ", static_cast<int>(k));
  if (objective_) check_one(inputs.size(), targets, target_size_, "the targets");
}

MeanLoss Solver::train(std::span<Values const> inputs, Values targets, Homes homes) {
  auto const suits = [&](auto const& optimizer) { return options_.suits(optimizer); };
  if (!options_.sane() || !std::visit(suits, options_.optimizer) || options_.minibatch_size < 0)
    throw ConfigError{
        sentence_of("solver: a number of options() is out of range: clip_gradients ",
                    coldpress::detail::number_text(options_.clip_gradients), ", clip_values ",
                    coldpress::detail::number_text(options_.clip_values), ", weight_decay ",
                    coldpress::detail::number_text(options_.weight_decay), ", accumulate ", options_.accumulate,
                    ", microbatch ", options_.microbatch, options_.bfloat16_gradients ? " with bfloat16_gradients" : "",
                    options_.shard_optimizer ? " with shard_optimizer" : "", ", check_every ", options_.check_every,
                    ", minibatch_size ", options_.minibatch_size, ", or one of lr_policy or momentum_policy")};
  if (has_other_state()) clear_state();
  if (options_.check_every > 0) check_samples(inputs, targets, homes);
  std::uint64_t const step = iteration() + 1;
  network_.train(inputs, targets, objective_, options_, *progress_, homes);
  Executable const& network = network_.executable();
  if (iteration() != step) diverged(network, step, network.loss(), false);
  bool const due = options_.check_every > 0 && step % static_cast<std::uint64_t>(options_.check_every) == 0;
  if (due && network.device().empty()) check_finite();
  return {network, *progress_};
}

SharedTensor const& Solver::train_minibatch(std::span<SharedTensor const> inputs, SharedTensor const& targets) {
  require(objective_.has_value(), "train_minibatch: the network has its own losses, so it takes its targets as inputs");
  return train_tensors(inputs, &targets);
}
SharedTensor const& Solver::train_minibatch(std::span<SharedTensor const> inputs) {
  require(!objective_, "train_minibatch: the objective needs targets");
  return train_tensors(inputs, nullptr);
}
SharedTensor const& Solver::train_tensors(std::span<SharedTensor const> inputs, SharedTensor const* targets) {
  auto const shapes = network_.input_shapes();
  if (inputs.size() != shapes.size())
    refuse("train_minibatch: takes ", counted(shapes.size(), "input"), ", got ", inputs.size());
  auto& [values, homes] = network_.given_;
  values.clear(), homes.clear();
  for (std::size_t k = 0; k < inputs.size(); ++k) network_.give(inputs[k], shapes[k].size());
  if (targets) network_.give(*targets, target_size_);
  train(std::span{values}.first(inputs.size()), targets ? values.back() : Values{}, homes.data());
  return network_.outputs_.now[0];
}

void Solver::distribute_over(Communicator* communicator) {
  if (communicator && !network_.executable().device().empty())
    throw UnsupportedError{"solver: a network on '" + network_.executable().device() +
                           "' is not divided among ranks, only one on the host"};
  check_field(!communicator || options_.microbatch != 0, "microbatch",
              "is 0, but ranks share the parts of a minibatch: set the samples of a part");
  options_.communicator = communicator;
}

void Solver::gather_state(bool on_all_ranks) {
  network_.executable().gather_state(options_, state_count(), progress_->waiting > 0, on_all_ranks);
}

void Solver::clear_state() {
  for (int s = 0; s < state_count(); ++s) network_.executable().clear(Executable::state + s);
  optimizer_ = options_.optimizer.index();
}

int Solver::state_count() const {
  return std::visit([](auto const& optimizer) { return std::remove_cvref_t<decltype(optimizer)>::states; },
                    options_.optimizer);
}

}  // namespace coldpress::dynamic
