// Checks how often a callback is to be called, and the state that it resumes from.
#include <coldpress/train/callback.hpp>

#include <cmath>

namespace coldpress::train {
namespace {

std::uint64_t positive(char const* what, std::int64_t n) {
  if (n < 1) throw ConfigError{std::string{what} + " must be at least 1, got " + std::to_string(n)};
  return static_cast<std::uint64_t>(n);
}

}  // namespace

When steps(std::int64_t n) { return {.steps = positive("steps", n)}; }
When epochs(std::int64_t n) { return {.epochs = positive("epochs", n)}; }
When seconds(double n) {
  if (!(n > 0)) throw ConfigError{"seconds must be above 0"};
  return {.seconds = n};
}

void check_state(std::string_view name, State const& state, std::size_t numbers) {
  auto const refuse = [&](std::string const& sentence) {
    FormatError error{sentence};
    error.in_field("states: '" + std::string{name} + "'");
    throw error;
  };
  if (state.numbers.size() != numbers)
    refuse("has " + std::to_string(state.numbers.size()) + " numbers, expected " + std::to_string(numbers));
}
Index count_in(std::string_view name, double number) {
  if (number >= 0 && number <= 0x1p53 && number == std::floor(number)) return static_cast<Index>(number);
  FormatError error{"has the number " + std::to_string(number) + ", expected a count"};
  error.in_field("states: '" + std::string{name} + "'");
  throw error;
}

}  // namespace coldpress::train
