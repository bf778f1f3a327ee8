#include <coldpress/core/enumerator.hpp>

#include <coldpress/core/to_string.hpp>

#include "support/catch.hpp"

#include <array>
#include <vector>

namespace {

enum class Tone { low, high };
constexpr auto spellings(Tone) { return std::array<std::string_view, 2>{"low", "high"}; }

}  // namespace

TEST_CASE("a text names its enumerator, or none") {
  using coldpress::enumerator;
  CHECK(enumerator<Tone>("low") == Tone::low);
  CHECK(enumerator<Tone>("high") == Tone::high);
  CHECK_FALSE(enumerator<Tone>("High"));
  CHECK_FALSE(enumerator<Tone>(""));
  for (Tone const tone : {Tone::low, Tone::high}) CHECK(enumerator<Tone>(coldpress::to_string(tone)) == tone);
}

TEST_CASE("texts are listed with commas in between") {
  CHECK(coldpress::joined(std::vector<std::string>{}).empty());
  CHECK(coldpress::joined(spellings(Tone{})) == "low, high");
}
