// The functions of layers for training.
#include "recorded_cpu.hpp"

#include <coldpress/kernels/linked_layers.hpp>

namespace coldpress {

constexpr detail::FunctionsOfAll<detail::GradientFunctions<LinkedCpu>, BuiltinLayers> detail::gradient_functions =
    detail::functions_of_all<detail::GradientFunctionsOf>(BuiltinLayers{});

namespace {
template <class Sinks>
void pass_back(LinkedRun const& run, Sinks const& sinks) {
  backward<LinkedRun, Sinks>(run, sinks, Pass::both, detail::NothingMore{}, WholePass{});
}
template <class Sinks>
constexpr void add(detail::BackwardInto<LinkedCpu, Sinks>& into) {
  into.backward = pass_back<Sinks>;
}
}  // namespace

constexpr detail::BackwardPasses detail::backward_passes = [] {
  BackwardPasses all{};
  for_each_sinks<LinkedCpu>([&]<class Sinks>() { add<Sinks>(all); });
  return all;
}();

}  // namespace coldpress
