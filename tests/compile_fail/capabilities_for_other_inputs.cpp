// error: layer: capabilities_for must be const and take the Shape of its input, or the Shapes of all inputs
#include "doubles.hpp"

using namespace coldpress;

struct Doubled : Doubles {
  static constexpr Capabilities capabilities{.backward_reads_input = false, .backward_reads_output = false};
  constexpr InputCapabilities capabilities_for(Shapes) const { return {.mixes_samples = true}; }
  bool operator==(Doubled const&) const = default;
};

int main() { Network<Sequential<Linear{7}, Doubled{}>, Shape{4}> net; }
