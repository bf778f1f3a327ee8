// error: two layers have this name
// only gcc: layer 3 (fc, linear): two layers
// only clang: layer(3, &"linear"[0]
#include <coldpress/coldpress.hpp>

using namespace coldpress;

int main() { Network<Sequential<Named<"fc", Linear{9}>{}, ReLU{}, Named<"fc", Linear{3}>{}>, Shape{4}> net; }
