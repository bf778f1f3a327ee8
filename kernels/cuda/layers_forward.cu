// Compiles a kernel for the forward function of each layer.
#include "launch.cuh"

namespace coldpress::cuda {
namespace {

template <class... Layers>
void instantiate(TypeList<Layers...>) {
  auto const one = []<class L>(L*) {
    if constexpr (ComputeLayer<L>) make<Forward<L>>();
    if constexpr (takes_volumes<L>) make<Forward<L, OfVolumes>>();
  };
  (one(static_cast<Layers*>(nullptr)), ...);
}

}  // namespace

void instantiate_forward() { instantiate(BuiltinLayers{}); }

}  // namespace coldpress::cuda
