// What is in the way of a conversion, collected for one error.
#pragma once

#include <coldpress/core/counted.hpp>
#include <coldpress/core/error.hpp>

#include <string>
#include <utility>

namespace coldpress::convert {

/// Why an operator or a layer cannot be converted.
struct Refusal {
  std::string reason;
};
[[noreturn]] inline void refuse(std::string reason) { throw Refusal{std::move(reason)}; }

/// The first of these texts, each after `before` and a comma, and how many more there are. Empty if there are none.
inline std::string listed(std::string const& before, std::vector<std::string> const& texts) {
  constexpr std::size_t most = 20;
  std::string all;
  for (std::size_t i = 0; i < std::min(most, texts.size()); ++i) all += (i == 0 ? before : ", ") + texts[i];
  return texts.size() > most ? all + " and " + std::to_string(texts.size() - most) + " more" : all;
}

/// Everything that is in the way, for one error that stays readable: of more than `most` problems only their number.
class Problems {
 public:
  explicit Problems(std::size_t most) : most_(most) {}
  void add(std::string const& problem) {
    if (++count_ <= most_) text_ += (count_ > 1 ? "; " : "") + problem;
  }
  std::size_t count() const { return count_; }
  std::string text() const {
    return count_ > most_ ? text_ + "; and " + std::to_string(count_ - most_) + " more" : text_;
  }

 private:
  std::size_t most_, count_ = 0;
  std::string text_ = {};
};
/// Throws an UnsupportedError if there are problems. `kind` is what each of them is about: "operator".
inline void refuse(Problems const& problems, std::string const& kind) {
  if (problems.count() == 0) return;
  throw UnsupportedError{counted(problems.count(), kind) + (problems.count() == 1 ? " is" : " are") +
                         " in the way: " + problems.text()};
}

}  // namespace coldpress::convert
