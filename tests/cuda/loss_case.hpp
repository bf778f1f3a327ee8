// A loss with what it takes: a network for it, some samples and their targets.
#pragma once

#include "dynamic/tensors.hpp"

namespace coldpress::test {

inline SharedTensor labels(Index count, Index classes) {
  Random random{5};
  Floats values;
  for (Index i = 0; i < count; ++i) values.push_back(static_cast<float>(random.integer(0, classes - 1)));
  return tensor({count}, values);
}

template <class L>
struct LossCase {
  L loss;
  LayerConfig network;
  SharedTensor x, t;
};

/// Its network makes scores of four classes, in each of 40 steps where the loss takes sequences.
template <class L>
LossCase<L> loss_case(Index samples) {
  L loss{};
  if constexpr (requires { loss.num_classes; }) loss.num_classes = 4;
  Shape const scores = std::is_same_v<L, CTCLoss> ? Shape{40, 4} : Shape{4}, target = loss.target_shape(scores);
  SharedTensor t = noise({samples, target.size()}, 2, 0.1f, 1);
  if constexpr (L::target == Target::label)
    t = tensor({samples, target.size()}, values_of(labels(samples * target.size(), loss.classes(scores))));
  return {loss,
          sequential({{"first", Linear{9}},
                      {"tanh", TanH{}},
                      {"last", Linear{scores.size()}},
                      {"shape", Reshape{scores}},
                      {"scores", LogSoftmax{}}},
                     Shape{6}),
          noise({samples, 6}, 1), t};
}

}  // namespace coldpress::test
