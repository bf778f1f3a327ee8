// The functions of layers for blocks of a stream's steps.
#include "recorded_cpu.hpp"

#include <coldpress/kernels/linked_streams.hpp>

namespace coldpress {

constexpr detail::FunctionsOfAll<detail::StreamFunctions<LinkedCpu>, BuiltinLayers> detail::stream_functions =
    detail::functions_of_all<detail::StreamFunctionsOf>(BuiltinLayers{});

template class ProgramStream<LinkedProgram, LinkedCpu>;
template class BlockStream<LinkedProgram, LinkedCpu>;
template class StepStream<LinkedProgram, LinkedCpu>;

void forward(LinkedBlockRun const& run) { forward<LinkedBlockRun>(run, WholePass{}); }

}  // namespace coldpress
