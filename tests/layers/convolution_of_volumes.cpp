#include "support/golden_layers.hpp"
#include "support/layer_laws.hpp"
#include "support/passes.hpp"
#include "support/sentences.hpp"

#include <coldpress/threads.hpp>

using namespace coldpress;

TEST_CASE("Convolution of volumes keeps the laws of layers: strides, and zeros on both sides") {
  test::check_laws_at<Convolution{
                          .num_output = 3, .filter_shape = {3, 2, 3}, .stride = {1, 2, 3}, .padding = {2, 0, 1}},
                      Shape{2, 4, 3, 5}>();
}
TEST_CASE("Convolution of volumes keeps the laws of layers: dilated groups, without a bias") {
  test::check_values_at<Convolution{.num_output = 4,
                                    .filter_shape = 2,
                                    .stride = {3, 1, 1},
                                    .padding = {2, 1, 0},
                                    .padding_after = {0, 0, 1},
                                    .dilation = {2, 1, 3},
                                    .groups = 2,
                                    .has_bias = false},
                        Shape{4, 5, 3, 4}>();
}
TEST_CASE("Convolution of volumes keeps the laws of layers: extents that stay, and a filter of one plane") {
  test::check_values_at<Convolution{.num_output = 2, .filter_shape = {4, 3, 2}, .same = true}, Shape{1, 3, 4, 3}>();
  test::check_values_at<Convolution{.num_output = 2, .filter_shape = {1, 3, 3}}, Shape{3, 2, 4, 3}>();
}
TEST_CASE("ConvolutionTranspose of volumes keeps the laws of layers") {
  test::check_laws_at<ConvolutionTranspose{.num_output = 4,
                                           .filter_shape = {3, 2, 3},
                                           .stride = {2, 1, 3},
                                           .padding = {1, 0, 1},
                                           .output_padding = {1, 0, 2},
                                           .groups = 2},
                      Shape{2, 3, 4, 2}>();
}

TEST_CASE("convolutions of volumes are PyTorch's") {
  test::check_golden_layer<Convolution{.num_output = 3, .filter_shape = {2, 3, 2}}, Shape{2, 3, 4, 5}>("volumes");
  test::check_golden_layer<Convolution{
                               .num_output = 2, .filter_shape = {3, 2, 3}, .stride = {2, 1, 3}, .padding = {2, 0, 1}},
                           Shape{3, 5, 4, 7}>("volumes_strided");
  test::check_golden_layer<Convolution{
                               .num_output = 2, .filter_shape = {2, 2, 3}, .padding = {1, 0, 2}, .dilation = {3, 1, 2}},
                           Shape{2, 4, 5, 6}>("volumes_dilated");
  test::check_golden_layer<Convolution{.num_output = 6, .filter_shape = {3, 2, 2}, .padding = 1, .groups = 2},
                           Shape{4, 3, 2, 4}>("volumes_grouped");
  test::check_golden_layer<Convolution{.num_output = 3, .filter_shape = 3, .padding = 1, .groups = 3},
                           Shape{3, 4, 9, 8}>("volumes_depthwise");
  test::check_golden_layer<Convolution{.num_output = 2, .filter_shape = {4, 3, 2}, .same = true}, Shape{1, 3, 4, 3}>(
      "volumes_same");
}
TEST_CASE("transposed convolutions of volumes are PyTorch's") {
  using Transpose = ConvolutionTranspose;
  test::check_golden_layer<Transpose{.num_output = 2, .filter_shape = {2, 3, 2}}, Shape{3, 2, 3, 4}>(
      "transposed_volumes");
  test::check_golden_layer<Transpose{.num_output = 6,
                                     .filter_shape = {3, 2, 4},
                                     .stride = {2, 1, 3},
                                     .padding = {1, 0, 2},
                                     .output_padding = {1, 0, 2},
                                     .groups = 2},
                           Shape{4, 3, 2, 3}>("transposed_volumes_strided");
}

namespace {
/// With sums whose other operand is made before or after, so that gradients are added in place.
constexpr auto branching = graph([](auto x) {
  auto const a = x | Convolution{.num_output = 5, .filter_shape = 3, .padding = 1} | ReLU{};
  auto const b = a | Convolution{.num_output = 5, .filter_shape = {3, 1, 3}, .padding = {1, 0, 1}};
  auto const c = b + a | GELU{} | Pooling{.filter_shape = {1, 2, 2}, .stride = {1, 2, 2}} | BatchNormalization{};
  return c | ConvolutionTranspose{.num_output = 2, .filter_shape = 2, .stride = {1, 2, 2}} | TanH{};
});
template <class Backend>
using Volumes = Network<Graph<branching>, Shape{2, 3, 7, 6}, DynamicBatch, Backend>;
}  // namespace

