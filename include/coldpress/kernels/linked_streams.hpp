// The streams of network types with linked kernels, which are compiled with the kernels.
#pragma once

#include <coldpress/kernels/linked_layers.hpp>
#include <coldpress/run/block_stream.hpp>
#include <coldpress/run/step_stream.hpp>

namespace coldpress {

#if !defined COLDPRESS_COMPILED  // as in kernels/cpu/linked_streams.cpp
#define COLDPRESS_COMPILED extern
#endif
COLDPRESS_COMPILED template class ProgramStream<LinkedProgram, LinkedCpu>;
COLDPRESS_COMPILED template class BlockStream<LinkedProgram, LinkedCpu>;
COLDPRESS_COMPILED template class StepStream<LinkedProgram, LinkedCpu>;

}  // namespace coldpress
