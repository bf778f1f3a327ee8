// error: the laws examine a layer through the gradient of its input, and this one passes none
#include <coldpress/coldpress.hpp>
#include <coldpress/testing.hpp>

auto violations() { return coldpress::testing::violations<coldpress::Embedding{.vocabulary = 7}, coldpress::Shape{3}>(); }
