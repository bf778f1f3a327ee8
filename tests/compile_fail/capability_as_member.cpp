// error: layer: the member in_place is now declared by static constexpr Capabilities capabilities{.in_place = ...}
#include "doubles.hpp"

using namespace coldpress;

struct Doubled : Doubles {
  static constexpr Capabilities capabilities{.backward_reads_input = false, .backward_reads_output = false};
  static constexpr bool in_place = true;
  bool operator==(Doubled const&) const = default;
};

int main() { Network<Sequential<Linear{7}, Doubled{}>, Shape{4}> net; }
