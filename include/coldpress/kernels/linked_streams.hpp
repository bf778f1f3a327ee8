// The streams of networks on linked kernels, which are compiled with the kernels
// (kernels/cpu/linked_streams.cpp).
#pragma once

#include <coldpress/kernels/linked_layers.hpp>
#include <coldpress/run/block_stream.hpp>
#include <coldpress/run/step_stream.hpp>

namespace coldpress {

extern template class ProgramStream<LinkedProgram, LinkedCpu>;
extern template class BlockStream<LinkedProgram, LinkedCpu>;
extern template class StepStream<LinkedProgram, LinkedCpu>;

}  // namespace coldpress
