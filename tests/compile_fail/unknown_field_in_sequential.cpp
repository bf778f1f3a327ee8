// error: outputs
#include <coldpress/coldpress.hpp>

using namespace coldpress;

int main() { Network<Sequential<Linear{.outputs = 3}, ReLU{}>, Shape{4}> net; }
