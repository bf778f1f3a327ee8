#include <coldpress/coldpress.hpp>

#include "support/catch.hpp"
#include "support/layer_laws.hpp"

using namespace coldpress;

namespace {

using Mlp = Sequential<Linear{21}, ReLU{}, Linear{19}, TanH{}, Linear{5}, LogSoftmax{}>;
using Net = Network<Mlp, Shape{3, 6}>;

}  // namespace

TEST_CASE("a sample's output does not depend on the others, nor on batches before it") {
  auto net = test::random_network<Net>(1);
  test::Random random{1};
  auto const x = random.values<float>(40 * 18);
  auto const all = test::copy_of<float>(net.forward(x));
  for (Index const batch : {2, 40, 3, 17, 39, 40, 2}) {
    Index const first = random.integer(0, 40 - batch);
    std::span<float const> const some{x.data() + first * 18, static_cast<std::size_t>(batch) * 18};
    auto const y = net.forward(some);
    CHECK(y.batch == batch);
    CHECK(test::same_bits(y, std::span{all.data() + first * 5, static_cast<std::size_t>(batch) * 5}));
  }
}

TEST_CASE("one sample is summed in another order, within the bound of float arithmetic, and always in the same one") {
  auto net = test::random_network<Net>(1);
  Network<Mlp, Shape{3, 6}, Batch<1>> live{1};
  for (int i = 0; i < net.weight_count; ++i) {
    std::vector<float> weight(static_cast<std::size_t>(net.weight_shape(i).size()));
    net.read_weight(i, weight);
    live.write_weight(i, weight);
  }
  auto const x = test::Random{1}.values<float>(2 * 18);
  auto const both = test::copy_of<double>(net.forward(x));
  auto const one = test::copy_of<float>(net.forward(std::span{x.data(), 18}));
  CHECK(test::excess(one, std::span{both.data(), 5}, 21) < 1);
  CHECK(test::same_bits(one, live.forward(std::span{x.data(), 18})));
}

TEST_CASE("inputs and gradients of the wrong size are refused") {
  Net net;
  Network<Mlp, Shape{3, 6}, Batch<2>> fixed;
  Net::TrainingWorkspace workspace;
  std::vector<float> const two(36), half(27), none;
  CHECK_THROWS_AS(net.forward(half), ShapeError);
  CHECK_THROWS_AS(net.forward(none), ShapeError);
  CHECK_THROWS_AS(fixed.forward(std::vector<float>(18)), ShapeError);
  CHECK_THROWS_AS(fixed.forward(std::vector<float>(54)), ShapeError);
  CHECK_NOTHROW(fixed.forward(two));
  CHECK_THROWS_AS(net.backward(std::vector<float>(10), workspace), ShapeError);
  CHECK_THROWS_AS(net.forward_training(two, workspace, 0), ShapeError);
  net.forward_training(two, workspace);
  CHECK_THROWS_AS(net.backward(std::vector<float>(9), workspace), ShapeError);
  CHECK_THROWS_AS(net.backward(std::vector<float>(15), workspace), ShapeError);
  CHECK_NOTHROW(net.backward(std::vector<float>(10), workspace));
}

TEST_CASE("weights are read and written by position and name, in canonical order") {
  Net net{1};
  CHECK(net.weight_count == 6);
  std::vector<std::string> names;
  for (int i = 0; i < net.weight_count; ++i) names.emplace_back(net.weight_name(i).view());
  CHECK(names == std::vector<std::string>{"linear1-0", "linear1-0-bias", "linear2-0", "linear2-0-bias", "linear3-0",
                                          "linear3-0-bias"});
  CHECK((net.weight_shape(0) == Shape{21, 18} && net.weight_shape(1) == Shape{21} &&
         net.weight_shape(4) == Shape{5, 19}));
  CHECK(Net::weight_index("linear2-0-bias") == 3);
  CHECK_THROWS_AS(Net::weight_index("linear4-0"), ConfigError);

  test::Random random{1};
  for (int i = 0; i < net.weight_count; ++i) {
    auto const values = random.values<float>(net.weight_shape(i).size());
    net.write_weight(i, values);
    std::vector<float> again(values.size());
    net.read_weight(i, again);
    CHECK(again == values);
  }
  std::vector<float> wrong(7);
  CHECK_THROWS_AS(net.write_weight(0, wrong), ShapeError);
  CHECK_THROWS_AS(net.read_weight(0, wrong), ShapeError);
  CHECK_THROWS_AS(net.write_weight(6, wrong), ShapeError);
  CHECK_THROWS_AS(net.write_weight(-1, wrong), ShapeError);
}

TEST_CASE("a network that was moved from says so, whatever it is asked") {
  Net net{1};
  Net const taken = std::move(net);
  std::vector<float> weight(21 * 18);
  std::string const moved = "network: has been moved from";
  CHECK_THROWS_WITH(net.forward(std::vector<float>(18)), moved);
  CHECK_THROWS_WITH(net.read_weight(0, weight), moved);
  CHECK_THROWS_WITH(net.write_weight(0, weight), moved);
  CHECK_THROWS_WITH(net.read(weight.data(), 0, weight), moved);
  CHECK_THROWS_WITH(net.parameters(), moved);
  CHECK_THROWS_WITH(std::as_const(net).parameters(), moved);
  CHECK_NOTHROW(taken.read_weight(0, weight));
}

