// Names of layers and of their weights.
#include <coldpress/coldpress.hpp>

#include "support/catch.hpp"

namespace {

using namespace coldpress;

constexpr auto function =
    graph([](auto x) { return x | BatchNormalization{} | name("a_layer_whose_name_has_the_most_characters_47__"); });

TEST_CASE("a layer's name may have 47 characters, and its weights' names have their ending besides") {
  using Net = Network<Graph<function>, Shape{3}>;
  REQUIRE(Net::weight_count == 4);
  std::string const layer = "a_layer_whose_name_has_the_most_characters_47__";
  CHECK(layer.size() == 47);
  CHECK(Net::weight_name(0).view() == layer + "-0");
  CHECK(Net::weight_name(1).view() == layer + "-0-bias");
  CHECK(Net::weight_name(2).view() == layer + "-0-mean");
  CHECK(Net::weight_name(3).view() == layer + "-0-variance");
}

TEST_CASE("a longer name is refused with the limit") {
  try {
    Name{std::string(48, 'a')};
    FAIL("there was no error");
  } catch (ShapeError const& error) {
    CHECK(error.sentence() == "name: a layer's name may have at most 47 characters");
  }
}

}  // namespace
