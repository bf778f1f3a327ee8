// error: layer: the member by_sample is now declared by constexpr InputCapabilities capabilities_for
#include "doubles.hpp"

using namespace coldpress;

struct Doubled : Doubles {
  static constexpr Capabilities capabilities{.backward_reads_input = false, .backward_reads_output = false};
  constexpr bool by_sample() const { return true; }
  bool operator==(Doubled const&) const = default;
};

int main() { Network<Sequential<Linear{7}, Doubled{}>, Shape{4}> net; }
