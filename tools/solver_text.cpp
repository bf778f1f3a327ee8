// Spells optimizers, policies and metrics, and the first difference between two solvers.
#include "solver_text.hpp"

#include "print.hpp"

namespace coldpress::command {
namespace {

/// A stage of a policy as text, for example "step: gamma 0.5 stepsize 100", or "fixed" without numbers.
std::string describe(Policy const& policy, Policy::Stage const& stage) {
  std::string text{spelling(stage.kind)}, numbers;
  auto const add = [&](char const* name, auto value) {
    numbers += std::string{" "} + name + " " + to_string(static_cast<double>(value));
  };
  Policy::Stage::for_each_number(stage, [&](char const* name, auto number, auto, auto) {
    if (number != 0) add(name, number);
  });
  for (int n = 0; n < stage.step_count; ++n) add("step", policy.steps[stage.first_step + n]);
  return numbers.empty() ? text : text + ":" + numbers;
}

/// A policy as text, for example "step policy: gamma 0.5 stepsize 100", or the stages of a list, one after another.
std::string describe(Policy const& policy) {
  if (policy.stage_count == 1 && policy.stages[0].factor == 1) {
    std::string text = describe(policy, policy.stages[0]);
    return text.insert(spelling(policy.stages[0].kind).size(), " policy");
  }
  std::string text = "staged policy:";
  for (int s = 0; s < policy.stage_count; ++s) {
    Policy::Stage const& stage = policy.stages[s];
    text += s > 0 ? ", then " : " ";
    if (stage.iterations > 0) text += "for " + std::to_string(stage.iterations) + " ";
    if (stage.factor != 1) text += to_string(stage.factor) + " times ";
    text += describe(policy, stage);
  }
  return text;
}

/// An optimizer as text, for example "sgd, learning rate 0.01, momentum 0.9".
std::string optimizer(dynamic::SolverConfig const& solver) {
  return std::visit(
      [&](auto const& type) {
        std::string text{type.name};
        text += ", learning rate " + to_string(solver.base_lr);
        for_each_field(type, [&](std::string_view field, float value) {
          if (field == "learning_rate") return;
          text.append(", ").append(field).append(" ") += to_string(field == "momentum" ? solver.momentum : value);
        });
        return text;
      },
      solver.solver);
}

}  // namespace

std::string describe(dynamic::SolverConfig const& solver) {
  std::string text = optimizer(solver);
  if (solver.lr_policy != Policy{}) text += ", " + describe(solver.lr_policy);
  if (solver.momentum_policy != Policy{}) text += ", momentum by a " + describe(solver.momentum_policy);
  if (solver.weight_decay) {
    bool const l1 = solver.regularization_method == Regularization::l1;
    text += std::string{", weight decay "} + (l1 ? "(l1) " : "(l2) ") + to_string(*solver.weight_decay);
  }
  if (solver.accumulate > 1) text += ", one update per " + std::to_string(solver.accumulate) + " minibatches";
  if (solver.microbatch) text += ", microbatches of " + std::to_string(*solver.microbatch);
  if (solver.sync_batch_normalization) text += ", batch normalization over the whole minibatch";
  if (solver.bfloat16_gradients) text += ", their gradients rounded to bfloat16";
  if (solver.shard_optimizer) text += ", the optimizer's state divided among processes";
  if (solver.clip_gradients) text += ", gradients clipped to a norm of " + to_string(*solver.clip_gradients);
  if (solver.clip_values) text += ", gradients clipped to values of at most " + to_string(*solver.clip_values);
  if (solver.minibatch_size) text += ", minibatch size " + std::to_string(*solver.minibatch_size);
  return text;
}

std::string describe(Monitoring const& monitoring) {
  std::string text;
  auto const metric = [](Metric const& of) {
    return of.name + " (" + std::string{spelling(of.better)} + " is better)";
  };
  auto const number = [](auto value) { return to_string(static_cast<float>(value)); };
  if (monitoring.validate > 0) text += "a fraction of " + number(monitoring.validate) + " of the data for validation\n";
  if (auto const& stop = monitoring.early_stopping) {
    text += "early stopping: " + metric(stop->metric) + ", patience " + std::to_string(stop->patience) +
            ", min_delta " + number(stop->min_delta) + (stop->restore_best ? ", ends with the best weights" : "") +
            "\n";
  }
  if (auto const& reduce = monitoring.reduce_on_plateau) {
    text += "reduce on plateau: " + metric(reduce->metric) + ", factor " + number(reduce->factor) + ", patience " +
            std::to_string(reduce->patience) + ", min_delta " + number(reduce->min_delta) + ", cooldown " +
            std::to_string(reduce->cooldown) + ", min_rate " + number(reduce->min_rate) +
            (reduce->reload ? ", goes back to the best weights" : "") + "\n";
  }
  WeightAverage const& average = monitoring.average;
  if (average.kind == WeightAverage::Kind::ema)
    text += "exponential moving average of the weights, decay " + number(average.decay) + "\n";
  if (average.kind == WeightAverage::Kind::swa)
    text += "mean of the weights after each epoch from epoch " + std::to_string(average.from_epoch + 1) + " on\n";
  return text;
}

std::string difference(dynamic::SolverConfig const& checkpoint, dynamic::SolverConfig const& config) {
  std::string found;
  auto const compare = [&](char const* what, auto const& of_checkpoint, auto const& of_config) {
    if (found.empty() && of_checkpoint != of_config)
      found = std::string{"the checkpoint's "} + what + " is " + of_checkpoint + ", the config's is " + of_config;
  };
  auto const optimizer = [](auto const& solver) {
    return std::visit([](auto const& type) { return std::string{type.name}; }, solver.solver);
  };
  auto const count = [](auto number) { return number ? std::to_string(*number) : "that of the data"; };
  auto const value = [](std::optional<float> number) { return number ? to_string(*number) : "none"; };
  compare("optimizer", optimizer(checkpoint), optimizer(config));
  compare("learning rate", to_string(checkpoint.base_lr), to_string(config.base_lr));
  compare("momentum", to_string(checkpoint.momentum), to_string(config.momentum));
  compare("minibatch size", count(checkpoint.minibatch_size), count(config.minibatch_size));
  compare("weight decay", value(checkpoint.weight_decay), value(config.weight_decay));
  compare("gradient norm limit", value(checkpoint.clip_gradients), value(config.clip_gradients));
  compare("gradient value limit", value(checkpoint.clip_values), value(config.clip_values));
  compare("accumulate", std::to_string(checkpoint.accumulate), std::to_string(config.accumulate));
  compare("microbatch", count(checkpoint.microbatch), count(config.microbatch));
  auto const flag = [](bool set) { return std::string{set ? "true" : "false"}; };
  compare("sync_batch_normalization", flag(checkpoint.sync_batch_normalization), flag(config.sync_batch_normalization));
  auto const sums = [](auto const& solver) { return solver.bfloat16_gradients ? "bfloat16" : "float"; };
  compare("format of gradients", std::string{sums(checkpoint)}, std::string{sums(config)});
  if (found.empty()) {  // the optimizers are of one kind, so their fields are the same
    Fields const of_checkpoint = fields_of(checkpoint.solver), of_config = fields_of(config.solver);
    for (std::size_t i = 0; i < of_checkpoint.size(); ++i)
      compare(of_checkpoint[i].first.c_str(), of_checkpoint[i].second, of_config[i].second);
  }
  compare("regularization method", std::string{spelling(checkpoint.regularization_method)},
          std::string{spelling(config.regularization_method)});
  compare("learning-rate policy", describe(checkpoint.lr_policy), describe(config.lr_policy));
  compare("momentum policy", describe(checkpoint.momentum_policy), describe(config.momentum_policy));
  return found.empty() ? "has another name for its solver than the config" : found;
}

}  // namespace coldpress::command
