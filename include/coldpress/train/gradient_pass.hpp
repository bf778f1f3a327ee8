// The gradients of a minibatch, computed beside the training of a network type.
#pragma once

#include <coldpress/typed/solver.hpp>

#include <vector>

namespace coldpress::train::detail {

/// Computes the gradients that a step of solver S computes, which a fused update does not keep. All memory is its own,
/// so it changes nothing that the solver, its network or its statistics know.
template <class S>
class GradientPass {
  using Net = std::remove_cvref_t<decltype(std::declval<S const&>().network())>;
  using T = typename Net::T;
  static constexpr Index in_parts = S::options.microbatch;

 public:
  /// Computes the gradients of the sum of the losses at the current weights, with the random numbers of the last step.
  /// Returns false, without gradients, if the loss is not finite.
  template <std::size_t n>
  bool compute(S const& solver, std::array<std::span<T const>, n> inputs) {
    Net& net = solver.network();
    workspace_.run_on(net.executor());
    auto const run = net.template start<typename S::Program>(inputs, workspace_, solver.step());
    constexpr EvaluationOf::Ignored each{};
    if constexpr (in_parts > 0) {
      using Optimizer = typename S::Optimizer;
      parts_.reserve(run, {in_parts, S::Program::scratch_size, Net::parameter_size, Index{Net::Graph::sums},
                           S::options.bfloat16_gradients, S::options.sync_batch_normalization});
      // The first of two minibatches of an update, after which nothing is updated yet.
      UpdateStep<Optimizer, T> const step{
          {solver.optimizer(), 0, nullptr, {}}, {.accumulate = 2}, 0, {}, run.batch, nullptr};
      T const loss = parts_.train_step(run, step, gradients_.data(), each);
      return loss - loss == 0;
    } else {
      coldpress::forward(run);
      T const loss = loss_and_gradient(run, each);
      if (!(loss - loss == 0)) return false;
      coldpress::backward(run, GradientSinks<T>{{gradients_.data()}, run.program.slots()});
      return true;
    }
  }
  /// They are laid out as Net::parameters().
  T const* gradients() const { return gradients_.data(); }

 private:
  struct Nothing {};
  using Workspace = typename Net::template BasicWorkspace<typename S::Program>;
  std::conditional_t<(in_parts > 0), coldpress::detail::PartWorkspace<Workspace, in_parts>, Workspace> workspace_;
  [[no_unique_address]] std::conditional_t<(in_parts > 0), Microbatches<T, S::options.sync_batch_normalization>,
                                           Nothing>
      parts_;
  std::vector<T> gradients_ = std::vector<T>(static_cast<std::size_t>(Net::parameter_size));
};

}  // namespace coldpress::train::detail
