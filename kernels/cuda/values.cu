// Kernels that are independent of the layer: sums, pointwise operations, normalisations, and the optimizers' steps.
#include "launch.cuh"

namespace coldpress::cuda {
namespace {

template <class... Optimizers>
void instantiate(TypeList<Optimizers...>) {
  make<Update<Optimizers>...>();
}

}  // namespace

void instantiate_values() {
  make<BiasGradient, CopySteps, Map, MapGradient, AddGradient, Normalize, NormalizeGradient, Gather, Subtract>();
  instantiate(BuiltinOptimizers{});
}

}  // namespace coldpress::cuda
