// Measures the steps of streams while their inputs or their states decay into denormal numbers.
#pragma once

namespace bench {

/// Prints a line for each layer and each way to run it: the nanoseconds of a step for noise, and how many times as long
/// a step takes while the input decays by a factor of 0.85 per step, in the silence after noise, and for inputs of
/// 1e-39. Then one for each stream in blocks: the microseconds of a call for noise, and how many times as long one takes
/// in the silence after it.
void print_denormals();

}  // namespace bench
