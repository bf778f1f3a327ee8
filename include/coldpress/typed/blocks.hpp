// Ready-made blocks: functions of values, to be used in a network's function, or copied and changed.
#pragma once

#include <coldpress/typed/operations.hpp>

#include <type_traits>

namespace coldpress {
namespace blocks {

/// A residual block (He et al. 2016): two 3 x 3 convolutions of x {channels, height, width}, plus x itself. The sum,
/// its ReLU and the bias are part of the second convolution's pass.
template <class Recorder>
constexpr auto residual(Value<Recorder> x) {
  Convolution const same{.num_output = x.shape()[0], .filter_shape = 3, .padding = 1};
  return ((x | same | ReLU{} | same) + x) | ReLU{};
}
/// The same with a different number of channels and a stride. The skip connection is then a 1 x 1 convolution.
template <class Recorder>
constexpr auto residual(Value<Recorder> x, Index channels, Index stride = 1) {
  if (x.shape()[0] == channels && stride == 1) return residual(x);
  auto const by = x | Convolution{.num_output = channels, .filter_shape = 1, .stride = stride};
  auto const y = x | Convolution{.num_output = channels, .filter_shape = 3, .stride = stride, .padding = 1} | ReLU{} |
                 Convolution{.num_output = channels, .filter_shape = 3, .padding = 1};
  return (y + by) | ReLU{};
}

/// Concatenates x and the output of `layer` on x along the first axis (Huang et al. 2017).
template <class Recorder, class L>
constexpr auto dense(Value<Recorder> x, L const& layer) {
  return concat(x, x | layer);
}

/// Applies the same Linear to each step of x {steps, features}; the result is {steps, units}. It is a convolution over
/// one step.
template <class Recorder>
constexpr auto linear_by_step(Value<Recorder> x, Index units) {
  return x | Convolution{.num_output = units, .filter_shape = 1};
}

/// The basic block of a residual network with batch normalisation (ResNet v1, He et al. 2016): two 3 x 3 convolutions
/// to `channels`, the first with the stride, each without a bias and with a BatchNormalization. If the number of
/// channels or the stride changes the shape, the skip connection is a 1 x 1 convolution, followed by a
/// BatchNormalization, too.
template <class Recorder>
constexpr auto basic_residual(Value<Recorder> x, Index channels, Index stride = 1) {
  auto const normalized = [&](Value<Recorder> from, Index filter, Index step) {
    return from |
           Convolution{.num_output = channels,
                       .filter_shape = filter,
                       .stride = step,
                       .padding = filter / 2,
                       .has_bias = false} |
           BatchNormalization{};
  };
  auto const y = normalized(normalized(x, 3, stride) | ReLU{}, 3, 1);
  if (x.shape()[0] == channels && stride == 1) return (y + x) | ReLU{};
  return (y + normalized(x, 1, stride)) | ReLU{};
}

/// A depthwise separable convolution (MobileNet, Howard et al. 2017): a 3 x 3 convolution of each channel by itself,
/// with the stride, and a 1 x 1 convolution to `channels`, each followed by a ReLU. If `normalized`, neither has a
/// bias, and a BatchNormalization is before each ReLU.
template <class Recorder>
constexpr auto depthwise_separable(Value<Recorder> x, Index channels, Index stride = 1, bool normalized = true) {
  auto const finished = [&](Value<Recorder> y) { return normalized ? y | BatchNormalization{} | ReLU{} : y | ReLU{}; };
  Index const own = x.shape()[0];
  auto const y = finished(x | Convolution{.num_output = own,
                                          .filter_shape = 3,
                                          .stride = stride,
                                          .padding = 1,
                                          .groups = own,
                                          .has_bias = !normalized});
  return finished(y | Convolution{.num_output = channels, .filter_shape = 1, .has_bias = !normalized});
}

/// U-Net (Ronneberger et al. 2015) of x {channels, height, width}: `depth` times two 3 x 3 convolutions, after which
/// height and width are halved by maxima and the channels, first `channels`, are doubled; and then back, where a
/// ConvolutionTranspose doubles height and width, and what was there before is concatenated to it. Height and width
/// must be multiples of 2^depth; the result is {channels, height, width}, with zeros around images instead of smaller
/// ones.
template <class Recorder>
constexpr Value<Recorder> unet(Value<Recorder> x, Index channels, int depth) {
  auto const twice = [&](Value<Recorder> from) {
    Convolution const same{.num_output = channels, .filter_shape = 3, .padding = 1};
    return from | same | ReLU{} | same | ReLU{};
  };
  auto const here = twice(x);
  if (depth <= 0) return here;
  require(x.shape()[1] % 2 == 0 && x.shape()[2] % 2 == 0, "unet: height and width must be multiples of 2^depth");
  auto const below = unet(here | Pooling{.filter_shape = 2, .stride = 2}, 2 * channels, depth - 1);
  auto const above = below | ConvolutionTranspose{.num_output = channels, .filter_shape = 2, .stride = 2};
  return twice(concat(here, above));
}

/// The result of `wavenet_layer`: its input x and its gated values y, both {steps, features}. The input of the next
/// layer and the skip output, which is added to those of the other layers, are computed from y.
template <class Recorder>
struct WaveNetLayer {
  Value<Recorder> x, y;
  /// x plus a Linear of each step of y.
  constexpr auto next() const { return x + linear_by_step(y, y.shape().last()); }
  /// Another Linear of each step of y, with `units` outputs.
  constexpr auto skip(Index units) const { return linear_by_step(y, units); }
};
/// A layer of a WaveNet (van den Oord et al. 2016) over a sequence x {steps, features}: tanh of one causal convolution
/// of `taps` taps, times the sigmoid of another. It streams.
template <class Recorder>
constexpr auto wavenet_layer(Value<Recorder> x, Index dilation, Index taps = 2) {
  Convolution const causal{.num_output = x.shape().last(), .filter_shape = taps, .dilation = dilation};
  return WaveNetLayer<Recorder>{x, (x | causal | TanH{}) * (x | causal | Sigmoid{})};
}

/// The options of an attention, for callers that give all of them or the number of heads alone.
constexpr ScaledDotProductAttention attention_of(ScaledDotProductAttention const& options) { return options; }
constexpr ScaledDotProductAttention attention_of(Index heads) { return {.heads = heads}; }

/// Attention of each step of x {steps, features} to all steps (Vaswani et al. 2017), or as `wish` says, a number of
/// heads or a ScaledDotProductAttention; the heads must divide the features. It is preceded by one Linear of each step,
/// for queries, keys and values together, and followed by another. RotaryPositions as `positions` turn queries and
/// keys; their size and heads are set here.
template <class Recorder, class Wish = ScaledDotProductAttention, class Positions = Identity>
constexpr auto multi_head_attention(Value<Recorder> x, Wish const& wish, Positions positions = {}) {
  ScaledDotProductAttention const options = attention_of(wish);
  Index const features = x.shape()[1], heads = options.heads;
  require(heads > 0 && features % heads == 0, "multi_head_attention: the heads must divide the features");
  Index const kv_heads = options.kv_heads == 0 ? heads : options.kv_heads;
  auto packed = linear_by_step(x, features / heads * (heads + 2 * kv_heads));
  constexpr bool rotary = std::is_same_v<Positions, RotaryPositions>;
  static_assert(rotary || std::is_same_v<Positions, Identity>,
                "multi_head_attention: positions must be RotaryPositions; others are added to x before");
  if constexpr (rotary) {
    positions.size = features / heads, positions.heads = heads + kv_heads;
    packed = packed | positions;
  }
  return linear_by_step(packed | options, features);
}

/// A layer of a transformer with normalisation first: attention, as above, then two Linears of each step. Each of the
/// two parts is added to its input. With a causal attention it is a decoder's layer, as in GPT (Radford et al. 2019).
template <class Recorder, class Wish = ScaledDotProductAttention, class Positions = Identity>
constexpr auto transformer(Value<Recorder> x, Wish const& wish, Index hidden, Positions const& positions = {}) {
  Index const features = x.shape()[1];
  auto const attended = x + multi_head_attention(x | LayerNormalization{}, wish, positions);
  auto const inner = linear_by_step(attended | LayerNormalization{}, hidden) | GELU{};
  return attended + linear_by_step(inner, features);
}

/// The sizes of a GPT. The defaults have about 0.85 million parameters.
struct GptOptions {
  Index vocabulary = 256;  // numbers that a token may have; 256 for the bytes of a text
  Index features = 128;
  Index layers = 4;
  Index heads = 4;
  Index kv_heads = 0;  // heads / kv_heads query heads share each; 0: one per query head
  Index hidden = 512;  // units between the two Linears of a layer
  Index window = 128;  // steps that a step sees at most, its own included, also in a stream
};
/// A language model: the scores {steps, vocabulary} of the token after each of the tokens {steps}. It is GPT-2's
/// network with rotary positions, and may therefore be given one token after another without end.
template <class Recorder>
constexpr auto gpt(Value<Recorder> tokens, GptOptions const& options = {}) {
  auto x =
      tokens |
      Embedding{.vocabulary = options.vocabulary, .features = options.features, .weight = Gaussian{.deviation = 0.02f}};
  ScaledDotProductAttention const attention{
      .heads = options.heads, .kv_heads = options.kv_heads, .causal = true, .window = options.window};
  for (Index layer = 0; layer < options.layers; ++layer)
    x = transformer(x, attention, options.hidden, RotaryPositions{});
  return linear_by_step(x | LayerNormalization{}, options.vocabulary);
}

}  // namespace blocks
}  // namespace coldpress
