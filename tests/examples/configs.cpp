// The configs in examples/configs: all can be read, and the large networks among them run (at night all).
#include "dynamic/tensors.hpp"
#include "tools/command.hpp"

#include <coldpress/dynamic/describe.hpp>
#include <coldpress/dynamic/to_config.hpp>
#include <coldpress/persist.hpp>

namespace {

using namespace coldpress;
using namespace coldpress::test;

LayerConfig network(std::string const& name) {
  return persist::read_training(command::source_file("examples/configs/" + name + ".capnp.txt")).network;
}

/// Describes itself and, if it `runs`, computes a gradient that is the slope of its output.
void check_runs(std::string const& name, Index weights, bool runs = COLDPRESS_NIGHTLY) {
  LayerConfig const config = network(name);
  CHECK(dynamic::describe(config).find("linear3") != std::string::npos);
  Index count = 0;
  for (auto const& weight : dynamic::weights_of(config)) count += weight.shape.size();
  CHECK(count == weights);
  if (!runs) return;

  Net net = Net::from_config({}, config, {}, 1);
  CHECK(net.output_shape() == Shape{1000});
  Shape const in = net.input_shape();
  SharedTensor const x = noise({1, in[0], in[1], in[2]}, 1), dy = noise({1, 1000}, 2);
  net.forward(x);
  Floats const dx = values_of(net.backward(dy));
  double slope = 0, largest = 0;
  for (float const d : dx) slope += double{d} * double{d}, largest = std::max(largest, std::abs(double{d}));
  REQUIRE(largest > 0);
  double const step = 1e-3 / largest;
  auto const at = [&](double way) {
    Floats moved = values_of(x);
    for (std::size_t i = 0; i < dx.size(); ++i) moved[i] += static_cast<float>(way * step * double{dx[i]});
    auto const y = net.predict(moved);
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) sum += double{y[i]} * double{dy.read()[i]};
    return sum;
  };
  CHECK((at(1) - at(-1)) / (2 * step) == Approx(slope).epsilon(0.02));
  double sum = 0;
  for (float const g : net.learnable_weights_gradients()[0].read()) sum += std::abs(double{g});
  CHECK(std::isfinite(sum));
  CHECK(sum > 0);
}

}  // namespace

TEST_CASE("every example config is read") {
  int configs = 0;
  for (auto const& entry : std::filesystem::directory_iterator{command::source_file("examples/configs")}) {
    if (!entry.path().string().ends_with(".capnp.txt")) continue;
    INFO(entry.path());
    CHECK_NOTHROW(persist::read_training(entry.path()));
    ++configs;
  }
  CHECK(configs >= 10);
}

// For each commit only the smallest of them runs; the others are described. The numbers of weights are those of torchvision's alexnet and vgg11, and
// the 145 million of Overfeat's table 3.
TEST_CASE("AlexNet runs forward and backward") { check_runs("alexnet", 61'100'840, true); }
TEST_CASE("Overfeat runs forward and backward") { check_runs("overfeat", 145'920'872); }
TEST_CASE("VGG-A runs forward and backward") { check_runs("vgg-a", 132'863'336); }
