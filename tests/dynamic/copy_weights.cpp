#include "tensors.hpp"

#include <coldpress/dynamic/copy_weights.hpp>

#include <map>

namespace {

using namespace coldpress;
using namespace coldpress::test;

Net network(Index hidden, std::string const& last, std::uint64_t seed, std::string const& backend = "cpu") {
  return Net::from_config(
      Backend{backend},
      sequential(
          {{"hidden", Linear{.output_size = hidden}}, {"norm", BatchNormalization{}}, {last, Linear{.output_size = 2}}},
          Shape{3}),
      {}, seed);
}
std::map<std::string, Floats> weights_of_all(Net const& net) {
  std::map<std::string, Floats> all;
  for (std::size_t i = 0; i < net.learnable_weights_names().size(); ++i)
    all[net.learnable_weights_names()[i]] = values_of(net.learnable_weights_data()[i]);
  return all;
}

TEST_CASE("a network takes the weights that another one has under the same names") {
  Net const from = network(4, "last", 1);
  for (SharedTensor const& weight : from.learnable_weights_data()) {  // statistics would be 0 and 1 in both
    for (float& value : weight.read_write()) value += 0.25f;
  }
  Net to = network(4, "new", 2, "cpu:reference");
  auto const before = weights_of_all(to), there = weights_of_all(from);
  auto const done = dynamic::copy_weights(from, to);
  CHECK(done.copied.size() == 6);
  CHECK(done.missing == std::vector<std::string>{"new-0", "new-0-bias"});
  CHECK(done.unused == std::vector<std::string>{"last-0", "last-0-bias"});
  for (auto const& [name, values] : weights_of_all(to))
    CHECK(values == (name.starts_with("new") ? before.at(name) : there.at(name)));
  SharedTensor const x = noise({5, 3}, 1);
  Net same = network(4, "last", 3), other = network(4, "last", 4);
  dynamic::copy_weights(from, same), dynamic::copy_weights(from, other);
  CHECK(same_bits(values_of(same.forward(x)), values_of(other.forward(x))));  // they compute with what was copied
}

TEST_CASE("weights of another shape, or of other names, are refused, and nothing changes") {
  Net const from = network(4, "last", 1);
  Net to = network(5, "last", 2);
  auto const before = weights_of_all(to);
  CHECK(says(error_of<MismatchError>([&] { dynamic::copy_weights(from, to); }),
             "the weight 'hidden-0' has the shape {4, 3}, expected {5, 3}"));
  CHECK(weights_of_all(to) == before);
  Net const stranger = Net::from_config(Backend{}, sequential({{"a", Linear{2}}}, Shape{3}), {}, 1);
  CHECK(says(error_of<MismatchError>([&] { dynamic::copy_weights(stranger, to); }), "has no weight"));
}

}  // namespace
