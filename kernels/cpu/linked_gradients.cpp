// The functions of layers for training, for network types with linked kernels.
#include "recorded_cpu.hpp"

#include <coldpress/kernels/linked_layers.hpp>

namespace coldpress {

constexpr detail::FunctionsOfAll<detail::GradientFunctions, BuiltinLayers> detail::gradient_functions =
    detail::functions_of_all<detail::GradientFunctionsOf>(BuiltinLayers{});

namespace {
template <class Sinks>
void pass_back(LinkedRun const& run, Sinks const& sinks) {
  backward<LinkedRun, Sinks>(run, sinks, Pass::both, detail::NothingMore{}, WholePass{});
}
}  // namespace

void backward(LinkedRun const& run, GradientSinks<float> const& sinks) { pass_back(run, sinks); }
void backward(LinkedRun const& run, UpdateSinks<Sgd, float> const& sinks) { pass_back(run, sinks); }
void backward(LinkedRun const& run, UpdateSinks<Nesterov, float> const& sinks) { pass_back(run, sinks); }

}  // namespace coldpress
