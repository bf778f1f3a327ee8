// The functions of layers for inference.
#include "recorded_cpu.hpp"  // so that they are inlined: for a small layer, one more call takes as long as its kernel

#include <coldpress/kernels/linked_layers.hpp>

namespace coldpress {

constexpr detail::FunctionsOfAll<detail::HeadFunctions<LinkedCpu>, BuiltinLayers> detail::head_functions =
    detail::functions_of_all<detail::HeadFunctionsOf>(BuiltinLayers{});

void forward(LinkedRun const& run) { forward<LinkedRun>(run, WholePass{}); }

}  // namespace coldpress
