// error: coldpress: compile without -ffast-math, -Ofast and their parts
#define __FAST_MATH__ 1  // as compilers do for -ffast-math
#include <coldpress/core/freestanding.hpp>

int main() {}
