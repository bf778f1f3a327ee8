// Custom layers as types, as a config and from a file, once they are registered: the same bits.
#include <coldpress/dynamic/register_layer.hpp>
#include <coldpress/typed/operations.hpp>

#include "support/custom_layers.hpp"
#include "support/equivalence.hpp"

using namespace coldpress;
using namespace custom_layers;

namespace {

template <class... Layers>
void register_all() {
  (dynamic::register_layer<Layers>(), ...);
}

/// As the processor tells, so that a backend that refuses to run where it could is an error.
std::vector<std::string> backends_of_this_machine() {
  std::vector<std::string> names{"cpu", "cpu:reference"};
#ifdef __x86_64__
  if (__builtin_cpu_supports("sse4.2")) names.push_back("cpu:v2");
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) names.push_back("cpu:v3");
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512cd"))
    names.push_back("cpu:v4");
#endif
  return names;
}

}  // namespace

TEST_CASE("custom layers' pointwise layers and views are the same as types, as a config and in a file") {
  register_all<Snake, Jitter, Column>();
  test::check_equivalence<Sequential<Linear{71}, Snake{0.3f}, Snake{}, Column{}, Linear{5}, ReLU{}, Snake{0.1f},
                                     Jitter{.seed = 9}, Linear{3}>,
                          Shape{6}>();
}
TEST_CASE("custom layers' computations are the same as types, as a config and in a file") {
  register_all<Reverse, Gains, Mixing, Shrink, Delay>();
  test::check_equivalence<
      Sequential<Linear{12}, Reshape{Shape{4, 3}}, Delay{}, TanH{}, Reverse{}, Sigmoid{},
                 Gains{.gain = {.filler = Gaussian{0.5f, 0.125f}, .lr_mult = 0.5f, .max_norm = {2, 3}}}, TanH{},
                 Mixing{.units = 19, .weight = {.decay_mult = 0}}, Shrink{}, Mixing{2}>,
      Shape{5}>();
}
// Alone among built-in layers, so that updates end in gradients' tiles.
TEST_CASE("a custom layer without weights is the same in all forms where the update is fused") {
  dynamic::register_layer<Reverse>();
  test::check_equivalence<Sequential<Linear{5}, TanH{}, Reverse{}, Linear{3}>, Shape{4}>();
}

TEST_CASE(
    "custom layers' joins, sources and layers of several inputs are the same as types, as a config and in a file") {
  register_all<Gate, Blend, Ramp, Staircase>();
  static constexpr auto function = graph<Gate, Blend, Ramp, Staircase>([](auto x) {
    auto const a = x | Linear{6} | TanH{}, b = x | Linear{6};
    auto const gated = apply(Gate{}, a, b) | ReLU{};
    auto const blended = apply(Blend{0.3f}, gated | Linear{6}, a) | Sigmoid{};
    auto const all = apply(Staircase{}, blended, a, source(Ramp{.shape = {6}}, x));
    return all | TanH{} | Linear{2};
  });
  test::check_equivalence<Graph<function>, Shape{5}>();
}

TEST_CASE("a registered layer runs on every backend of the machine, close to the reference") {
  register_all<Snake, Gains, Mixing, Gate>();
  using Net = Network<Sequential<Linear{37}, Snake{0.3f}, Gains{}, Mixing{.units = 5}>, Shape{6}>;
  Net net{3};
  auto const config = dynamic::to_config(net);
  auto const x = test::Random{1}.values<float>(7 * 6);
  auto const expected = net.forward(x);
  for (std::string const& name : backends_of_this_machine()) {
    INFO(name);
    auto layer = dynamic::Layer::from_config(dynamic::Backend{name}, config, {}, 3);
    auto const y = layer.predict(x);
    for (std::size_t i = 0; i < expected.size(); ++i) CHECK(y[i] == Approx(expected.values[i]).margin(1e-5));
  }
}

TEST_CASE("the step of a registered layer that streams is that of the static network") {
  register_all<Delay>();
  using Net = Network<Sequential<Delay{}, TanH{}>, Shape{2, 3}>;
  Net const net{1};
  Net::State state;
  Net::Workspace workspace;
  auto layer = dynamic::Layer::from_config(dynamic::Backend::like_static(), dynamic::to_config(net), {}, 1);
  test::Random random{4};
  for (int call = 0; call < 3; ++call) {
    auto const x = random.values<float>(2 * 2 * 3);
    dynamic::Values const inputs[] = {x};
    CHECK(test::same_bits(net.step(x, state, workspace), layer.executable().stream(inputs)[0]));
  }
}
