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
