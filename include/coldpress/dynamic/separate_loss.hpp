// An objective that is computed separately from the network, on outputs that are already in memory.
#pragma once

// The loss layer and the adapter use it.

#include <coldpress/core/memory.hpp>
#include <coldpress/core/pass.hpp>
#include <coldpress/dynamic/executable.hpp>
#include <coldpress/typed/solver.hpp>

#include <algorithm>

namespace coldpress::dynamic {

class SeparateObjective {
 public:
  /// `backend` is the one that computes the layers before the loss.
  SeparateObjective(Objective objective, std::string backend)
      : objective_(std::move(objective)), backend_(std::move(backend)) {}
  Objective const& objective() const { return objective_; }

  /// Throws ShapeError or DataError unless these are valid targets for `batch` samples of shape `shape`.
  void check(Shape shape, Values target, Index batch) const {
    std::visit(
        [&](auto const& loss) {
          Shape const compared = loss_input(objective_, shape);
          check_values("loss: the targets", target.size(), batch, loss.target_shape(compared));
          check_targets(loss, compared, target);
        },
        objective_.loss);
  }
  /// Computes the mean loss of `batch` samples y of shape `shape`, one after another, with targets that were checked.
  /// Afterwards gradient() is that of the sum of the losses. `primitives` are the backend's.
  template <class Primitives>
  float operator()(Primitives const& primitives, Values y, Shape shape, Values target, Index batch) {
    if (!objective_.layers.empty()) {
      if (!before_ || before_->input_shape() != shape) before_ = make_executable(backend_, objective_.layers, shape);
      y = before_->forward(y, Mode::training);
    }
    Shape const compared = loss_input(objective_, shape);
    float const mean = std::visit(
        [&](auto const& loss) { return value(loss_for(loss, compared), primitives, y, compared, target, batch); },
        objective_.loss);
    passed_back_ = objective_.layers.empty();
    return mean;
  }
  /// The gradient with respect to the outputs; empty before the first loss.
  Values gradient() {
    if (!passed_back_) gradient_ = before_->backward_input(gradient_), passed_back_ = true;
    return gradient_;
  }
  /// From now on, also computes the gradient with respect to the targets.
  void want_target_gradient() { wants_target_gradient_ = true; }
  /// The gradient with respect to the targets; empty if the loss has none.
  Values target_gradient() const { return target_gradient_; }

 private:
  template <class LossType, class Primitives>
  float value(LossType const& loss, Primitives const& primitives, Values y, Shape shape, Values target, Index batch) {
    Rows<float> const outputs = rows(const_cast<float*>(y.data()), y, batch);  // only read: nothing is normalised
    Rows<float> const targets = rows(const_cast<float*>(target.data()), target, batch);
    bool const wants = has_target_gradient<LossType> && wants_target_gradient_;
    auto const padded = [&](HeapMemory<float>& memory, Index size) {  // because kernels write whole padded rows
      Index const pitch = Primitives::pitch(size);
      memory.reserve(batch * (pitch + size));
      return Rows<float>{memory.data(), batch, size, pitch};
    };
    Rows<float> const dy = padded(memory_, outputs.columns),
                      dt = wants ? padded(target_memory_, targets.columns) : Rows<float>{};
    float mean{};
    if constexpr (ElementLoss<LossType>) {
      mean = primitives.loss(loss, Normalization::none, outputs, outputs, targets, dy);
      if constexpr (has_target_gradient<LossType>) {
        if (wants) primitives.loss_target_gradient(loss, outputs, targets, dt);
      }
    } else {
      mean = coldpress::detail::sample_losses(primitives, loss, shape, outputs, targets, dy, dt);
    }
    gradient_ = dense(dy);
    target_gradient_ = wants ? dense(dt) : Values{};
    return mean;
  }
  static Rows<float> rows(float* data, Values values, Index batch) {
    Index const size = static_cast<Index>(values.size()) / batch;
    return {data, batch, size, size};
  }
  /// Copies the rows without their padding to the memory after them.
  static Values dense(Rows<float> const& padded) {
    float* const all = padded.row(padded.rows);
    for (Index i = 0; i < padded.rows; ++i) std::copy_n(padded.row(i), padded.columns, all + i * padded.columns);
    return {all, static_cast<std::size_t>(padded.rows * padded.columns)};
  }

  Objective objective_;
  std::string backend_;
  std::unique_ptr<Executable> before_;
  HeapMemory<float> memory_, target_memory_;
  Values gradient_, target_gradient_;
  bool wants_target_gradient_ = false, passed_back_ = true;  // passed_back_: through the layers before the loss
};

}  // namespace coldpress::dynamic
