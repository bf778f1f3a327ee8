// What a step of a stream takes while its inputs or its state decay into denormal numbers.
#pragma once

namespace bench {

/// A line for each layer, and for each way to run it: nanoseconds of a step of noise, and how many times as long steps
/// take while the input decays by 0.85 a step, in the silence after noise, and for inputs of 1e-39.
void print_denormals();

}  // namespace bench
