// Run-time networks whose dense matrices are in bfloat16: the bits of the type, at half the bytes, for inference.
#include <coldpress/backend/cpu_bfloat16.hpp>
#include <coldpress/coldpress.hpp>
#include <coldpress/dynamic.hpp>
#include <coldpress/dynamic/register_layer.hpp>

#include "support/catch.hpp"
#include "support/custom_layers.hpp"
#include "support/layer_laws.hpp"

using namespace coldpress;

namespace {

constexpr auto autoencoder = [](auto x) {
  auto const code = x | Convolution{.num_output = 3, .filter_shape = 3} | Linear{40};
  return code | TanH{} | tied(code) | Linear{7};
};
using Net = Graph<graph(autoencoder)>;
constexpr Shape in{2, 6, 5};

dynamic::Layer halved() {
  dynamic::Backend const backend{dynamic::Backend::like_static().name(), {.bfloat16 = true}};
  auto layer = dynamic::Layer::from_config(backend, dynamic::to_config<Net, in>(), {}, 5);
  layer.set_mode(dynamic::Mode::inference);
  return layer;
}

}  // namespace

TEST_CASE("a config gives the bits of the type, weights too") {
  Network<Net, in, DynamicBatch, CpuBfloat16> net{5};
  dynamic::Layer layer = halved();
  auto const weights = layer.learnable_weights_data();
  REQUIRE(static_cast<int>(weights.size()) == net.weight_count);
  for (int i = 0; i < net.weight_count; ++i) {
    std::vector<float> values(static_cast<std::size_t>(net.weight_shape(i).size()));
    net.read_weight(i, values);
    CHECK(test::same_bits(values, weights[static_cast<std::size_t>(i)].read()));
  }
  for (Index const batch : {1, 5}) {
    auto const x = test::Random{1}.values<float>(batch * in.size());
    CHECK(test::same_bits(test::copy_of<float>(net.forward(x)), layer.forward(std::span<float const>{x})));
  }
}

TEST_CASE("training says that it needs floats, and leaves the network as it was") {
  dynamic::Layer layer = halved();
  auto const x = test::Random{1}.values<float>(in.size());
  auto const before = test::copy_of<float>(layer.forward(std::span<float const>{x}));
  dynamic::SolverConfig config{.network = dynamic::to_config<Net, in>(),
                               .objective = dynamic::LayerConfig{"loss", MeanSquaredError{}}};
  dynamic::Backend const backend{"cpu", {.bfloat16 = true}};
  auto solver = dynamic::Solver::from_config(backend, backend, config, {}, 5);
  std::vector<float> const y(7);
  CHECK_THROWS_AS(solver.train_minibatch(std::span<float const>{x}, std::span<float const>{y}), UnsupportedError);
  layer.set_mode(dynamic::Mode::training);
  layer.forward(std::span<float const>{x});
  dynamic::SharedTensor const gradient{{1, 7}};
  CHECK_THROWS_AS(layer.backward_input(gradient), UnsupportedError);
  layer.set_mode(dynamic::Mode::inference);
  CHECK(test::same_bits(before, layer.forward(std::span<float const>{x})));
}

TEST_CASE("what reads its weights as floats is refused") {
  CHECK_THROWS_AS((dynamic::Backend{"cpu:reference", {.bfloat16 = true}}), UnsupportedError);
  dynamic::register_layer<custom_layers::Mixing>();
  dynamic::Backend const backend{"cpu", {.bfloat16 = true}};
  CHECK_THROWS_AS((dynamic::Layer::from_config(
                      backend, dynamic::to_config<Sequential<custom_layers::Mixing{.units = 3}>, Shape{4}>(), {}, 1)),
                  UnsupportedError);
}
