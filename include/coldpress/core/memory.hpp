// Aligned memory, inside the object if its size is a constant and otherwise on the heap.
#pragma once

#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/shape.hpp>

#include <new>
#include <utility>

namespace coldpress {

inline constexpr std::size_t alignment = 64;  // in bytes: a cache line, and the widest vector

/// Whether an address is among those of `size` values.
template <class T>
bool is_among(T const* value, T const* first, Index size) {
  auto const distance = reinterpret_cast<std::uintptr_t>(value) - reinterpret_cast<std::uintptr_t>(first);
  return distance < static_cast<std::uintptr_t>(size) * sizeof(T);
}

/// `capacity` zeroed values inside the object.
template <class T, Index capacity>
class FixedMemory {
 public:
  void reserve(Index size) { require(size <= capacity, "memory: this is more than the object can hold"); }
  T* data() { return values_; }
  T const* data() const { return values_; }
  Index size() const { return capacity; }

 private:
  alignas(alignment) T values_[capacity > 0 ? capacity : 1] = {};
};

/// Zeroed values on the heap. It grows, which loses its contents, and never shrinks.
template <class T>
class HeapMemory {
 public:
  HeapMemory() = default;
  explicit HeapMemory(Index size) { reserve(size); }
  HeapMemory(HeapMemory const& other) : HeapMemory(other.size_) {
    freestanding::copy_n(other.data_, other.size_, data_);
  }
  HeapMemory(HeapMemory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  HeapMemory& operator=(HeapMemory other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~HeapMemory() { release(); }

  void reserve(Index size) {
    if (size <= size_) return;
    auto* const fresh =
        static_cast<T*>(::operator new (static_cast<std::size_t>(size) * sizeof(T), std::align_val_t{alignment}));
    freestanding::fill_n(fresh, size, T{});
    release();
    data_ = fresh;
    size_ = size;
  }
  T* data() { return data_; }
  T const* data() const { return data_; }
  Index size() const { return size_; }

 private:
  void release() {
    if (data_) ::operator delete (data_, std::align_val_t{alignment});
  }
  T* data_ = nullptr;
  Index size_ = 0;
};

/// A batch size that is a compile-time constant: all memory is inside the object, and the heap is never used.
template <Index n>
struct Batch {
  using Count = Fixed<n>;
  static constexpr Index capacity = n;
  static Count count(Index samples) {
    if (samples != n) refuse("network: takes ", n, " samples at a time, as its Batch<N> says, got ", samples);
    return {};
  }
};
/// A batch size that is known only at run time.
struct DynamicBatch {
  using Count = Index;
  static constexpr Index capacity = 0;
  static Count count(Index samples) { return samples; }
};

/// The memory for `size` values in a network with this batch size.
template <class T, class Batch, Index size>
using Memory = std::conditional_t<(Batch::capacity > 0), FixedMemory<T, size>, HeapMemory<T>>;

}  // namespace coldpress
