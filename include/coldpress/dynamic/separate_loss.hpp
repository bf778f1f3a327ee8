// An objective on outputs that are in memory already, apart from the network that made them: the loss layer's and the
// adapter's.
#pragma once

#include <coldpress/backend/backend.hpp>
#include <coldpress/core/memory.hpp>
#include <coldpress/dynamic/executable.hpp>
#include <coldpress/optim/solver.hpp>

#include <algorithm>

namespace coldpress::dynamic {

class SeparateObjective {
 public:
  /// Computes on `backend`.
  SeparateObjective(Objective objective, std::string backend)
      : objective_(std::move(objective)), backend_(std::move(backend)) {}
  Objective const& objective() const { return objective_; }

  /// Throws ShapeError or DataError unless these can be the targets of `batch` samples of shape `shape`.
  void check(Shape shape, Values target, Index batch) const {
    std::visit(
        [&](auto const& loss) {
          Shape const compared = loss_input(objective_, shape);
          Index const width = loss.target_shape(compared).size();
          require(static_cast<Index>(target.size()) == batch * width,
                  "loss: the targets must be as many as the samples");
          check_targets(loss, compared, target);
        },
        objective_.loss);
  }
  /// The mean loss of `batch` samples y of shape `shape`, one after another, with targets that were checked; gradient()
  /// is then that of the sum. Primitives: those of the backend.
  template <class Primitives>
  float operator()(Primitives const& primitives, Values y, Shape shape, Values target, Index batch) {
    if (!objective_.layers.empty()) {
      if (!before_ || before_->input_shape() != shape) before_ = make_executable(backend_, objective_.layers, shape);
      y = before_->forward(y, Mode::training);
    }
    Shape const compared = loss_input(objective_, shape);
    float const mean = std::visit([&](auto const& loss) { return value(loss, primitives, y, compared, target, batch); },
                                  objective_.loss);
    if (!objective_.layers.empty()) gradient_ = before_->backward_input(gradient_);
    return mean;
  }
  Values gradient() const { return gradient_; }

 private:
  template <class LossType, class Primitives>
  float value(LossType const& loss, Primitives const& primitives, Values y, Shape shape, Values target, Index batch) {
    Index const size = static_cast<Index>(y.size()) / batch,
                pitch = Primitives::pitch(size);  // kernels write whole rows
    memory_.reserve(batch * (pitch + size));
    Rows<float> const padded{memory_.data(), batch, size, pitch};
    Rows<float> const outputs{const_cast<float*>(y.data()), batch, size, size};  // read only: nothing is normalised
    Index const width = static_cast<Index>(target.size()) / batch;
    Rows<float> const targets{const_cast<float*>(target.data()), batch, width, width};
    float mean{};
    if constexpr (ElementLoss<LossType>) {
      mean = primitives.loss(loss, Normalization::none, outputs, outputs, targets, padded);
    } else {
      mean = coldpress::detail::sample_losses(loss, shape, outputs, targets, padded, Rows<float>{});
    }
    float* const gradient = memory_.data() + batch * pitch;
    for (Index i = 0; i < batch; ++i) std::copy_n(padded.row(i), size, gradient + i * size);
    gradient_ = {gradient, y.size()};
    return mean;
  }

  Objective objective_;
  std::string backend_;
  std::unique_ptr<Executable> before_;
  HeapMemory<float> memory_;
  Values gradient_;
};

}  // namespace coldpress::dynamic
