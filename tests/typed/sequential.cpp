#include <coldpress/coldpress.hpp>

#include "support/catch.hpp"
#include "support/layer_laws.hpp"

using namespace coldpress;

namespace {

using Block = Sequential<Linear{8}, TanH{}>;
using Nested = Sequential<Block{}, Sequential<Block{}, ReLU{}>{}, Linear{3}>;
using Flat = Sequential<Linear{8}, TanH{}, Linear{8}, TanH{}, ReLU{}, Linear{3}>;

template <class Net, Shape in>
std::vector<std::string> names() {
  std::vector<std::string> result;
  for (Name const& name : StaticGraph<Net, in>::names) result.emplace_back(name.view());
  return result;
}

}  // namespace

static_assert(Nested{}.output_shape({5}) == Shape{3} && Flat{}.output_shape({5}) == Shape{3});
static_assert(StaticGraph<Nested, Shape{5}>::size == 7);
static_assert(Sequential<>{}.output_shape({4}) == Shape{4});

TEST_CASE("a nested Sequential is the flat one: names, parameters, outputs, training") {
  CHECK(names<Nested, Shape{5}>() == names<Flat, Shape{5}>());
  using A = Network<Nested, Shape{5}>;
  using B = Network<Flat, Shape{5}>;
  CHECK(test::same_bits(A{7}.parameters(), B{7}.parameters()));
  CHECK(test::same_bits(test::trained<A, MeanSquaredError{}>(6, 1), test::trained<B, MeanSquaredError{}>(6, 1)));
}

TEST_CASE("layers are called by their type and a running number, or as they are named") {
  using Net = Sequential<Linear{4}, ReLU{}, Named<"hidden", Linear{4}>{}, ReLU{}, Linear{2}>;
  CHECK(names<Net, Shape{5}>() == std::vector<std::string>{"", "linear1", "relu1", "hidden", "relu2", "linear2"});
  Network<Net, Shape{5}> net{1};
  CHECK(net.weight_index("hidden-0") == 2);
  CHECK(net.weight_name(5).view() == "linear2-0-bias");
}

TEST_CASE("a named layer computes what it computed; its name decides its initial values") {
  using Named1 = Network<Sequential<Named<"linear1", Linear{4}>{}>, Shape{5}>;
  using Named2 = Network<Sequential<Named<"other", Linear{4}>{}>, Shape{5}>;
  using Plain = Network<Sequential<Linear{4}>, Shape{5}>;
  CHECK(test::same_bits(Named1{3}.parameters(), Plain{3}.parameters()));
  CHECK(!test::same_bits(Named2{3}.parameters(), Plain{3}.parameters()));
  CHECK(
      test::same_bits(test::trained<Named2, MeanSquaredError{}>(6, 1), test::trained<Plain, MeanSquaredError{}>(6, 1)));
}
