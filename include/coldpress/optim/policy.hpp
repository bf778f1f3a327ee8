// The type of all policies, which say how a learning rate or a momentum changes, and their formulas.
#pragma once

#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/shape.hpp>
#include <coldpress/core/spelling.hpp>

#include <cstdint>
#include <limits>

namespace coldpress {

/// A policy, made from one of the structs in optim/policies.hpp. An iteration is one update of the weights. Every
/// policy is a list of stages, of which the last never ends; only policy::Staged makes more than one.
struct Policy {
  enum class Kind {
    fixed,
    step,
    multistep,
    exp,
    inv,
    poly,
    sigmoid,
    linear,
    warmup,
    cosine,
    cosine_restarts,
    one_cycle
  };
  /// What a policy does for some iterations, which are counted from the first of them. A kind has the numbers that
  /// for_each_number says; the others are 0.
  struct Stage {
    Kind kind = Kind::fixed;
    Index iterations = 0;  // 0 for the last stage
    float factor = 0;      // of the base; 1 unless a Staged says otherwise
    float gamma = 0, power = 0, max = 0, start = 0, end = 0, rise = 0;
    Index stepsize = 0, max_iter = 0, period = 0, multiplier = 0;
    int first_step = 0, step_count = 0;  // the part of Policy::steps that belongs to a multistep

    double value(double base, std::uint64_t iteration, Index const* milestones) const;
    constexpr double upper_bound(double base) const;
    /// f(name, number, least, most) for each number of this kind, with its range. A number is a float& or an Index&.
    template <class Self>
    static constexpr void for_each_number(Self& stage, auto const& f);
    bool operator==(Stage const&) const = default;
  };
  static constexpr int max_stages = 8, max_steps = 16;
  static constexpr Index most_iterations = Index{1} << 40;
  Stage stages[max_stages] = {{.factor = 1}};
  int stage_count = 1;          // more than max_stages: there were too many
  Index steps[max_steps] = {};  // of all multisteps together, one stage after the other
  int step_count = 0;           // more than max_steps: there were too many

