// error: in_plase
// lines clang: 800
#include "doubles.hpp"

using namespace coldpress;

struct Doubled : Doubles {
  static constexpr Capabilities capabilities{.backward_reads_input = false, .in_plase = true};
  bool operator==(Doubled const&) const = default;
};

int main() { Network<Sequential<Linear{7}, Doubled{}>, Shape{4}> net; }
