// Mocha's tests of topology (test/net/topology.jl, test/layers/inplace.jl), but for its ban on two readers of a value:
// their gradients add up.
#include "tensors.hpp"

namespace {

using namespace coldpress;
using namespace coldpress::test;

LayerConfig net(std::vector<LayerConfig> layers, std::vector<std::string> outputs) {
  LayerConfig config = sequential(std::move(layers), Shape{4});
  config.outputs = std::move(outputs);
  return config;
}
LayerConfig fc(std::string name, std::string from, std::string to) {
  return wired({std::move(name), Linear{4}}, {std::move(from)}, {std::move(to)});
}
template <class E>
void refuses(LayerConfig const& config, std::string const& words) {
  CHECK(says(error_of<E>([&] { Net::from_config(Backend{}, config); }), words));
}
Floats output_of(LayerConfig const& config) {
  Net made = Net::from_config(Backend{}, config, {}, 1);
  return values_of(made.forward(noise({2, 4}, 1)));
}

}  // namespace

TEST_CASE("a value made twice, one made by nobody, and a loop are refused") {
  refuses<ConfigError>(net({fc("a", "data", "x"), fc("b", "data", "x")}, {"x"}), "'x' is made twice");
  refuses<ConfigError>(net({fc("a", "data", "x"), fc("b", "nothing", "y")}, {"y"}), "'nothing' is made by no layer");
  refuses<ConfigError>(net({fc("a", "z", "x"), fc("b", "x", "y"), fc("c", "y", "z")}, {"z"}),
                       "a cycle: 'a' needs 'c', which needs 'b', which needs what 'a' makes");
}

TEST_CASE("weights whose values reach no output and no loss are refused") {
  refuses<ConfigError>(net({fc("a", "data", "x"), fc("b", "x", "y"), fc("dangling", "x", "z")}, {"y"}), "has weights");
}

TEST_CASE("layers may be listed in any order") {
  LayerConfig const a = fc("a", "data", "x"), b = fc("b", "x", "y"), c = wired({"c", TanH{}}, {"y"}, {"z"});
  Floats const wanted = output_of(net({a, b, c}, {"z"}));
  for (auto const& layers : {std::vector{c, b, a}, std::vector{b, a, c}, std::vector{b, c, a}})
    CHECK(same_bits(wanted, output_of(net(layers, {"z"}))));
  // One without inputs reads what the layer before it in the list makes, and waits for that.
  LayerConfig const nameless = wired({"c", TanH{}}, {}, {"z"});
  CHECK(same_bits(wanted, output_of(net({b, nameless, a}, {"z"}))));
}

TEST_CASE("a source waits for no layer, also where it is listed behind one that waits for it") {
  LayerConfig const noise_layer = wired({"noise", RandomNormal{.shape = {4}}}, {}, {"noise"}),
                    sum = wired({"sum", Add{}}, {"x", "noise"}, {"y"}), a = fc("a", "data", "x");
  Floats const wanted = output_of(net({noise_layer, a, sum}, {"y"}));
  for (auto const& layers : {std::vector{a, sum, noise_layer}, std::vector{sum, noise_layer, a}})
    CHECK(same_bits(wanted, output_of(net(layers, {"y"}))));
}

TEST_CASE("what works in place comes before other readers, in the order of the list") {
  LayerConfig const ip1 = fc("ip1", "data", "x"), ip2 = fc("ip2", "x", "y");
  LayerConfig const tanh = wired({"tanh", TanH{}}, {"x"}, {"x"}), sigmoid = wired({"sigmoid", Sigmoid{}}, {"x"}, {"x"});
  Floats const wanted = output_of(net({ip1, tanh, sigmoid, ip2}, {"y"}));
  CHECK(same_bits(wanted, output_of(net({ip2, tanh, sigmoid, ip1}, {"y"}))));
  CHECK(same_bits(wanted, output_of(net({tanh, ip2, ip1, sigmoid}, {"y"}))));
  CHECK_FALSE(same_bits(wanted, output_of(net({ip2, sigmoid, tanh, ip1}, {"y"}))));
}
