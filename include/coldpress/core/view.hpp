// A view of consecutive values in memory.
#pragma once

#include <cstddef>

namespace coldpress {

/// Like std::span, but without its constraints, whose check takes a compiler longer than planning a small network. It
/// owns nothing: what it refers to must outlive it.
template <class T>
class View {
 public:
  constexpr View() = default;
  constexpr View(T* data, std::size_t size) : data_(data), size_(size) {}
  template <std::size_t n>
  constexpr View(T (&array)[n]) : data_(array), size_(n) {}
  template <class Range>
  requires requires(Range& range) { static_cast<T*>(range.data()); }
  constexpr View(Range&& range) : data_(range.data()), size_(range.size()) {}

  constexpr T& operator[](std::size_t i) const { return data_[i]; }
  constexpr T& front() const { return *data_; }
  constexpr T& back() const { return data_[size_ - 1]; }
  constexpr T* data() const { return data_; }
  constexpr std::size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr T* begin() const { return data_; }
  constexpr T* end() const { return data_ + size_; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace coldpress
