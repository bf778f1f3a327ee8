// Checks the numbers of transforms, and which of them belong to a network or to training alone.
#include <coldpress/data/transform.hpp>

#include "transform_chain.hpp"

#include <cmath>

// The part that files of networks need. fit_transforms.cpp, which finds statistics, needs the readers of data, too.

namespace coldpress::data {
namespace {

constexpr Index most = Index{1} << 40;

/// Whether a transform's own numbers make sense. It is cold, so that compilers make it small.
struct Check {
  __attribute__((cold)) static void finite(char const* what, float value) {
    if (!std::isfinite(value)) throw ConfigError{std::string{what} + " must be finite, is " + std::to_string(value)};
  }
  __attribute__((cold)) static void at_least_0(char const* what, float value) {
    finite(what, value);
    if (value < 0) throw ConfigError{std::string{what} + " must be at least 0, is " + std::to_string(value)};
  }
  __attribute__((cold)) static void above_0(char const* what, float value) {
    at_least_0(what, value);
    if (value == 0) throw ConfigError{std::string{what} + " must be above 0"};
  }
  __attribute__((cold)) static void statistic(char const* what, std::vector<float> const& numbers) {
    for (float const number : numbers) finite(what, number);
  }
  __attribute__((cold)) static void one_or_two(char const* what, std::vector<Index> const& numbers, Index least) {
    if (numbers.size() != 1 && numbers.size() != 2)
      throw ConfigError{std::string{what} + " must be two numbers, for rows and columns, or one for both; there are " +
                        std::to_string(numbers.size())};
    for (Index const number : numbers)
      if (number < least || number > most)
        throw ConfigError{std::string{what} + " must be at least " + std::to_string(least) + " and at most 2^40, is " +
                          std::to_string(number)};
  }
  __attribute__((cold)) static void per(Per value) {
    if (static_cast<std::size_t>(value) >= spellings(value).size())
      throw ConfigError{"per is not one of the possible values"};
  }

  __attribute__((cold)) void operator()(SubtractMean const& t) const {
    per(t.per), statistic("a mean", t.mean);
    if (!t.file.empty() && !t.mean.empty()) throw ConfigError{"has both a mean and a file of one"};
  }
  __attribute__((cold)) void operator()(Scale const& t) const {
    finite("the factor", t.factor), finite("the offset", t.offset);
  }
  __attribute__((cold)) void operator()(Standardize const& t) const {
    per(t.per), at_least_0("epsilon", t.epsilon);
    statistic("a mean", t.mean), statistic("a deviation", t.deviation);
    if (t.mean.empty() != t.deviation.empty())
      throw ConfigError{"has one of mean and deviation, expected both or none"};
    for (float const deviation : t.deviation) above_0("a deviation", deviation);
  }
  __attribute__((cold)) void operator()(OneHot const& t) const {
    if (t.classes < 0 || t.classes > most_classes)
      throw ConfigError{"classes must be at least 0 and at most 2^24, is " + std::to_string(t.classes)};
  }
  __attribute__((cold)) void operator()(Crop const& t) const { one_or_two("extents", t.extents, 1); }
  __attribute__((cold)) void operator()(Mirror const&) const {}
  __attribute__((cold)) void operator()(Shift const& t) const { one_or_two("pixels", t.pixels, 0); }
  __attribute__((cold)) void operator()(Rotate const& t) const {
    at_least_0("degrees", t.degrees);
    if (t.degrees > 180) throw ConfigError{"degrees must be at most 180, is " + std::to_string(t.degrees)};
  }
  __attribute__((cold)) void operator()(Noise const& t) const { at_least_0("the deviation", t.deviation); }
  __attribute__((cold)) void operator()(Cutout const& t) const { one_or_two("extents", t.extents, 1); }
  __attribute__((cold)) void operator()(Mixup const& t) const { above_0("alpha", t.alpha); }
};

}  // namespace

bool is_for_training_alone(Transform const& transform) {
  return !std::visit(
      []<class T>(T const&) {
        return std::is_same_v<T, SubtractMean> || std::is_same_v<T, Scale> || std::is_same_v<T, Standardize> ||
               std::is_same_v<T, OneHot> || std::is_same_v<T, Crop>;
      },
      transform);
}

void check(Transforms const& transforms) {
  for (std::size_t i = 0; i < transforms.size(); ++i)
    in_transform(i, transforms[i], [&] { std::visit(Check{}, transforms[i]); });
}

void check_fitted(Transforms const& transforms) {
  check(transforms);
  for (std::size_t i = 0; i < transforms.size(); ++i) {
    in_transform(i, transforms[i], [&] {
      auto const* subtracted = std::get_if<SubtractMean>(&transforms[i]);
      auto const* standardized = std::get_if<Standardize>(&transforms[i]);
      auto const* one_hot = std::get_if<OneHot>(&transforms[i]);
      if ((subtracted && subtracted->mean.empty()) || (standardized && standardized->mean.empty()) ||
          (one_hot && one_hot->classes == 0))
        throw ConfigError{"lacks its numbers, which are found in the data that a network is trained on"};
    });
  }
}

}  // namespace coldpress::data
