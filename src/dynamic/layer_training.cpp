// The backward passes and updates of Layer, which only programs that train link.
#include "layer_parts.hpp"

#include <coldpress/core/counted.hpp>

namespace coldpress::dynamic {

/// Checks that the inputs are still where they were in forward, because backward reads them again.
void Layer::check_kept() const {
  for (std::size_t k = 0; k < kept_inputs_.size() && k < kept_values_.size(); ++k) {
    Values const now = kept_inputs_[k].read();
    require(now.data() == kept_values_[k].data() && now.size() == kept_values_[k].size(),
            "backward: an input has been resized since forward");
  }
}

std::span<SharedTensor const> Layer::backward(std::span<SharedTensor const> output_gradients) {
  backward_input(output_gradients);
  if (!loss_) backward_parameters();
  return input_gradients_.now;
}

std::span<SharedTensor const> Layer::backward_input(std::span<SharedTensor const> output_gradients) {
  check_kept();
  if (loss_) {
    if (!output_gradients.empty())
      throw ShapeError{"backward: a loss takes no gradients, got " + std::to_string(output_gradients.size())};
    require(!loss_->objective.gradient().empty(), "backward: must come after forward");
    hold(input_gradients_, 0, {loss_->objective.gradient()}, kept_inputs_[0].shape());
    if (Values const to_targets = loss_->objective.target_gradient(); !to_targets.empty())
      hold(input_gradients_, 1, {to_targets}, kept_inputs_[1].shape());
    return input_gradients_.now;
  }
  auto const shapes = executable().output_shapes();
  if (output_gradients.size() != shapes.size()) {
    throw ShapeError{"backward: takes " + counted(shapes.size(), "gradient") + ", got " +
                     std::to_string(output_gradients.size())};
  }
  give(output_gradients, shapes);
  Remaking const remaking{input_gradients_, given_.homes};
  executable_->backward_input(given_.values, given_.homes.data());
  hold_input_gradients();
  return input_gradients_.now;
}

void Layer::hold_input_gradients() {
  auto const shapes = executable_->input_shapes();
  std::size_t const outputs = executable_->output_shapes().size();
  for (std::size_t k = 0; k < shapes.size(); ++k) {
    auto const made = executable_->made(outputs + k);
    auto const size = static_cast<Index>(made.values.size());
    if (size == 0) return input_gradients_.now.clear();
    if (kept_inputs_.empty() || kept_inputs_[k].size() != size) {
      hold(input_gradients_, k, made, Extents{size / shapes[k].size(), shapes[k]});
    } else {
      hold(input_gradients_, k, made, kept_inputs_[k].shape());
    }
  }
}

void Layer::train(std::span<Values const> inputs, Values targets, std::optional<Objective> const& objective,
                  TrainingOptions const& options, Progress& progress, Homes homes) {
  send_weights();
  Remaking const gradients{input_gradients_, {}},
      output{outputs_, {homes, homes ? given_.homes.size() : 0}, homes ? 1u : 0u};
  try {
    executable().train_minibatch(inputs, targets, objective, options, progress, homes);
  } catch (...) {  // a registered layer may throw when other weights have been updated
    weights_changed(), gradients_changed();
    throw;
  }
  weights_changed();
  gradients_changed();
  hold_input_gradients();
  if (homes) hold_outputs(1);
}

void Layer::backward_parameters() {
  check_kept();
  executable().backward_parameters();
  gradients_changed();
}

void Layer::update_weights() {
  send_weights();
  for (SharedTensor const& tensor : weights_gradients_) tensor.send_home();
  executable().subtract_gradients();
  weights_changed();
}

}  // namespace coldpress::dynamic
