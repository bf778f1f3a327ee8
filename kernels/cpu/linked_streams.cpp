// The functions of layers for blocks of a stream's steps, for network types with linked kernels.
#include "recorded_cpu.hpp"

#define COLDPRESS_COMPILED
#include <coldpress/kernels/linked_streams.hpp>

namespace coldpress {

constexpr detail::FunctionsOfAll<detail::StreamFunctions, BuiltinLayers> detail::stream_functions =
    detail::functions_of_all<detail::StreamFunctionsOf>(BuiltinLayers{});

void forward(LinkedBlockRun const& run) { forward<LinkedBlockRun>(run, WholePass{}); }

}  // namespace coldpress
