// Ready-made blocks: functions of values, to be used in a network's function, or copied and changed.
#pragma once

#include <coldpress/typed/operations.hpp>

#include <optional>

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

/// Attention as a function's caller asks for it: by all its options, or by the number of its heads alone.
constexpr ScaledDotProductAttention attention_of(ScaledDotProductAttention const& options) { return options; }
constexpr ScaledDotProductAttention attention_of(Index heads) { return {.heads = heads}; }

/// Attention of each step of x {steps, features} to all steps (Vaswani et al. 2017), or as `wish` says, a number of
/// heads or a ScaledDotProductAttention; the heads must divide the features. It is preceded by one Linear of each step,
/// for queries, keys and values together, and followed by another. `positions` may turn queries and keys; its heads are
/// set here.
template <class Recorder, class Wish = ScaledDotProductAttention>
constexpr auto multi_head_attention(Value<Recorder> x, Wish const& wish,
                                    std::optional<RotaryPositions> positions = {}) {
  ScaledDotProductAttention const options = attention_of(wish);
  Index const features = x.shape()[1], heads = options.heads;
  require(heads > 0 && features % heads == 0, "multi_head_attention: the heads must divide the features");
  Index const kv_heads = options.kv_heads == 0 ? heads : options.kv_heads;
  auto packed = linear_by_step(x, features / heads * (heads + 2 * kv_heads));
  if (positions) {
    positions->size = features / heads, positions->heads = heads + kv_heads;
    packed = packed | *positions;
  }
  return linear_by_step(packed | options, features);
}

/// A layer of a transformer with normalisation first: attention, as above, then two Linears of each step. Each of the
/// two parts is added to its input. With a causal attention it is a decoder's layer, as in GPT (Radford et al. 2019).
template <class Recorder, class Wish = ScaledDotProductAttention>
constexpr auto transformer(Value<Recorder> x, Wish const& wish, Index hidden,
                           std::optional<RotaryPositions> const& positions = {}) {
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
  Index kv_heads = 0;  // each serves as many query heads; 0: one per query head
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
