// error: layer: a layer with backward_input must declare what that reads
#include "doubles.hpp"

using namespace coldpress;

struct Doubled : Doubles {
  bool operator==(Doubled const&) const = default;
};

int main() { Network<Sequential<Linear{7}, Doubled{}>, Shape{4}> net; }
