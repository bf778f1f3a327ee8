// Ready-made blocks: functions of values, to be used in a network's function or to be copied and changed.
#pragma once

#include <coldpress/graph/operations.hpp>

namespace coldpress {
namespace detail {
/// Newton's, for the compiler.
constexpr float square_root(Index n) {
  double root = static_cast<double>(n);
  for (int i = 0; i < 64; ++i) root = (root + static_cast<double>(n) / root) / 2;
  return static_cast<float>(root);
}
}  // namespace detail

namespace blocks {

/// Two 3 x 3 convolutions around x of {channels, height, width}, and x itself (He et al. 2016): the sum, its ReLU and
/// the bias are part of the second convolution.
template <class Recorder>
constexpr auto residual(Value<Recorder> x) {
  Convolution const same{.num_output = x.shape()[0], .filter_shape = 3, .padding = 1};
  return ((x | same | ReLU{} | same) + x) | ReLU{};
}
/// The same to `channels` channels and with a stride; what passes by goes through a 1 x 1 convolution.
template <class Recorder>
constexpr auto residual(Value<Recorder> x, Index channels, Index stride = 1) {
  if (x.shape()[0] == channels && stride == 1) return residual(x);
  auto const by = x | Convolution{.num_output = channels, .filter_shape = 1, .stride = stride};
  auto const y = x | Convolution{.num_output = channels, .filter_shape = 3, .stride = stride, .padding = 1} | ReLU{} |
                 Convolution{.num_output = channels, .filter_shape = 3, .padding = 1};
  return (y + by) | ReLU{};
}

/// `layer` on x, whose result is put behind x along the first axis (Huang et al. 2017).
template <class Recorder, class L>
constexpr auto dense(Value<Recorder> x, L const& layer) {
  return concat(x, x | layer);
}

/// A Linear for each step of x {steps, features} alone, to {steps, units}: a convolution over one step.
template <class Recorder>
constexpr auto linear_by_step(Value<Recorder> x, Index units) {
  return x | Convolution{.num_output = units, .filter_shape = 1};
}

/// Attention of each step of x {steps, features} to all steps (Vaswani et al. 2017): softmax(q kᵀ / sqrt(n)) v for each
/// of `heads` heads of n = features / heads values, and a Linear of all of them by step.
template <class Recorder>
constexpr auto multi_head_attention(Value<Recorder> x, Index heads) {
  Index const steps = x.shape()[0], features = x.shape()[1];
  require(heads > 0 && features % heads == 0, "multi_head_attention: the heads must divide the features");
  Index const size = features / heads;
  auto const to_heads = [&](auto part) {  // {heads, steps, size}
    return part | Reshape{{steps, heads, size}} | Permute{{1, 0, 2}};
  };
  auto const [q, k, v] = split<3>(linear_by_step(x, 3 * features), along{1});
  auto const scores =
      product(to_heads(q), to_heads(k), {.transpose = true, .scale = 1 / coldpress::detail::square_root(size)});
  auto const weights = scores | SoftmaxOver{.axis = -1};
  auto const mixed = product(weights, to_heads(v)) | Permute{{1, 0, 2}} | Reshape{{steps, features}};
  return linear_by_step(mixed, features);
}

/// A layer of a transformer's encoder, normalised first: attention, then two Linears by step, each added to its input.
template <class Recorder>
constexpr auto transformer(Value<Recorder> x, Index heads, Index hidden) {
  Index const features = x.shape()[1];
  auto const attended = x + multi_head_attention(x | LayerNormalization{}, heads);
  auto const inner = linear_by_step(attended | LayerNormalization{}, hidden) | GELU{};
  return attended + linear_by_step(inner, features);
}

}  // namespace blocks
}  // namespace coldpress