  /// The number at an iteration, from the number that the policy starts from.
  float value(float base, std::uint64_t iteration) const {
    int s = 0;
    for (; s + 1 < stage_count && iteration >= static_cast<std::uint64_t>(stages[s].iterations); ++s)
      iteration -= static_cast<std::uint64_t>(stages[s].iterations);
    Stage const& stage = stages[s];
    if (stage.kind == Kind::fixed && stage.factor == 1) return base;
    return static_cast<float>(stage.value(static_cast<double>(base) * static_cast<double>(stage.factor), iteration,
                                          steps + stage.first_step));
  }
  /// A bound that no value exceeds; infinity if there is none.
  constexpr float upper_bound(float base) const {
    double bound = 0;
    for (int s = 0; s < stage_count; ++s)
      bound = freestanding::max(
          bound, stages[s].upper_bound(static_cast<double>(base) * static_cast<double>(stages[s].factor)));
    return static_cast<float>(bound);
  }
  /// Whether every number is in its range; check_numbers(SolverConfig) says which one is not.
  constexpr bool sane() const;
  /// Appends the stages of a policy, which take up this many iterations; with 0, the last of them never ends.
  constexpr void append(Index iterations, Policy const& policy, float factor);
  bool operator==(Policy const&) const = default;
};
constexpr auto spellings(Policy::Kind) {
  return std::array<std::string_view, 12>{"fixed",  "step",   "multistep",       "exp",
                                          "inv",    "poly",   "sigmoid",         "linear",
                                          "warmup", "cosine", "cosine_restarts", "one_cycle"};
}

#if !defined COLDPRESS_DECLARES_ONCE
COLDPRESS_ONCE double Policy::Stage::value(double base, std::uint64_t iteration, Index const* milestones) const {
  auto const i = static_cast<double>(iteration), n = static_cast<double>(max_iter);
  auto const g = static_cast<double>(gamma), p = static_cast<double>(power);
  auto const from = static_cast<double>(start), to = static_cast<double>(end);
  auto const bounded = [&](double x) { return max > 0 ? freestanding::min(x, static_cast<double>(max)) : x; };
  auto const done = [&] { return static_cast<double>(iteration / static_cast<std::uint64_t>(stepsize)); };
  // Half a cosine from factor a to factor b.
  auto const anneal = [&](double a, double b, double part) {
    constexpr double pi = 3.14159265358979323846;
    return base * (b + (a - b) * (1 + freestanding::cos(pi * part)) / 2);
  };
  switch (kind) {
    case Kind::fixed:
      return base;
    case Kind::step:
      return bounded(base * freestanding::pow(g, done()));
    case Kind::multistep: {
      int reached = 0;
      while (reached < step_count && iteration >= static_cast<std::uint64_t>(milestones[reached])) ++reached;
      return base * freestanding::pow(g, reached);
    }
    case Kind::exp:
      return base * freestanding::pow(g, i);
    case Kind::inv:
      return base * freestanding::pow(1 + g * i, -p);
    case Kind::poly:
      return i < n ? base * freestanding::pow(1 - i / n, p) : 0;  // also where p is 0
    case Kind::sigmoid:
      return base * (1 / (1 + freestanding::exp(-g * (i - static_cast<double>(stepsize)))));
    case Kind::linear:
      return bounded(base + done() * g);
    case Kind::warmup:
      return i < n ? base * (from + (1 - from) * (i / n)) : base;
    case Kind::cosine:
      return i < n ? anneal(1, to, i / n) : base * to;
    case Kind::cosine_restarts: {
      auto const times = static_cast<std::uint64_t>(multiplier);
      auto length = static_cast<std::uint64_t>(period), rest = times == 1 ? iteration % length : iteration;
      while (rest >= length && length < (~std::uint64_t{0}) / times) rest -= length, length *= times;
      return anneal(1, to, static_cast<double>(rest) / static_cast<double>(length));
    }
    case Kind::one_cycle: {
      double const top = static_cast<double>(rise) * n - 1;
      if (i >= n - 1) return base * to;
      return i < top ? anneal(from, 1, i / top) : anneal(1, to, (i - top) / (n - 1 - top));
    }
  }
  return base;
}
#endif

constexpr double Policy::Stage::upper_bound(double base) const {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double const g = static_cast<double>(gamma), ends = static_cast<double>(freestanding::max(start, end));
  double const bound = max > 0 ? static_cast<double>(max) : infinity;
  switch (kind) {
    case Kind::step:
      return g > 1 ? bound : freestanding::min(base, bound);
    case Kind::linear:
      return g > 0 ? bound : freestanding::min(base, bound);
    case Kind::exp:
      return g > 1 ? infinity : base;
    case Kind::multistep:
      for (int n = 0; g > 1 && n < step_count; ++n) base *= g;
      return base;
    case Kind::warmup:
    case Kind::cosine:
    case Kind::cosine_restarts:
    case Kind::one_cycle:
      return base * freestanding::max(1.0, ends);
    default:
      return base;
  }
}

template <class Self>
constexpr void Policy::Stage::for_each_number(Self& stage, auto const& f) {
  constexpr double most = std::numeric_limits<float>::max();
  auto const count = [&](char const* name, auto& number) { f(name, number, Index{1}, most_iterations); };
  auto const not_negative = [&](char const* name, auto& number) { f(name, number, 0.0, most); };
  switch (stage.kind) {
    case Kind::fixed:
      break;
    case Kind::step:
    case Kind::linear:
      not_negative("gamma", stage.gamma), count("stepsize", stage.stepsize), not_negative("max", stage.max);
      break;
    case Kind::multistep:
    case Kind::exp:
      not_negative("gamma", stage.gamma);
      break;
    case Kind::inv:
      not_negative("gamma", stage.gamma), not_negative("power", stage.power);
      break;
    case Kind::poly:
      not_negative("power", stage.power), count("max_iter", stage.max_iter);
      break;
    case Kind::sigmoid:
      f("gamma", stage.gamma, -most, most), count("stepsize", stage.stepsize);
      break;
    case Kind::warmup:
      count("max_iter", stage.max_iter), not_negative("start", stage.start);
      break;
    case Kind::cosine:
      count("max_iter", stage.max_iter), not_negative("end", stage.end);
      break;
    case Kind::cosine_restarts:
      count("period", stage.period), f("multiplier", stage.multiplier, Index{1}, Index{1} << 20);
      not_negative("end", stage.end);
      break;
    case Kind::one_cycle:
      count("max_iter", stage.max_iter), f("rise", stage.rise, 0.0, 1.0);
      not_negative("start", stage.start), not_negative("end", stage.end);
      break;
  }
}

constexpr bool Policy::sane() const {
  bool right = stage_count <= max_stages && step_count <= max_steps;
  for (int s = 0; right && s < stage_count; ++s) {
    Stage const& stage = stages[s];
    right = stage.kind >= Kind::fixed && stage.kind <= Kind::one_cycle && stage.factor >= 0 &&
            stage.factor <= std::numeric_limits<float>::max() && stage.iterations <= most_iterations &&
            (s + 1 == stage_count || stage.iterations > 0) && (stage.kind != Kind::multistep || stage.step_count > 0);
    Index last = 0;
    for (int n = stage.first_step; right && n < stage.first_step + stage.step_count; ++n) {
      right = steps[n] > last && steps[n] <= most_iterations;
      last = steps[n];
    }
    Stage::for_each_number(stage, [&](char const*, auto number, auto least, auto most) {
      using Number = decltype(least);
      right = right && static_cast<Number>(number) >= least && static_cast<Number>(number) <= most;
    });
  }
  return right;
}

constexpr void Policy::append(Index iterations, Policy const& policy, float factor) {
  if (policy.stage_count > max_stages) return void(stage_count = max_stages + 1);
  if (policy.step_count > max_steps) return void(step_count = max_steps + 1);
  Index left = iterations;
  for (int s = 0; s < policy.stage_count; ++s) {
    Stage stage = policy.stages[s];
    if (stage_count >= max_stages) return void(stage_count = max_stages + 1);
    bool const last = s + 1 == policy.stage_count || (iterations > 0 && stage.iterations >= left);
    if (last) stage.iterations = left;
    if (iterations > 0) left -= stage.iterations;
    stage.factor *= factor;
    if (step_count + stage.step_count > max_steps) return void(step_count = max_steps + 1);
    for (int n = 0; n < stage.step_count; ++n) steps[step_count + n] = policy.steps[stage.first_step + n];
    stage.first_step = stage.step_count > 0 ? step_count : 0;
    step_count += stage.step_count;
    stages[stage_count++] = stage;
    if (last) return;
  }
}

}  // namespace coldpress
