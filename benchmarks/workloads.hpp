// The workloads, each once: network, sample shape, loss and batch. Both paths run these.
#pragma once

#include "timing.hpp"

#include <coldpress/coldpress.hpp>

namespace bench {

using namespace coldpress;

inline constexpr Sgd optimizer{.learning_rate = 1e-3f, .momentum = 0.9f};

struct T1 {
  static constexpr char const* id = "T1";
  using Net = Sequential<Linear{128}, ReLU{}, Linear{10}, LogSoftmax{}>;
  static constexpr Shape shape{784};
  static constexpr NegativeLogLikelihood loss{10};
  static constexpr Index batch = 64;
};
struct T2 {
  static constexpr char const* id = "T2";
  using Net = Sequential<Linear{512}, ReLU{}, Linear{512}, ReLU{}, Linear{10}, LogSoftmax{}>;
  static constexpr Shape shape{784};
  static constexpr NegativeLogLikelihood loss{10};
  static constexpr Index batch = 128;
};
struct T4 {
  static constexpr char const* id = "T4";
  using Net = Sequential<Linear{64}, TanH{}, Linear{64}, TanH{}, Linear{6}>;
  static constexpr Shape shape{17};
  static constexpr MeanSquaredError loss{};
  static constexpr Index batch = 256;
};
struct I1 {
  static constexpr char const* id = "I1";
  using Net = Sequential<Linear{128}, ReLU{}, Linear{10}>;
  static constexpr Shape shape{784};
  static constexpr Index batch = 1;
};
struct I6 : I1 {
  static constexpr char const* id = "I6";
  static constexpr Index batch = 64;
};
struct I2 {
  static constexpr char const* id = "I2";
  using Net = T4::Net;
  static constexpr Shape shape{17};
  static constexpr Index batch = 1;
};

template <class W>
concept Trains = requires {
  W::loss;
};

template <class W>
std::vector<float> inputs() {
  return noise(static_cast<std::size_t>(W::batch * W::shape.size()), 3, 1);
}
template <class W>
std::vector<float> targets(Index size) {
  std::vector<float> values(static_cast<std::size_t>(W::batch * size), 0.3f);
  if constexpr (decltype(W::loss)::target == Target::label) {
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(i * 7 % static_cast<std::size_t>(W::loss.num_classes));
  }
  return values;
}

/// Warm-up steps that show the loss falling, then the time of a step.
template <class W, class Step>
void time_training(Options const& options, Step step) {
  double const first = static_cast<double>(step());
  double last = first;
  for (int i = 0; i < 20; ++i) last = static_cast<double>(step());
  report_loss(W::id, first, last);
  report(options, W::id, step);
}

}  // namespace bench
