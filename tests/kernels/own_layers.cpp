#include "support/custom_layers.hpp"
#include "support/forms.hpp"

using namespace coldpress;
using namespace coldpress::test;
using namespace custom_layers;

TEST_CASE("layers of the program's own work over linked kernels") {
  check_forms<
      Sequential<Linear{12}, Snake{0.5f}, Jitter{}, Gains{}, Mixing{6}, Snake{}, Shrink{}, Reverse{}, Linear{3}>,
      Shape{5}, MeanSquaredError{}, Sgd{.learning_rate = 0.05f, .momentum = 0.5f}>();
  static constexpr auto function = graph<Gate, Blend, Staircase>([](auto x) {
    auto a = x | Linear{6}, b = x | Linear{6};
    auto c = apply(Gate{}, a, b);
    return apply(Staircase{}, apply(Blend{0.25f}, c, a), b) | Linear{2};
  });
  check_forms<Graph<function>, Shape{5}>();
  static constexpr auto residual =
      graph<Snake, Mixing>([](auto x) {  // gradients are added where products and maps compute them
        auto a = x | Linear{6} | TanH{};
        auto b = a | Mixing{6} | Snake{};
        return (a * b + (a | Snake{})) | Linear{2};
      });
  check_forms<Graph<residual>, Shape{5}>();
}

namespace {
struct HalfStep {
  static constexpr int states = 1;
  static constexpr bool heavy = false;
  float learning_rate = 0.1f;
  template <class V>
  __attribute__((always_inline)) constexpr void update(V& weight, V gradient, V (&state)[1]) const {
    state[0] = state[0] * 0.5f + gradient;
    weight -= state[0] * learning_rate;
  }
  bool operator==(HalfStep const&) const = default;
};
/// 1/2 |y - t|, smooth.
struct Distance {
  static constexpr std::string_view name = "distance";
  static constexpr Target target = Target::value;
  constexpr Shape target_shape(Shape const& in) const { return in; }
  template <class V>
  __attribute__((always_inline)) constexpr V value(V y, V t) const {
    return (y - t) * (y - t) * 0.25f;
  }
  template <class V>
  __attribute__((always_inline)) constexpr V gradient(V y, V t) const {
    return (y - t) * 0.5f;
  }
  bool operator==(Distance const&) const = default;
};
}  // namespace

TEST_CASE("losses and optimizers of the program's own work over linked kernels") {
  check_forms<Sequential<Linear{12}, TanH{}, Linear{3}>, Shape{5}, Distance{}, HalfStep{}>();
  check_forms<Sequential<Linear{12}, TanH{}, Linear{3}>, Shape{5}, Distance{}, HalfStep{},
              SolverOptions{.clip_gradients = 0.5f}>();
}
