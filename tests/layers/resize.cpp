#include "support/layer_laws.hpp"

using namespace coldpress;

TEST_CASE("Resize keeps the laws of layers: nearest values") {
  test::check_laws_at<Resize{.factor = {2, 3}}, Shape{2, 3, 4}>();
}
TEST_CASE("Resize keeps the laws of layers: smaller in one direction, larger in the other") {
  test::check_values_at<Resize{.mode = ResizeMode::linear, .size = {2, 9}}, Shape{2, 5, 4}>();
}
TEST_CASE("Resize keeps the laws of layers: steps of a sequence") {
  test::check_values_at<Resize{.mode = ResizeMode::linear, .factor = 3}, Shape{4, 5}>();
}

// By hand: a value twice as dense lies a quarter before and behind each value of the input.
TEST_CASE("twice as many values are a quarter away from the old ones, and no value that is not there counts") {
  Network<Sequential<Resize{.mode = ResizeMode::linear, .factor = 2}>, Shape{3, 1}> network;
  CHECK(test::copy_of<float>(network.forward(std::vector<float>{0, 4, 12})) == std::vector<float>{0, 1, 3, 6, 10, 12});
  float const inf = std::numeric_limits<float>::infinity();
  Network<Sequential<Resize{.factor = 2}>, Shape{2, 1}> nearest;
  CHECK(test::copy_of<float>(nearest.forward(std::vector<float>{1, inf})) == std::vector<float>{1, 1, inf, inf});
}

static_assert(Resize{.factor = {2, 3}}.output_shape({3, 5, 7}) == Shape{3, 10, 21});
static_assert(Resize{.size = 4}.output_shape({3, 5, 7}) == Shape{3, 4, 4});
static_assert(Resize{.factor = 2}.output_shape({5, 7}) == Shape{10, 7});

TEST_CASE("a size that means nothing is refused with a sentence") {
  auto const refused = [](Resize const& layer, Shape const& in, char const* words) {
    try {
      layer.output_shape(in);
      FAIL_CHECK("accepted");
    } catch (ShapeError const& error) {
      INFO(error.sentence());
      CHECK(std::string{error.sentence()}.find(words) != std::string::npos);
    }
  };
  for (Shape const in : {Shape{}, Shape{5}, Shape{1, 2, 3, 4}})
    refused({.factor = 2}, in, "the input must be {channels, height, width}");
  refused({.factor = {1, 2}}, {4, 5}, "more numbers than axes");
  refused({.size = {2, 3, 4}}, {4, 5, 6}, "more numbers than axes");
  refused({.size = 4, .factor = 2}, {3, 5, 5}, "not possible together");
  refused({.size = {4, 0}}, {3, 5, 5}, "for each axis, or for none");
  refused({.size = -1}, {3, 5, 5}, "size must be from 1");
  for (Index const bad : {Index{0}, Index{-1}, Index{1} << 62})
    refused({.factor = bad}, {3, 5, 5}, "factor must be from 1");
  refused({.mode = static_cast<ResizeMode>(2)}, {3, 5, 5}, "mode is not one of its type");
  refused({.size = Index{1} << 30}, {3, 5, 5}, "more than 2^40 values");
}
