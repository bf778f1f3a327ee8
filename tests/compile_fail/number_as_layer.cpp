// error: it is a value of a built-in type, not a layer
// error: layer
#include <coldpress/coldpress.hpp>

using namespace coldpress;

int main() { Network<Sequential<Linear{7}, 3>, Shape{4}> net; }
