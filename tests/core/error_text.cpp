#include <coldpress/core/error_text.hpp>
#include <coldpress/core/shape.hpp>

#include <sstream>
#include <string>
#include <utility>

#include "support/catch.hpp"

using namespace coldpress;

TEST_CASE("an error's text owns its characters, and ends with a zero") {
  std::string words = "abc";
  ErrorText text{std::string_view{words}.substr(0, 2)};
  words = "xyz";
  CHECK((text == "ab" && std::string{text.c_str()} == "ab" && !text.empty()));
  text += text;
  CHECK(text == "abab");
  text += "";
  CHECK((text == "abab" && text.c_str()[4] == '\0'));
  ErrorText const copy = text;
  ErrorText moved = std::move(text);
  CHECK((copy == "abab" && moved == "abab"));
  moved = copy;
  moved += "c";
  CHECK((moved == "ababc" && copy == "abab"));
  ErrorText const& itself = moved;
  moved = itself;
  CHECK(moved == "ababc");
}

TEST_CASE("an empty text can be read, copied, and continued") {
  ErrorText text;
  CHECK((text.empty() && std::string{text.c_str()}.empty() && text == ""));
  ErrorText const copy = text;
  CHECK(copy.empty());
  CHECK((text += "a") == "a");
  text = {};
  CHECK(text.empty());
}

TEST_CASE("a sentence is joined from texts, numbers and shapes") {
  std::string const words = "one two";
  CHECK(sentence_of("a ", 3, " ", Shape{1, 28}, " ", std::string_view{words}.substr(4, 2), ErrorText{"!"}, -5L, "") ==
        "a 3 {1, 28} tw!-5");
  CHECK(sentence_of(std::string_view{}, "b", ErrorText{}, 0u) == "b0");
}

TEST_CASE("an error's text is used like a std::string") {
  ErrorText const text = "ab";
  std::string const copied = text, constructed{text};
  auto const returned = [&]() -> std::string { return text; }();
  CHECK((copied == "ab" && constructed == "ab" && returned == "ab"));
  std::string assigned;
  assigned = text;
  assigned += text;
  CHECK(assigned == "abab");
  CHECK((text == copied && copied == text && text == "ab" && text != "a" && text == text));
  CHECK(text + "c" == "abc");
  CHECK("c" + text == "cab");
  CHECK(text + std::string{"c"} + text + std::string_view{"d"} == "abcabd");
  CHECK(std::string{"c"} + text == "cab");
  std::ostringstream stream;
  stream << text << 3;
  CHECK(stream.str() == "ab3");
}

TEST_CASE("what an error says outlives it when it is returned by value") {
  auto const said = [] {
    try {
      throw ShapeError{std::string(100, 'x')};
    } catch (ShapeError const& error) {
      return error.sentence();
    }
  }();
  CHECK(said == std::string(100, 'x'));
}

TEST_CASE("an error's text is made of a std::string, too") {
  std::string const words = "abc";
  ErrorText text = words;
  CHECK(text == "abc");
  text = words + "d";
  CHECK(text == "abcd");
  CHECK_THROWS_AS(raise<ShapeError>(words + "e"), ShapeError);
}

template <class T>
concept Shifted = requires(T value) {
  value << 3;
};

TEST_CASE("what cannot be printed can still be asked about") {
  STATIC_REQUIRE_FALSE(Shifted<ErrorText>);
  STATIC_REQUIRE_FALSE(std::is_convertible_v<ErrorText, std::pair<char const*, std::size_t>>);
}
