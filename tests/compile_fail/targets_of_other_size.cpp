// error: loss: the targets have a different number of values
// only gcc: layer 2 (loss, mean_squared_error) gets {3} and {2}: loss: the targets have a different number
#include <coldpress/coldpress.hpp>

using namespace coldpress;

constexpr auto net = graph([](auto x, auto wanted) {
  auto const y = x | Linear{3};
  apply(MeanSquaredError{}, y, wanted) | name("loss");
  return y;
});

int main() { Network<Graph<net>, Inputs{Shape{4}, Shape{2}}> network; }
