// A text that an error owns.
#pragma once

#include <coldpress/core/once.hpp>

#include <string_view>
#include <type_traits>

namespace coldpress {

/// A text that an error owns: its sentence, or a name that it carries. It converts to std::string and std::string_view,
/// is equal to them, is added to them and printed, but is no std::string, because <string> would be a seventh of what
/// coldpress.hpp takes the compiler. In a program without exceptions, which need not have a heap, it has at most 255
/// characters, and the rest is cut off.
class ErrorText {
 public:
  ErrorText() = default;
  ErrorText(char const* words) : ErrorText(std::string_view{words}) {}
  template <class Words>
  requires(std::is_class_v<Words>&& std::is_convertible_v<Words const&, std::string_view> &&
           !std::is_same_v<Words, ErrorText>) ErrorText(Words const& words) {
    *this += words;
  }
#if defined __cpp_exceptions
  ErrorText(ErrorText const& other) : ErrorText(std::string_view{other}) {}
  ErrorText(ErrorText&& other) noexcept { swap(other); }
  ErrorText& operator=(ErrorText other) noexcept { return swap(other), *this; }
  ~ErrorText() { delete[] text_; }
#endif

  ErrorText& operator+=(std::string_view words);
  operator std::string_view() const noexcept { return {c_str(), length_}; }
  template <class String>
  requires(std::is_constructible_v<String, char const*, std::size_t>&& requires { typename String::traits_type; })
  operator String() const {
    return String(c_str(), length_);
  }
  char const* c_str() const noexcept { return length_ == 0 ? "" : text_; }
  bool empty() const noexcept { return length_ == 0; }
  template <class Words>
  requires std::is_convertible_v<Words const&, std::string_view>
  bool operator==(Words const& words) const noexcept { return std::string_view{*this} == std::string_view{words}; }

  friend ErrorText operator+(ErrorText left, std::string_view right) {
    left += right;
    return left;
  }
  template <class Left>
  requires std::is_convertible_v<Left const&, std::string_view>
  friend ErrorText operator+(Left const& left, ErrorText const& right) {
    return ErrorText{std::string_view{left}} + std::string_view{right};
  }
  template <class Stream>
  requires requires { typename Stream::char_type; }
  friend Stream& operator<<(Stream& stream, ErrorText const& text) {
    stream << std::string_view{text};
    return stream;
  }

 private:
  std::size_t length_ = 0;
#if defined __cpp_exceptions
  void swap(ErrorText& other) noexcept {
    auto const length = length_;
    auto* const text = text_;
    length_ = other.length_, text_ = other.text_;
    other.length_ = length, other.text_ = text;
  }
  char* text_ = nullptr;  // and a zero after it
#else
  static constexpr std::size_t most = 255;
  char text_[most + 1] = {};
#endif
};

#if !defined COLDPRESS_DECLARES_ONCE
COLDPRESS_ONCE ErrorText& ErrorText::operator+=(std::string_view words) {
  if (words.empty()) return *this;
#if defined __cpp_exceptions
  char* const longer = new char[length_ + words.size() + 1];
  for (std::size_t i = 0; i < length_; ++i) longer[i] = text_[i];
  for (std::size_t i = 0; i < words.size(); ++i) longer[length_ + i] = words[i];
  delete[] text_;
  text_ = longer, length_ += words.size();
#else
  for (char const c : words) {
    if (length_ < most) text_[length_++] = c;
  }
#endif
  text_[length_] = '\0';
  return *this;
}
#endif

}  // namespace coldpress
