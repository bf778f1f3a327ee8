// Functions with several inputs and outputs, shared weights, views and other networks inside, as configs and files.
#include <coldpress/backend/reference.hpp>

#include "support/graph_equivalence.hpp"

#include <cmath>

using namespace coldpress;
using namespace coldpress::test;

namespace {

/// One layer used twice, and one key used twice.
constexpr auto siamese = graph([](auto left, auto right) {
  Handle encode{Linear{7}};
  auto const a = left | name("left") | encode | TanH{}, b = right | name("right") | encode | TanH{};
  auto const c = a | shared("step", Linear{7}) | Sigmoid{}, d = b | shared("step", Linear{7}) | Sigmoid{};
  return outputs(c - d | name("distance"), c * d | Linear{2} | name("scores"));
});

/// Up to eight values one after another, parts of them, and the same values in other shapes.
constexpr auto parts = graph([](auto x) {
  auto const a = x | Linear{6}, b = x | Linear{6} | TanH{};
  auto const both = concat(a, b, a, x | Flatten{}, b, a * b, x | Linear{2}, b);
  auto const [first, second] = split<2>(a);
  auto const rows = both | Linear{6} | Reshape{{2, 3}};
  auto const joined =
      concat(along{1}, rows, b | Reshape{{2, 3}}, first + second | Reshape{{1, 3}} | Linear{2} | Reshape{{2, 1}});
  return outputs(joined | Linear{4} | name("y"), slice(rows, 0, -1, along{1}) | Linear{3},
                 a | Reshape{{3, 2}} | Split{});
});

constexpr auto block = graph([](auto x) { return (x | Linear{5} | TanH{}) + (x | Linear{5}); });
using Inner = Sequential<Linear{4}, Named<"squash", Sigmoid{}>{}, Graph<block>{}>;
constexpr auto outer = graph([](auto x) {
  auto const y = x | Inner{};
  return (y | block) + y;
});

/// Heads of several inputs with operands joined to them that others read, too.
constexpr auto joined_and_read = graph([](auto x) {
  auto const a = x | Linear{6}, b = x | Linear{6} | TanH{}, c = x | Linear{9} | TanH{}, d = x | Linear{12};
  auto const rows = a | Reshape{{3, 2}}, columns = b | Reshape{{2, 3}};
  auto const y = matmul(rows, columns) + (c | Reshape{{3, 3}}), z = concat(a, b) + d;
  return concat(y | Flatten{}, c, d, z) | Linear{3};
});

template <class Backend>
std::vector<float> input_gradient_of_joined() {
  Network<Graph<joined_and_read>, Shape{5}, Batch<3>, Backend> net{3};
  typename decltype(net)::TrainingWorkspace workspace;
  std::vector<float> x(15), dy(9);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(1.3f * static_cast<float>(i));
  for (std::size_t i = 0; i < dy.size(); ++i) dy[i] = std::cos(0.7f * static_cast<float>(i));
  net.forward_training(x, workspace);
  auto const dx = net.backward(dy, workspace);
  return {dx.begin(), dx.end()};
}

}  // namespace

// The CPU adds gradients where they are computed, and the reference in separate passes.
TEST_CASE("an operand that others read has the sum of its gradients on every backend") {
  auto const here = input_gradient_of_joined<DefaultBackend>(), exact = input_gradient_of_joined<Reference<float>>();
  REQUIRE(here.size() == exact.size());
  for (std::size_t i = 0; i < here.size(); ++i) CHECK(here[i] == Approx(exact[i]).margin(1e-5));
}

TEST_CASE("shared weights, two inputs and named outputs are the same as a type, as a config and from a file") {
  check_graph_equivalence<Graph<siamese>, Inputs{Shape{3}, Shape{3}}>();
  Network<Graph<siamese>, Inputs{Shape{3}, Shape{3}}> net{1};
  std::vector<float> const x(6, 0.5f), other(6, -0.5f);
  net.forward(x, other);
  CHECK(net.output<"distance">().size() == 14);
  CHECK(net.output<"scores">().size() == 4);
  CHECK(net.weight_count == 6);
  net.forward(x, x);  // Mocha's test of shared parameters: one key, one input, one output
  for (float const value : net.output<"distance">()) CHECK(value == 0);
}

TEST_CASE("values together, parts of values and views are the same as a type, as a config and from a file") {
  check_graph_equivalence<Graph<parts>, Shape{2, 2}>();
}

TEST_CASE("a Sequential in a function in a Sequential is the same as a type, as a config and from a file") {
  check_graph_equivalence<Graph<outer>, Shape{3}>();
  check_graph_equivalence<Sequential<Linear{6}, Graph<outer>{}, ReLU{}, Linear{2}>, Shape{3}>();
}
