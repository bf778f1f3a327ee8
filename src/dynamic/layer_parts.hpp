// Declarations for both files of dynamic::Layer.
#pragma once

// These are layer.cpp, and layer_training.cpp, which programs that never train do not link.

#include "any_backend.hpp"

#include <coldpress/dynamic/layer.hpp>

#include <algorithm>

namespace coldpress::dynamic {

/// The extents of a minibatch, without memory of the heap.
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

/// An objective as a layer of its own: forward(predictions, targets) computes the mean loss, backward() the gradients
/// of the sum of the losses.
struct Layer::LossLayer {
  SeparateObjective objective;
  std::unique_ptr<AnyBackend> backend;

  float forward(Values y, Shape shape, Values target, Index batch) {
    objective.check(shape, target, batch);
    return backend->loss(objective, y, shape, target, batch);
  }
};

/// While an object of this type lives, a pass computes these tensors anew, so their copies on a device need not be
/// preserved unless the caller holds them, too.
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
  std::size_t first_;  // the number of tensors that are computed anew
};

}  // namespace coldpress::dynamic
