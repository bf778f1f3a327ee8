// error: dropout: probability must be at least 0 and below 1
#include <coldpress/coldpress.hpp>

using namespace coldpress;

int main() { Network<Sequential<Linear{9}, Dropout{.probability = 1}>, Shape{4}> net; }
