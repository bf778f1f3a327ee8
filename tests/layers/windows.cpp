// Convolution and pooling give PyTorch's values, forward and backward.
#include <coldpress/backend/reference.hpp>
#include <coldpress/coldpress.hpp>

#include "support/compare.hpp"
#include "support/golden_file.hpp"

using namespace coldpress;
using namespace coldpress::test;

namespace {

auto const& cases() {
  static auto const all = golden_cases("windows.txt");
  return all;
}

template <Layer auto layer, Shape in, class Backend>
void check_with(GoldenCase const& golden) {
  using Net = Network<Sequential<layer>, in, AnyBatch, Backend>;
  using T = typename Net::T;
  Net net;
  auto const numbers = [&](char const* word) { return copy_of<T>(golden.at(word)); };
  auto const batch = static_cast<Index>(golden.at("in")[0]);
  REQUIRE(golden.at("x").size() == static_cast<std::size_t>(batch * in.size()));
  std::vector<double> const out(golden.at("out").begin() + 1, golden.at("out").end());
  REQUIRE(out == std::vector<double>(Net::output_shape.extents, Net::output_shape.extents + Net::output_shape.rank()));
  for (int i = 0; i < Net::weight_count; ++i) net.write_weight(i, numbers(i == 0 ? "weight" : "bias"));
  typename Net::TrainingWorkspace workspace;
  auto const x = numbers("x"), dy = numbers("dy");
  auto const check = [&](auto const& values, char const* word) {
    INFO(word);
    std::vector<double> const& wanted = golden.at(word);
    REQUIRE(std::size(values) == wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i)
      CHECK(static_cast<double>(values[i]) == Approx(wanted[i]).epsilon(0).margin(sizeof(T) == 8 ? 1e-12 : 2e-5));
  };
  check(net.forward(x).values, "y");
  check(net.forward_training(x, workspace).values, "y");
  check(net.backward(dy, workspace).values, "dx");
  for (int i = 0; i < Net::weight_count; ++i) {
    std::vector<T> gradient(static_cast<std::size_t>(Net::weight_shape(i).size()));
    Net::read(workspace.gradients().data(), i, gradient);
    check(gradient, i == 0 ? "dweight" : "dbias");
  }
}

template <Layer auto layer, Shape in>
void check(std::string const& name) {
  INFO(name);
  check_with<layer, in, Cpu>(cases().at(name));
  check_with<layer, in, Reference<double>>(cases().at(name));
}

}  // namespace

TEST_CASE("convolutions of images are PyTorch's") {
  check<Convolution{.num_output = 3, .filter_shape = {3, 2}}, Shape{2, 5, 4}>("plain");
  check<Convolution{.num_output = 2, .filter_shape = 3, .stride = {2, 3}, .padding = {2, 1}}, Shape{3, 7, 8}>(
      "strided");
  check<Convolution{.num_output = 2, .filter_shape = {2, 3}, .padding = {1, 2}, .dilation = {3, 2}}, Shape{2, 6, 7}>(
      "dilated");
  check<Convolution{.num_output = 6, .filter_shape = 2, .padding = 1, .groups = 2}, Shape{4, 4, 4}>("grouped");
}

TEST_CASE("convolutions of sequences are PyTorch's, padded on the left") {
  check<Convolution{.num_output = 4, .filter_shape = 3}, Shape{5, 3}>("sequence");
  check<Convolution{.num_output = 3, .filter_shape = 3, .dilation = 2}, Shape{7, 2}>("dilated_sequence");
  check<Convolution{.num_output = 2, .filter_shape = 4, .stride = 3, .groups = 2}, Shape{8, 4}>("strided_sequence");
}

TEST_CASE("poolings are PyTorch's") {
  constexpr auto average = PoolingMode::average;
  check<Pooling{.filter_shape = {3, 2}, .stride = 2, .padding = {1, 0}}, Shape{2, 5, 6}>("max");
  check<Pooling{.filter_shape = 3, .stride = 2, .padding = 1, .rounding = Rounding::ceil}, Shape{2, 6, 5}>("max_ceil");
  check<Pooling{.mode = average, .filter_shape = {3, 2}, .stride = {2, 1}, .padding = 1}, Shape{2, 5, 6}>("average");
  check<Pooling{.mode = average, .filter_shape = 3, .stride = 2, .rounding = Rounding::ceil}, Shape{1, 6, 5}>(
      "average_ceil");
  check<Pooling{.mode = average, .filter_shape = 3, .stride = 2, .padding = 1, .count_padding = true}, Shape{2, 5, 5}>(
      "average_counting");
  check<Pooling{.filter_shape = {2, 2, 3}, .stride = {2, 1, 2}, .padding = {1, 0, 1}}, Shape{2, 4, 3, 5}>("volume");
}
