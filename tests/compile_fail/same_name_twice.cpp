// error: two layers have this name
#include <coldpress/coldpress.hpp>

using namespace coldpress;

int main() { Network<Sequential<Named<"fc", Linear{9}>{}, ReLU{}, Named<"fc", Linear{3}>{}>, Shape{4}> net; }
