// Policies by name, with the names and formulas of Caffe, Juice, Mocha and PyTorch, and lists of them.
#pragma once

#include <coldpress/optim/policy.hpp>

namespace coldpress {

/// A policy gives the learning rate or the momentum of iteration i = 0, 1, ..., an iteration being one update of the
/// weights. `base` is the optimizer's number.
namespace policy {

/// base
struct Fixed {
  constexpr operator Policy() const { return Policy{}; }
};
/// base gamma^floor(i / stepsize), but not above max unless that is 0
struct Step {
  float gamma = 0.1f;
  Index stepsize = 10;
  float max = 0;
  constexpr operator Policy() const {
    return {.stages = {{.kind = Policy::Kind::step, .factor = 1, .gamma = gamma, .max = max, .stepsize = stepsize}}};
  }
};
/// base gamma^(number of steps that are <= i); there are at most 16 steps, ascending from 1
struct Multistep {
  float gamma = 0.1f;
  Index steps[Policy::max_steps];
  constexpr operator Policy() const {
    Policy made{.stages = {{.kind = Policy::Kind::multistep, .factor = 1, .gamma = gamma}}};
    for (int n = 0; n < Policy::max_steps; ++n) {
      made.steps[n] = steps[n];
      if (steps[n] != 0) made.step_count = made.stages[0].step_count = n + 1;
    }
    return made;
  }
};
/// base gamma^i
struct Exp {
  float gamma = 0.1f;
  constexpr operator Policy() const { return {.stages = {{.kind = Policy::Kind::exp, .factor = 1, .gamma = gamma}}}; }
};
/// base (1 + gamma i)^-power
struct Inv {
  float gamma = 0.1f, power = 1;
  constexpr operator Policy() const {
    return {.stages = {{.kind = Policy::Kind::inv, .factor = 1, .gamma = gamma, .power = power}}};
  }
};
/// base (1 - i / max_iter)^power, and 0 from max_iter on
struct Poly {
  float power = 1;
  Index max_iter;
  constexpr operator Policy() const {
    return {.stages = {{.kind = Policy::Kind::poly, .factor = 1, .power = power, .max_iter = max_iter}}};
  }
};
/// base / (1 + e^(-gamma (i - stepsize))); the number falls if gamma is negative
struct Sigmoid {
  float gamma = 0.1f;
  Index stepsize = 10;
  constexpr operator Policy() const {
    return {.stages = {{.kind = Policy::Kind::sigmoid, .factor = 1, .gamma = gamma, .stepsize = stepsize}}};
  }
};
/// base + gamma floor(i / stepsize), but not above max unless that is 0
struct Linear {
  float gamma = 0.1f;
  Index stepsize = 10;
  float max = 0;
  constexpr operator Policy() const {
    return {.stages = {{.kind = Policy::Kind::linear, .factor = 1, .gamma = gamma, .max = max, .stepsize = stepsize}}};
  }
};
/// base (start + (1 - start) i / max_iter), and base from max_iter on
struct Warmup {
  Index max_iter;
  float start = 0.1f;
  constexpr operator Policy() const {
    return {.stages = {{.kind = Policy::Kind::warmup, .factor = 1, .start = start, .max_iter = max_iter}}};
  }
};
/// base (end + (1 - end) (1 + cos(pi i / max_iter)) / 2), and base end from max_iter on
struct Cosine {
  Index max_iter;
  float end = 0;
  constexpr operator Policy() const {
    return {.stages = {{.kind = Policy::Kind::cosine, .factor = 1, .end = end, .max_iter = max_iter}}};
  }
};
/// Cosines that start again at base: the first takes `period` iterations, each of the others `multiplier` times as many
/// as the one before (Loshchilov and Hutter 2017).
struct CosineRestarts {
  Index period, multiplier = 1;
  float end = 0;
  constexpr operator Policy() const {
    return {.stages = {{.kind = Policy::Kind::cosine_restarts,
                        .factor = 1,
                        .end = end,
                        .period = period,
                        .multiplier = multiplier}}};
  }
};
/// Smith's cycle with the formulas and defaults of PyTorch's OneCycleLR: half a cosine from base start to base at
/// iteration rise max_iter - 1, and another one to base end at max_iter - 1. As the policy of a momentum, with `start`
/// and `end` above 1, it is the inverse cycle.
struct OneCycle {
  Index max_iter;
  float rise = 0.3f, start = 0.04f, end = 4e-6f;
  constexpr operator Policy() const {
    return {.stages = {{.kind = Policy::Kind::one_cycle,
                        .factor = 1,
                        .start = start,
                        .end = end,
                        .rise = rise,
                        .max_iter = max_iter}}};
  }
};

/// A policy in a list. It holds for `iterations` iterations, which it counts from 0, and its base is multiplied by
/// `factor`.
struct Stage {
  Index iterations = none;
  Policy policy = {};
  float factor = 1;
  static constexpr Index none = std::numeric_limits<Index>::min();  // the stage that is not there
};
/// One policy after another. The last one never ends, whatever its iterations. A policy may itself be a Staged, which
/// is cut off after the iterations of its stage; there are at most 8 stages in all.
struct Staged {
  Policy all;
  constexpr Staged(Stage const& a, Stage const& b = {}, Stage const& c = {}, Stage const& d = {}, Stage const& e = {},
                   Stage const& f = {}, Stage const& g = {}, Stage const& h = {})
      : all{.stages = {{}}, .stage_count = 0} {
    Stage const* const given[] = {&a, &b, &c, &d, &e, &f, &g, &h};
    int count = 1;
    while (count < Policy::max_stages && given[count]->iterations != Stage::none) ++count;
    for (int s = 0; s < count; ++s)
      all.append(s + 1 < count ? given[s]->iterations : 0, given[s]->policy, given[s]->factor);
  }
  constexpr operator Policy() const { return all; }
};

}  // namespace policy
namespace lr = policy;

}  // namespace coldpress