TEST_CASE("what is refused is said with its numbers") {
  Net net;
  Network<Mlp, Shape{3, 6}, Batch<2>> fixed;
  Net::TrainingWorkspace workspace;
  std::vector<float> const two(36);
  std::vector<float> few(7);
  CHECK_THROWS_WITH(net.forward(std::vector<float>(27)),
                    "network: input 0 must be a whole number of samples, at least one: got 27 values, expected a "
                    "multiple of 18, which a sample of {3, 6} has");
  CHECK_THROWS_WITH(fixed.forward(std::vector<float>(18)),
                    "network: takes 2 samples at a time, as its Batch<N> says, got 1");
  net.forward_training(two, workspace);
  CHECK_THROWS_WITH(net.backward(std::vector<float>(9), workspace),
                    "backward: the gradient of an output: got 9 values, expected 10 (2 samples of {5})");
  CHECK_THROWS_WITH(net.read_weight(0, few), "network: weight 'linear1-0' of shape {21, 18} has 378 values, got 7");
  CHECK_THROWS_WITH(net.write_weight(6, few), "network: no weight has number 6; there are 6");
}

TEST_CASE("a copied network is another network") {
  auto net = test::random_network<Net>(1);
  auto copy = net;
  auto const x = test::Random{1}.values<float>(3 * 18);
  auto const y = test::copy_of<float>(net.forward(x));
  CHECK(test::same_bits(y, copy.forward(x)));
  copy.write_weight(1, std::vector<float>(21, 9));
  CHECK(!test::same_bits(y, copy.forward(x)));
  CHECK(test::same_bits(y, net.forward(x)));
}

TEST_CASE("copies of a network, and those that a vector moves, have outputs of their own") {
  static constexpr auto two = graph([](auto x) {
    auto const a = x | Linear{3} | TanH{};
    return outputs(a | Linear{2} | name("y"), a | Linear{4} | name("z"));
  });
  auto const check = [&]<class Two>(Two*) {
    std::vector<Two> nets(1);
    auto const x = test::Random{1}.values<float>(4), other = test::Random{2}.values<float>(4);
    nets[0].forward(x);
    auto const y = test::copy_of<float>(nets[0].template output<"y">()),
               z = test::copy_of<float>(nets[0].template output<"z">());
    Two const copy = nets[0];
    nets[0].forward(other);
    CHECK(test::same_bits(copy.template output<"y">(), y));
    CHECK(test::same_bits(copy.template output<"z">(), z));
    nets[0].forward(x);
    nets.resize(nets.capacity() + 1);
    CHECK(test::same_bits(nets[0].template output<"y">(), y));
    CHECK(test::same_bits(nets[0].template output<"z">(), z));
  };
  check(static_cast<Network<Graph<two>, Shape{4}>*>(nullptr));
  check(static_cast<Network<Graph<two>, Shape{4}, Batch<1>>*>(nullptr));
}

TEST_CASE("an output that is an input stays where it is, also if the memory grows") {
  static constexpr auto passed =
      graph([](auto x) { return outputs(x | Linear{3} | name("y"), x | Flatten{} | name("z")); });
  Network<Graph<passed>, Shape{2, 2}> net{1};
  std::vector<float> const x{7, 8, 9, 10};
  net.forward(x);
  CHECK(net.output<"z">().data() == x.data());
  net.reserve(20000);
  CHECK(net.output<"z">().data() == x.data());
}

TEST_CASE("a number may be on either side of an operation") {
  static constexpr auto function = graph([](auto x) {
    return outputs(x / 4.0f | name("x/4"), 3.0f / x | name("3/x"), 1.5f + x | name("1.5+x"), 2.0f - x | name("2-x"),
                   2.0f * x | name("2*x"), x - 2.0f | name("x-2"));
  });
  Network<Graph<function>, Shape{2}> net;
  float const x[] = {0.5f, -3};
  net.forward(x);
  auto const is = [](auto const& y, float first, float second) {
    CHECK((y.values[0] == first && y.values[1] == second));
  };
  is(net.output<"x/4">(), 0.125f, -0.75f);
  is(net.output<"3/x">(), 6, -1);
  is(net.output<"1.5+x">(), 2, -1.5f);
  is(net.output<"2-x">(), 1.5f, 5);
  is(net.output<"2*x">(), 1, -6);
  is(net.output<"x-2">(), -1.5f, -5);
}

TEST_CASE("outputs are seen sample by sample") {
  auto net = test::random_network<Net>(1);
  auto const y = net.forward(test::Random{1}.values<float>(3 * 18));
  CHECK((y.batch == 3 && y.size() == 15));
  CHECK(y.sample(2).size() == 5);
  CHECK(y.sample(2)[1] == y[11]);
  std::span<float const> const all = y;
  CHECK(all.data() == y.data());
}

TEST_CASE("a network of views alone gives its input back") {
  Network<Sequential<Reshape{{3, 2}}, Flatten{}>, Shape{6}> net;
  std::vector<float> const x{1, 2, 3, 4, 5, 6};
  CHECK(test::copy_of<float>(net.forward(x)) == x);
}
