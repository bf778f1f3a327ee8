// Compiles a kernel for each backward function of each layer, and for the gradient of each join.
#include "launch.cuh"

namespace coldpress::cuda {
namespace {

template <class... Layers>
void instantiate(TypeList<Layers...>) {
  auto const one = []<class L>(L*) {
    if constexpr (ComputeLayer<L>) {
      if constexpr (Backward<L, Stage::common>::exists) make<Backward<L, Stage::common>>();
      if constexpr (Backward<L, Stage::input>::exists) make<Backward<L, Stage::input>>();
      if constexpr (Backward<L, Stage::parameters>::exists) make<Backward<L, Stage::parameters>>();
    }
    if constexpr (takes_volumes<L>)
      make<Backward<L, Stage::input, OfVolumes>, Backward<L, Stage::parameters, OfVolumes>>();
    if constexpr (JoinLayer<L>) make<JoinGradient<L>>();
  };
  (one(static_cast<Layers*>(nullptr)), ...);
}

}  // namespace

void instantiate_backward() { instantiate(BuiltinLayers{}); }

}  // namespace coldpress::cuda
