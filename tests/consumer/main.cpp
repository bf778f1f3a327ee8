// What a user's first program includes.
#include <coldpress/core/shape.hpp>

static_assert(coldpress::Shape{3, 32, 32}.size() == 3072);

int main() { return 0; }
