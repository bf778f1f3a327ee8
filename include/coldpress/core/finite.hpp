// Checks that values are finite, at the cost of reading them once.
#pragma once

#include <coldpress/core/shape.hpp>

#include <cstdio>
#include <span>

namespace coldpress {

/// The index of the first value that is infinite or NaN, or -1. It looks at sums first: they are finite only if all
/// values are, and they cost one addition per vector of values.
template <class T>
__attribute__((noinline)) Index first_not_finite(std::span<T const> values) {
  constexpr std::size_t parts = 32;
  std::size_t const whole = values.size() - values.size() % parts;
  T sums[parts] = {}, total{};
  for (std::size_t i = 0; i < whole; i += parts) {
    for (std::size_t k = 0; k < parts; ++k) sums[k] += values[i + k];
  }
  for (T const value : values.subspan(whole)) total += value;
  for (T const sum : sums) total += sum;
  if (total - total == 0) return -1;
  for (T const& value : values) {
    if (value - value != 0) return &value - values.data();
  }
  return -1;  // all values are finite, but their sum overflowed
}

namespace detail {
/// A number as text, for example 7, 0.5 or nan.
#if defined COLDPRESS_DECLARES_ONCE
__attribute__((cold)) ErrorText number_text(double value);
#else
COLDPRESS_ONCE ErrorText number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}
#endif
/// Throws DataError for value number `at` of what check_finite was given.
#if defined COLDPRESS_DECLARES_ONCE
[[noreturn]] __attribute__((cold)) void refuse_value(char const* what, int number, Index at, Index size, double found);
#else
[[noreturn]] COLDPRESS_ONCE void refuse_value(char const* what, int number, Index at, Index size, double found) {
  ErrorText const whose = number < 0 ? ErrorText{what} : sentence_of(what, number);
  raise<DataError>(sentence_of("train_minibatch: value ", at % size, " of sample ", at / size, " of ", whose, " is ",
                               number_text(found),
                               "; training takes finite numbers, and counts samples and values from 0"));
}
#endif
}  // namespace detail

/// Throws DataError for the first value that is infinite or NaN, and says where it is. `size` is the number of values
/// per sample.
template <class T>
void check_finite(std::span<T const> samples, Index size, char const* what, int number = -1) {
  Index const at = first_not_finite(samples);
  if (at >= 0) detail::refuse_value(what, number, at, size, static_cast<double>(samples[static_cast<std::size_t>(at)]));
}

/// Throws the DivergenceError of a step with this loss. `taken` says whether the step has changed the weights; `weight`
/// names the first one that is not finite, or is empty.
#if defined COLDPRESS_DECLARES_ONCE
[[noreturn]] __attribute__((cold)) void refuse_divergence(std::uint64_t step, double loss, bool taken,
                                                          std::string_view weight);
#else
[[noreturn]] COLDPRESS_ONCE void refuse_divergence(std::uint64_t step, double loss, bool taken,
                                                   std::string_view weight) {
  ErrorText const state =
      !weight.empty()
          ? sentence_of("weight '", weight, "' has values that are infinite or NaN: the network can no longer be used")
      : taken ? "all weights are finite"
              : "the step was not taken: all weights are finite, and as they were before it";
  bool const may_be_inputs = !taken && weight.empty() && loss != loss;
  raise<DivergenceError>(
      sentence_of("the loss of step ", step, " is ", detail::number_text(loss), "; ", state,
                  ". A smaller learning rate or clipped gradients may help",
                  may_be_inputs ? ", or other inputs: an embedding makes NaN of a number outside its table" : ""),
      step, loss, weight);
}
#endif

}  // namespace coldpress
