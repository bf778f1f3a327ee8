// What both files of dynamic::Layer need: layer.cpp, and layer_training.cpp, which programs that never train do not
// link.
#pragma once

#include "any_backend.hpp"

#include <coldpress/dynamic/layer.hpp>

#include <algorithm>

namespace coldpress::dynamic {

/// Those of a minibatch, without the heap.
class Extents {
 public:
  Extents(Index batch, Shape const& shape) : rank_(static_cast<std::size_t>(shape.rank()) + 1), extents_{batch} {
    std::copy_n(shape.extents, rank_ - 1, extents_ + 1);
  }
  operator std::span<Index const>() const { return {extents_, rank_}; }

 private:
  std::size_t rank_;
  Index extents_[Shape::max_rank + 1];
};

/// An objective as a layer of its own: forward(predictions, targets) gives the mean loss, backward() the gradients of
/// its sum.
struct Layer::LossLayer {
  SeparateObjective objective;
  std::unique_ptr<AnyBackend> backend;

  float forward(Values y, Shape shape, Values target, Index batch) {
    objective.check(shape, target, batch);
    return backend->loss(objective, y, shape, target, batch);
  }
};

/// While it lasts, a pass makes these tensors anew: copies on a device that nobody else holds need not be kept for
/// them.
class Layer::Remaking {
 public:
  Remaking(Tensors const& tensors, std::span<SharedTensor::Home* const> given, std::size_t first = SIZE_MAX)
      : tensors_(tensors), first_(first) {
    want(true);
    for (auto* home : given) {
      if (home) home->want(true);  // the pass reads it
    }
  }
  Remaking(Remaking const&) = delete;
  ~Remaking() { want(false); }

 private:
  void want(bool makes_another) const {
    for (std::size_t k = 0; k < std::min(first_, tensors_.now.size()); ++k) tensors_.now[k].want_copy(makes_another);
  }
  Tensors const& tensors_;
  std::size_t first_;  // of them
};

}  // namespace coldpress::dynamic
