// A kernel that does nothing but wait: rounds in which each thread reads what another one, of another block in most of
// them, has written in the round before.
#pragma once

#include <coldpress/core/shape.hpp>

#include <string>

namespace coldpress::test {

struct Rounds {
  Index blocks;         // that are asked for
  bool cluster;         // they are one cluster where the device has clusters of that size
  Index count;          // of rounds, each of which begins with a barrier
  bool waits = true;    // without it there is no barrier at all
  bool checks = true;   // without it nothing is read or written between barriers
  Index width = 33792;  // values that go from thread to thread: more than most GPUs have threads in these kernels
};
struct Outcome {
  Index blocks;         // that there were
  bool cluster;         // whether they were one
  Index wrong;          // values that were not those of the round before
  double microseconds;  // for each round, by the host's clock
};
/// barriers.cu, whose kernels are nvcc's.
Outcome play(std::string const& device, Rounds const& rounds);

}  // namespace coldpress::test
