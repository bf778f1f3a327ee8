// Compiles a kernel for each loss and its gradients, and for each statistic.
#include "launch.cuh"

namespace coldpress::cuda {
namespace {

template <class... Losses>
void instantiate_losses(TypeList<Losses...>) {
  auto const one = []<class L>(L*) {
    if constexpr (ElementLoss<L>) {
      make<LossOf<L>>();
      if constexpr (has_target_gradient<L>) make<TargetGradient<L>>();
    } else {
      make<SampleLossOf<L>>();
    }
  };
  (one(static_cast<Losses*>(nullptr)), ...);
}
template <class... Statistics>
void instantiate_statistics(TypeList<Statistics...>) {
  make<Observe<Statistics>...>();
}

}  // namespace

void instantiate_losses() {
  instantiate_losses(BuiltinLosses{});
  instantiate_statistics(BuiltinStatistics{});
}

}  // namespace coldpress::cuda
