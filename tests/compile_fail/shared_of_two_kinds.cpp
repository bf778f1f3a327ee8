// error: Shared: layers with the same key need the same parameters, in shape and order
#include <coldpress/coldpress.hpp>

using namespace coldpress;

int main() {
  Network<Sequential<Shared<"w", ReLU{}>{}, Linear{4}, Shared<"w", Linear{4}>{}>, Shape{4}> net;
  static_cast<void>(net);
}
