// error: layer: its capabilities must be declared as static constexpr Capabilities
#include "doubles.hpp"

using namespace coldpress;

struct Doubled : Doubles {
  static constexpr bool capabilities = true;
  bool operator==(Doubled const&) const = default;
};

int main() { Network<Sequential<Linear{7}, Doubled{}>, Shape{4}> net; }
