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

/// Everything that is in the way.
class Problems {
 public:
  /// `kind` is what they all are: "operator".
  explicit Problems(std::string kind) : kind_(std::move(kind)) {}
  void add(std::string const& what, std::string const& reason) {
    if (++count_ <= most) text_ += (count_ > 1 ? "; " : "") + what + ": " + reason;
  }
  /// Throws an UnsupportedError if there is anything.
  void raise() const {
    if (count_ == 0) return;
    std::string const more = count_ > most ? "; and " + std::to_string(count_ - most) + " more" : "";
    throw UnsupportedError{counted(count_, kind_) + (count_ == 1 ? " is" : " are") + " in the way: " + text_ + more};
  }

 private:
  static constexpr std::size_t most = 256;
  std::string kind_;
  std::size_t count_ = 0;
  std::string text_ = {};
};

}  // namespace coldpress::convert
