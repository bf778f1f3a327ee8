// error: mixes_sample
// lines gcc: 14
// lines clang: 26
#include "doubles.hpp"

using namespace coldpress;

struct Doubled : Doubles {
  static constexpr Capabilities capabilities{.backward_reads_input = false, .backward_reads_output = false};
  constexpr InputCapabilities capabilities_for(Shape const&) const { return {.mixes_sample = true}; }
  bool operator==(Doubled const&) const = default;
};

int main() { Network<Sequential<Linear{7}, Doubled{}>, Shape{4}> net; }
