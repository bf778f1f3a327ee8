// Ready-made blocks: functions of values, to be used in a network's function, or copied and changed.
#pragma once

#include <coldpress/typed/operations.hpp>

namespace coldpress {
namespace detail {
/// Newton's method, because it must run at compile time.
constexpr float square_root(Index n) {
  double root = static_cast<double>(n);
  for (int i = 0; i < 64; ++i) root = (root + static_cast<double>(n) / root) / 2;
  return static_cast<float>(root);
}
}  // namespace detail

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

/// Attention of each step of x {steps, features} to all steps (Vaswani et al. 2017): softmax(q kᵀ / sqrt(n)) v for each
/// of `heads` heads of n = features / heads values, followed by a Linear of each step.
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
      matmul(to_heads(q), to_heads(k), {.transpose = true, .scale = 1 / coldpress::detail::square_root(size)});
  auto const weights = scores | SoftmaxOver{.axis = -1};
  auto const mixed = matmul(weights, to_heads(v)) | Permute{{1, 0, 2}} | Reshape{{steps, features}};
  return linear_by_step(mixed, features);
}

/// A layer of a transformer's encoder with normalisation first: attention, then two Linears of each step. Each of the
/// two parts is added to its input.
template <class Recorder>
constexpr auto transformer(Value<Recorder> x, Index heads, Index hidden) {
  Index const features = x.shape()[1];
  auto const attended = x + multi_head_attention(x | LayerNormalization{}, heads);
  auto const inner = linear_by_step(attended | LayerNormalization{}, hidden) | GELU{};
  return attended + linear_by_step(inner, features);
}

}  // namespace blocks
}  // namespace coldpress
