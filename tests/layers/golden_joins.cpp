// Layers of several inputs, and blocks of them, give PyTorch's values, forward and backward.
#include <coldpress/backend/reference.hpp>
#include <coldpress/coldpress.hpp>

#include "support/compare.hpp"
#include "support/golden_file.hpp"

namespace {

using namespace coldpress;
using namespace coldpress::test;

template <auto function, Inputs in, class Backend>
void check_with(GoldenCase const& golden) {
  using Net = Network<Graph<function>, in, DynamicBatch, Backend>;
  using T = typename Net::T;
  Net net;
  auto const numbers = [&](std::string const& word) { return copy_of<T>(golden.at(word)); };
  auto const check = [&](auto const& values, std::string const& word) {
    INFO(word);
    std::vector<double> const& wanted = golden.at(word);
    REQUIRE(std::size(values) == wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i)
      CHECK(static_cast<double>(values[i]) == Approx(wanted[i]).epsilon(sizeof(T) == 8 ? 1e-6 : 2e-5).margin(1e-5));
  };
  for (int i = 0; i < Net::weight_count; ++i) net.write_weight(i, numbers("p" + std::to_string(i)));
  std::vector<T> const a = numbers("a"), b = in.count > 1 ? numbers("b") : std::vector<T>{},
                       c = in.count > 2 ? numbers("c") : std::vector<T>{}, dy = numbers("dy");
  typename Net::TrainingWorkspace workspace;
  auto const all = [&] {
    if constexpr (in.count > 2) {
      return std::tie(a, b, c);
    } else if constexpr (in.count > 1) {
      return std::tie(a, b);
    } else {
      return std::tie(a);
    }
  }();
  typename Net::Workspace inference;
  check(net.forward(all, inference).values, "y");
  check(net.forward_training(all, workspace).values, "y");
  check(net.backward(dy, workspace).values, "da");
  if (in.count > 1) check(workspace.input_gradient(1).values, "db");
  if (in.count > 2) check(workspace.input_gradient(2).values, "dc");
  for (int i = 0; i < Net::weight_count; ++i) {
    std::vector<T> gradient(static_cast<std::size_t>(Net::weight_shape(i).size()));
    net.read(workspace.gradients().data(), i, gradient);
    check(gradient, "d" + std::to_string(i));
  }
}
template <auto function, Inputs in>
void check(std::string const& name) {
  INFO(name);
  auto const cases = golden_cases("joins.txt");
  check_with<function, in, DefaultBackend>(cases.at(name));
  if constexpr (golden_reference) check_with<function, in, Reference<double>>(cases.at(name));
}

}  // namespace

TEST_CASE("operations by element are PyTorch's") {
  check<graph([](auto a, auto b) { return a + b; }), Inputs{Shape{2, 9}, Shape{2, 9}}>("add");
  check<graph([](auto a, auto b) { return a - b; }), Inputs{Shape{18}, Shape{18}}>("subtract");
  check<graph([](auto a, auto b) { return a * b; }), Inputs{Shape{18}, Shape{18}}>("multiply");
  check<graph([](auto a, auto b) { return a / b; }), Inputs{Shape{18}, Shape{18}}>("divide");
}
TEST_CASE("Max and Min are PyTorch's maximum and minimum, also where both values are equal") {
  constexpr auto larger = graph([](auto a, auto b) { return apply(Max{}, a, b); });
  constexpr auto smaller = graph([](auto a, auto b) { return apply(Min{}, a, b); });
  check<larger, Inputs{Shape{18}, Shape{18}}>("max");
  check<smaller, Inputs{Shape{18}, Shape{18}}>("min");
  check<larger, Inputs{Shape{18}, Shape{18}}>("max_ties");
  check<smaller, Inputs{Shape{18}, Shape{18}}>("min_ties");
}
TEST_CASE("Where is PyTorch's") {
  check<graph([](auto a, auto b, auto c) { return apply(Where{}, c, a, b); }), Inputs{Shape{18}, Shape{18}, Shape{18}}>(
      "where");
}
TEST_CASE("Gather is PyTorch's index_select, also of places that are named twice") {
  check<graph([](auto a, auto b) { return apply(Gather{}, a, b); }), Inputs{Shape{5, 2}, Shape{6}}>("gather_first");
  check<graph([](auto a, auto b) { return apply(Gather{.axis = 1}, a, b); }), Inputs{Shape{2, 4, 3}, Shape{6}}>(
      "gather_middle");
  check<graph([](auto a, auto b) { return apply(Gather{.axis = -1}, a, b); }), Inputs{Shape{7}, Shape{6}}>(
      "gather_last");
}
TEST_CASE("Concat is PyTorch's") {
  check<graph([](auto a, auto b) { return concat(a, b); }), Inputs{Shape{3, 5}, Shape{4, 5}}>("concat_first");
  check<graph([](auto a, auto b) { return concat(along{-1}, a, b); }), Inputs{Shape{3, 5}, Shape{3, 2}}>("concat_last");
}
TEST_CASE("Product is PyTorch's, of many matrices and transposed") {
  check<graph([](auto a, auto b) { return matmul(a, b); }), Inputs{Shape{3, 4, 5}, Shape{3, 5, 6}}>("product");
  check<graph([](auto a, auto b) { return matmul(a, b, {.transpose = true, .scale = 0.5f}); }),
        Inputs{Shape{4, 5}, Shape{6, 5}}>("product_transposed");
}
TEST_CASE("Permute is PyTorch's") {
  check<graph([](auto x) { return x | Permute{{2, 0, 1}}; }), Shape{3, 4, 5}>("permute");
}
TEST_CASE("a decoder with the encoder's weights has the gradients of both uses") {
  check<graph([](auto x) {
          auto hidden = x | Linear{4};
          return hidden | Sigmoid{} | tied(hidden);
        }),
        Shape{7}>("tied");
}
TEST_CASE("multi_head_attention is PyTorch's MultiheadAttention") {
  check<graph([](auto x) { return blocks::multi_head_attention(x, 2); }), Shape{5, 6}>("attention");
}
TEST_CASE("attention is PyTorch's: causal, with shared keys, with a window, and with a mask") {
  using Attention = ScaledDotProductAttention;
  check<graph([](auto x) { return x | Attention{.heads = 2, .causal = true}; }), Shape{7, 18}>("attention_causal");
  check<graph([](auto x) { return x | Attention{.heads = 6, .kv_heads = 2, .scale = 0.25f}; }), Shape{20, 40}>(
      "attention_grouped");
  check<graph([](auto x) { return x | Attention{.heads = 2, .causal = true, .window = 5}; }), Shape{20, 12}>(
      "attention_window");
  check<graph([](auto x, auto mask) { return attention({.heads = 2}, x, x, x, mask); }),
        Inputs{Shape{3, 8}, Shape{3, 3}}>("attention_mask");
}
TEST_CASE("the residual block is PyTorch's convolutions with their sum") {
  check<graph([](auto x) { return blocks::residual(x); }), Shape{2, 4, 5}>("residual");
}
