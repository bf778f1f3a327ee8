#include "support/layer_laws.hpp"
#include "support/sentences.hpp"

using namespace coldpress;

TEST_CASE("ConvolutionTranspose keeps the laws of layers: strides, and what they add") {
  test::check_laws_at<
      ConvolutionTranspose{
          .num_output = 4, .filter_shape = {3, 2}, .stride = {2, 3}, .padding = {1, 0}, .output_padding = {1, 2}},
      Shape{2, 3, 4}>();
}
TEST_CASE("ConvolutionTranspose keeps the laws of layers: dilated groups without a bias") {
  test::check_values_at<ConvolutionTranspose{
                            .num_output = 4, .filter_shape = 2, .dilation = {1, 2}, .groups = 2, .has_bias = false},
                        Shape{6, 5, 3}>();
}

TEST_CASE("ConvolutionTranspose of sequences keeps the laws of layers") {
  test::check_values_at<
      ConvolutionTranspose{
          .num_output = 4, .filter_shape = 3, .stride = 2, .padding = 1, .output_padding = 1, .groups = 2},
      Shape{5, 6}>();
  test::check_values_at<ConvolutionTranspose{.num_output = 3, .filter_shape = 2, .dilation = 3, .has_bias = false},
                        Shape{70, 2}>();
}

// Each value of x adds itself times the filter, two places after the one before it.
TEMPLATE_TEST_CASE("ConvolutionTranspose adds filters", "", DefaultBackend, Reference<float>) {
  static constexpr ConvolutionTranspose layer{.num_output = 1, .filter_shape = {1, 3}, .stride = {1, 2}};
  Network<Sequential<layer>, Shape{1, 1, 2}, DynamicBatch, TestType> net;
  net.write_weight(0, std::vector<float>{1, 2, 3});
  net.write_weight(1, std::vector<float>{0.5f});
  CHECK(test::copy_of<float>(net.forward(std::vector<float>{1, 10})) ==
        std::vector<float>{1.5f, 2.5f, 13.5f, 20.5f, 30.5f});
}

TEST_CASE("the bits of a sample depend neither on the others of its minibatch nor on their number") {
  constexpr ConvolutionTranspose layer{.num_output = 3, .filter_shape = 3, .stride = 2, .padding = 1};
  using Net = Network<Sequential<layer, TanH{}>, Shape{5, 4, 3}>;
  auto const net = test::random_network<Net>(2);
  Net::Workspace one, many;
  Index constexpr batch = 35, size = Net::input_shape.size();
  auto const x = test::Random{3}.values<float>(batch * size);
  auto const all = net.forward(x, many);
  for (Index i = 0; i < batch; ++i) {
    auto const alone = net.forward(std::span{x}.subspan(static_cast<std::size_t>(i * size), size), one);
    CHECK(std::ranges::equal(alone, all.sample(i)));
  }
}

// Of PyTorch's ConvTranspose2d, and the generator of a DCGAN.
static_assert(ConvolutionTranspose{.num_output = 512, .filter_shape = 4}.output_shape({100, 1, 1}) == Shape{512, 4, 4});
constexpr ConvolutionTranspose doubling{.num_output = 128, .filter_shape = 4, .stride = 2, .padding = 1};
static_assert(doubling.output_shape({256, 8, 8}) == Shape{128, 16, 16});
static_assert(doubling.parameters({256, 8, 8})[0].shape == Shape{256, 128, 4, 4});
static_assert(doubling.parameters({256, 8, 8})[0].fan_in == 4096 &&
              doubling.parameters({256, 8, 8})[0].fan_out == 2048);
static_assert(doubling.parameters({256, 8, 8})[1].shape == Shape{128});
static_assert(doubling.flops({256, 8, 8}) == Index{2} * 256 * 64 * 128 * 16);
static_assert(ConvolutionTranspose{.num_output = 2, .filter_shape = 2, .dilation = 3, .groups = 2}
                  .parameters({4, 2, 2})[0]
                  .shape == Shape{4, 1, 2, 2});
static_assert(ConvolutionTranspose{.num_output = 6, .filter_shape = 4, .stride = 2, .padding = 1, .groups = 2}
                  .output_shape({9, 4}) == Shape{18, 6});
static_assert(doubling.capabilities_for({256, 1, 1}).streaming == StreamSupport::never);

TEST_CASE("a transposed geometry that means nothing is refused with a sentence") {
  auto const sentence = [](auto change, Shape in = {2, 5, 5}) {
    ConvolutionTranspose c{.num_output = 4, .filter_shape = 3, .stride = 2};
    change(c);
    return test::refusal_of(c, in);
  };
  auto const has = test::check_says;
  has(sentence([](auto&) {}), "none");
  for (Shape const in : {Shape{5}, Shape{1, 1, 2, 5, 5}, Shape{}})
    has(sentence([](auto&) {}, in), "the input must be {channels, height, width}");
  for (Index const bad : {Index{0}, Index{-1}, Index{1} << 62}) {
    has(sentence([&](auto& c) { c.num_output = bad; }), "num_output must be from 1");
    has(sentence([&](auto& c) { c.filter_shape = bad; }), "filter_shape must be from 1");
    has(sentence([&](auto& c) { c.stride = bad; }), "stride must be from 1");
    has(sentence([&](auto& c) { c.dilation = bad; }), "dilation must be from 1");
    has(sentence([&](auto& c) { c.groups = bad; }), "groups must divide");
  }
  for (Index const bad : {Index{-1}, Index{2}, Index{1} << 62})
    has(sentence([&](auto& c) { c.output_padding = bad; }), "output_padding must be at least 0, and less than");
  has(sentence([](auto& c) { c.groups = 3; }), "groups must divide");
  has(sentence([](auto& c) { c.padding = -1; }), "padding must be from 0");
  has(sentence([](auto& c) { c.padding = Index{1} << 62; }), "padding must be from 0");
  has(sentence([](auto& c) { c.padding = 6; }), "padding must leave at least one value");
  has(sentence([](auto& c) { c.stride = Index{1} << 30; }, {2, Index{1} << 20, 5}), "more than 2^40 values on an axis");
  has(sentence([](auto& c) { c.stride = {1, 2, 3}; }), "more numbers than the input has axes");
  has(sentence([](auto& c) { c.stride = {1, 2}; }, {5, 2}), "more numbers than the input has axes");
  has(sentence([](auto& c) { c.groups = 4; }, {5, 2}), "groups must divide");
}
