// error: Batch: a batch has at least one sample
#include <coldpress/coldpress.hpp>

using namespace coldpress;

int main() { Network<Sequential<Linear{9}>, Shape{4}, Batch<0>> net; }
