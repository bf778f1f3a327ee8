// Residuals and other operations of two values, as functions, configs and files, fused and not.
#include "support/graph_equivalence.hpp"

using namespace coldpress;
using namespace coldpress::test;

namespace {

/// A layer's result and what passes by, with an activation after the sum whose slope needs its input, or its output.
template <auto activation, bool all>
constexpr auto residual = graph([](auto x) {
  auto const a = x | Linear{21};
  auto const b = a | TanH{};
  auto const c = b | Linear{21};
  auto const d = c + b;
  auto const e = d | activation;
  auto const y = e | Linear{3};
  if constexpr (all) {
    return outputs(y, a, b, c, d, e);
  } else {
    return y;
  }
});

/// All four operations; of a value with itself, with an input, and of products with products.
template <bool all>
constexpr auto operations = graph([](auto x) {
  auto const a = x | Linear{9}, c = x | Linear{9};
  auto const b = c | Sigmoid{};
  auto const squared = a * a, doubled = x + x;
  auto const more = b + 1.0f;
  auto const ratio = squared / more;
  auto const d = doubled | Linear{9};
  auto const difference = d - ratio;
  auto const e = difference | Linear{9};
  auto const f = e | GELU{};
  auto const other = ratio - f;
  auto const product = other * b;
  auto const last = product - difference;
  auto const y = last | ReLU{};
  if constexpr (all) {
    return outputs(y, a, b, c, squared, doubled, more, ratio, d, difference, e, f, other, product, last);
  } else {
    return y;
  }
});

/// A residual block of images: what only layers of images read is kept in blocks, the outputs are not.
template <bool all>
constexpr auto images = graph([](auto x) {
  auto const a = x | Convolution{.num_output = 5, .filter_shape = 3, .padding = 1};
  auto const b = a | ReLU{};
  auto const c = b | Convolution{.num_output = 5, .filter_shape = 3, .padding = 1};
  auto const d = c + b;
  auto const e = d | GELU{};
  auto const f = e | Pooling{.filter_shape = 2, .stride = 2};
  auto const g = f * f;
  auto const h = g | Convolution{.num_output = 3, .filter_shape = 2, .stride = 2};
  auto const y = h | Linear{2};
  if constexpr (all) {
    return outputs(y, a, b, c, d, e, f, g, h);
  } else {
    return y;
  }
});

}  // namespace

TEST_CASE("a residual of images is the same as a type, as a config and from a file, in one pass and in many") {
  check_graph_equivalence<Graph<images<false>>, Shape{2, 7, 6}>();
  check_fusion<images<false>, images<true>, Shape{2, 7, 6}>();
}

TEST_CASE("a residual is the same as a type, a config and from a file") {
  check_graph_equivalence<Graph<residual<ReLU{}, false>>, Shape{6}>();
  check_graph_equivalence<Graph<residual<GELU{}, false>>, Shape{6}>();
}

TEST_CASE("a residual is the same in one pass and in many") {
  check_fusion<residual<ReLU{}, false>, residual<ReLU{}, true>, Shape{6}>();
  check_fusion<residual<TanH{}, false>, residual<TanH{}, true>, Shape{6}>();
  check_fusion<residual<GELU{}, false>, residual<GELU{}, true>, Shape{6}>();
}

TEST_CASE("operations by element are the same as a type, as a config and from a file, in one pass and in many") {
  check_graph_equivalence<Graph<operations<false>>, Shape{5}>();
  check_fusion<operations<false>, operations<true>, Shape{5}>();
}