TEST_CASE("the bits of a sample depend neither on the others of its minibatch nor on the threads") {
  using Net = Network<Graph<branching>, Shape{2, 3, 7, 6}>;
  auto net = test::random_network<Net>(2);
  Index constexpr batch = 19, size = Net::input_shape.size();
  auto const x = test::Random{3}.values<float>(batch * size);
  auto const dy = test::Random{4}.values<float>(batch * Net::output_shape.size());
  auto const all = test::copy_of<float>(net.forward(x));
  auto const out = static_cast<std::size_t>(Net::output_shape.size());
  for (std::size_t i = 0; i < static_cast<std::size_t>(batch); ++i) {
    auto const alone = net.forward(std::span{x}.subspan(i * static_cast<std::size_t>(size), size));
    CHECK(std::ranges::equal(alone, std::span{all}.subspan(i * out, out)));
  }
  auto const trained = [&](Executor* executor) {
    net.run_on(executor);
    Net::TrainingWorkspace workspace;
    workspace.run_on(executor);
    auto result = test::copy_of<float>(net.forward_training(x, workspace));
    auto const dx = net.backward(dy, workspace);
    result.insert(result.end(), dx.begin(), dx.end());
    auto const gradients = workspace.gradients();
    result.insert(result.end(), gradients.begin(), gradients.end());
    return result;
  };
  auto const by_one = trained(nullptr);
  ThreadPool threads{3};
  CHECK(test::same_bits(by_one, trained(&threads)));
}
TEST_CASE("networks of volumes give the reference's numbers") {
  for (Index const batch : {1, 3, 17}) {
    INFO("batch " << batch);
    auto const fast = test::passed<Volumes<DefaultBackend>>(batch),
               exact = test::passed<Volumes<Reference<double>>>(batch);
    for (std::size_t i = 0; i < exact.size(); ++i) {
      double largest = 0;
      for (double const v : exact[i]) largest = std::max(largest, std::abs(v));
      CHECK(test::excess(fast[i], exact[i], static_cast<double>(batch) * 400, largest) <= 1);
    }
  }
}

// The first layer of r3d_18 in PyTorch's torchvision.
constexpr Convolution stem{.num_output = 64, .filter_shape = {3, 7, 7}, .stride = {1, 2, 2}, .padding = {1, 3, 3}};
static_assert(stem.output_shape({3, 16, 112, 112}) == Shape{64, 16, 56, 56});
static_assert(stem.parameters({3, 16, 112, 112})[0].shape == Shape{64, 3, 3, 7, 7});
static_assert(stem.parameters({3, 16, 112, 112})[0].fan_in == 441 &&
              stem.parameters({3, 16, 112, 112})[0].fan_out == 64 * 147);
static_assert(stem.flops({3, 16, 112, 112}) == Index{2} * 441 * 64 * 16 * 56 * 56);
static_assert(!stem.capabilities_for({3, 16, 2, 2}).image_blocks &&
              stem.capabilities_for({3, 16, 112, 112}).streaming == StreamSupport::never);
// A volume of one plane is not an image: its weights have three axes.
static_assert(Convolution{.num_output = 2, .filter_shape = {1, 3, 3}}.parameters({4, 1, 5, 5})[0].shape ==
              Shape{2, 4, 1, 3, 3});
static_assert(ConvolutionTranspose{.num_output = 6, .filter_shape = 4, .stride = 2, .padding = 1, .groups = 2}
                  .output_shape({4, 2, 8, 9}) == Shape{6, 4, 16, 18});

TEST_CASE("a geometry of volumes that means nothing is refused with a sentence") {
  auto const sentence = [](auto layer, Shape in = {2, 4, 5, 6}) { return test::refusal_of(layer, in); };
  auto const has = test::check_says;
  has(sentence(Convolution{.num_output = 4, .filter_shape = {3, 2, 2}}), "none");
  has(sentence(Convolution{.num_output = 4, .filter_shape = {5, 2, 2}}), "larger than the padded input");
  has(sentence(Convolution{.num_output = 4, .filter_shape = {3, 2}}), "no field may have two numbers");
  has(sentence(Convolution{.num_output = 4, .filter_shape = 3, .padding_after = {1, 2}}), "no field may have two");
  has(sentence(Convolution{.num_output = 4, .filter_shape = {3, 3, 3}, .stride = {1, 1, 0}}), "stride must be from 1");
  has(sentence(Convolution{.num_output = 3, .filter_shape = 1, .groups = 3}), "groups must divide");
  has(sentence(Convolution{.num_output = 4, .filter_shape = 1}, {1, 2, 3, 4, 5}), "{channels, depth, height, width}");
  has(sentence(Convolution{.num_output = 4, .filter_shape = {1, 2, 3}}, {2, 5, 6}), "an image has two axes");
  constexpr Index many = Index{1} << 20;
  Convolution deep{.num_output = 1, .filter_shape = {many, 1, 1}, .stride = many, .padding = {many, 0, 0}};
  has(sentence(deep, {1, 1, many, many}), "more than 2^40 values at once");
  has(sentence(ConvolutionTranspose{.num_output = 4, .filter_shape = {3, 2, 2}}), "none");
  has(sentence(ConvolutionTranspose{.num_output = 4, .filter_shape = {3, 2}}), "no field may have two numbers");
  has(sentence(ConvolutionTranspose{.num_output = 4, .filter_shape = 2, .output_padding = {0, 0, 1}}),
      "output_padding must be at least 0, and less than");
  has(sentence(ConvolutionTranspose{.num_output = 4, .filter_shape = 2, .padding = {3, 0, 0}}),
      "padding must leave at least one value");
}
