#include <coldpress/core/error.hpp>

#include "support/catch.hpp"

using namespace coldpress;

TEST_CASE("an error says its sentence, and where as far as that is known") {
  ShapeError error{"3 given, 4 wanted"};
  CHECK(std::string{error.what()} == "3 given, 4 wanted");
  error.in_field("stride");
  CHECK(std::string{error.what()} == "stride: 3 given, 4 wanted");
  error.in_layer("conv1");
  error.in_file("net.juice");
  CHECK(std::string{error.what()} == "net.juice: layer 'conv1': stride: 3 given, 4 wanted");
  CHECK(error.sentence() == "3 given, 4 wanted");
  CHECK((error.file() == "net.juice" && error.layer() == "conv1" && error.field() == "stride"));
}

TEST_CASE("the innermost place is kept") {
  ConfigError error{"no"};
  error.in_layer("inner");
  error.in_layer("outer");
  CHECK(error.layer() == "inner");
}

TEST_CASE("with_context adds a place on the way up, keeps the type, and passes results through") {
  CHECK(with_context([] { return 3; }, [](Error&) {}) == 3);
  int value = 1;
  with_context([&]() -> int& { return value; }, [](Error&) {}) = 2;
  CHECK(value == 2);
  try {
    with_context([]() { throw ChecksumError{"bytes differ"}; }, [](Error& error) { error.in_file("a"); });
    FAIL("nothing was thrown");
  } catch (FormatError const& error) {
    CHECK(dynamic_cast<ChecksumError const*>(&error));
    CHECK(std::string{error.what()} == "a: bytes differ");
  }
  CHECK_THROWS_AS(with_context([] { throw 1; }, [](Error&) {}), int);
}
