// Learning-rate policies with Caffe's and Juice's names and formulas: the rate of iteration i = 0, 1, ...
#pragma once

#include <coldpress/core/fields.hpp>
#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/shape.hpp>
#include <coldpress/core/spelling.hpp>

#include <cstdint>

namespace coldpress {

/// A policy, made from one of the structs in namespace lr. An iteration is one update of the weights.
struct LRPolicy {
  enum class Kind { fixed, step, multistep, exp, inv, poly, sigmoid };
  static constexpr int max_steps = 16;
  Kind kind = Kind::fixed;
  float gamma = 0, power = 0;
  Index stepsize = 0, max_iter = 0;
  Index steps[max_steps] = {};  // terminated by a zero

  constexpr std::string_view name() const;
  float rate(float base, std::uint64_t iteration) const {
    if (kind == Kind::fixed) return base;
    return static_cast<float>(static_cast<double>(base) * factor(iteration));
  }
  /// Whether the numbers that the policy divides by are positive; check_numbers(SolverConfig) checks more.
  constexpr bool sane() const {
    return (kind != Kind::step || stepsize > 0) && (kind != Kind::poly || max_iter > 0) &&
           (kind != Kind::multistep || steps[0] > 0);
  }
  bool operator==(LRPolicy const&) const = default;

 private:
  double factor(std::uint64_t iteration) const {
    auto const i = static_cast<double>(iteration), g = static_cast<double>(gamma), p = static_cast<double>(power);
    switch (kind) {
      case Kind::fixed:
        return 1;
      case Kind::step:
        return freestanding::pow(g, static_cast<double>(iteration / static_cast<std::uint64_t>(stepsize)));
      case Kind::multistep: {
        int done = 0;
        while (done < max_steps && steps[done] > 0 && iteration >= static_cast<std::uint64_t>(steps[done])) ++done;
        return freestanding::pow(g, done);
      }
      case Kind::exp:
        return freestanding::pow(g, i);
      case Kind::inv:
        return freestanding::pow(1 + g * i, -p);
      case Kind::poly:
        return freestanding::pow(freestanding::max(0.0, 1 - i / static_cast<double>(max_iter)), p);
      case Kind::sigmoid:
        return 1 / (1 + freestanding::exp(-g * (i - static_cast<double>(stepsize))));
    }
    return 1;
  }
};
constexpr auto spellings(LRPolicy::Kind) {
  return std::array<std::string_view, 7>{"fixed", "step", "multistep", "exp", "inv", "poly", "sigmoid"};
}
constexpr std::string_view LRPolicy::name() const { return spelling(kind); }

namespace lr {

/// base
struct Fixed {
  constexpr operator LRPolicy() const { return {}; }
};
/// base gamma^floor(i / stepsize)
struct Step {
  float gamma = 0.1f;
  Index stepsize = 10;
  constexpr operator LRPolicy() const { return {.kind = LRPolicy::Kind::step, .gamma = gamma, .stepsize = stepsize}; }
};
/// base gamma^(number of steps that are <= i); there are at most 16 steps, ascending from 1
struct Multistep {
  float gamma = 0.1f;
  Index steps[LRPolicy::max_steps];
  constexpr operator LRPolicy() const {
    LRPolicy policy{.kind = LRPolicy::Kind::multistep, .gamma = gamma};
    for (int n = 0; n < LRPolicy::max_steps; ++n) policy.steps[n] = steps[n];
    return policy;
  }
};
/// base gamma^i
struct Exp {
  float gamma = 0.1f;
  constexpr operator LRPolicy() const { return {.kind = LRPolicy::Kind::exp, .gamma = gamma}; }
};
/// base (1 + gamma i)^-power
struct Inv {
  float gamma = 0.1f, power = 1;
  constexpr operator LRPolicy() const { return {.kind = LRPolicy::Kind::inv, .gamma = gamma, .power = power}; }
};
/// base (1 - i / max_iter)^power, and 0 from max_iter on
struct Poly {
  float power = 1;
  Index max_iter;
  constexpr operator LRPolicy() const { return {.kind = LRPolicy::Kind::poly, .power = power, .max_iter = max_iter}; }
};
/// base / (1 + e^(-gamma (i - stepsize))); the rate falls if gamma is negative
struct Sigmoid {
  float gamma = 0.1f;
  Index stepsize = 10;
  constexpr operator LRPolicy() const {
    return {.kind = LRPolicy::Kind::sigmoid, .gamma = gamma, .stepsize = stepsize};
  }
};

}  // namespace lr
}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::LRPolicy, kind, gamma, power, stepsize, max_iter, steps);
