#include "support/layer_laws.hpp"

using namespace coldpress;

TEST_CASE("Pad keeps the laws of layers: zeros around images") {
  test::check_laws_at<Pad{.before = {2, 0}, .after = {1, 3}, .value = 0.5f}, Shape{2, 3, 4}>();
}
TEST_CASE("Pad keeps the laws of layers: mirrored images") {
  test::check_values_at<Pad{.mode = PadMode::reflect, .before = {2, 1}, .after = {0, 3}}, Shape{2, 3, 4}>();
}
TEST_CASE("Pad keeps the laws of layers: channels, of which the outermost are repeated") {
  test::check_values_at<Pad{.mode = PadMode::replicate, .axis = 0, .before = {2, 0, 0}, .after = {1, 0, 2}},
                        Shape{2, 3, 4}>();
}

constexpr StreamSupport streaming(Pad const& layer, Shape const& in) { return layer.capabilities_for(in).streaming; }
static_assert(Pad{.before = 1, .after = {0, 2}}.output_shape({3, 5, 5}) == Shape{3, 6, 8});
static_assert(Pad{.axis = -2, .before = {1, 2}}.output_shape({4, 5}) == Shape{5, 7});
static_assert(streaming({.axis = -1, .before = 1}, {4, 5}) == StreamSupport::always);
static_assert(streaming({.axis = 0, .before = 1}, {4, 5}) == StreamSupport::never);
static_assert(streaming({.axis = 0, .before = 1}, {5}) == StreamSupport::never);

TEST_CASE("padding that means nothing is refused with a sentence") {
  auto const refused = [](Pad const& layer, Shape const& in, char const* words) {
    try {
      layer.output_shape(in);
      FAIL_CHECK("accepted");
    } catch (ShapeError const& error) {
      INFO(error.sentence());
      CHECK(std::string{error.sentence()}.find(words) != std::string::npos);
    }
  };
  refused({.before = 1}, {5}, "the sample has no axis of this number");
  refused({.axis = 0, .before = 1}, {2, 2, 5, 5}, "axis must be one of the last three");
  refused({.before = {1, 2, 3}}, {2, 5, 5}, "one number, or one for each axis");
  refused({.after = -1}, {2, 5, 5}, "from 0 to 2^30");
  refused({.before = Index{1} << 62}, {2, 5, 5}, "from 0 to 2^30");
  refused({.mode = PadMode::reflect, .after = {0, 3}}, {2, 5, 3}, "reflect adds fewer values than the axis has");
  refused({.mode = static_cast<PadMode>(3)}, {2, 5, 3}, "mode is not one of its type");
  refused({.value = std::numeric_limits<float>::infinity()}, {2, 5, 3}, "value must be a finite number");
  refused({.before = Index{1} << 30}, {2, 5, 5}, "more than 2^40 values");
}
