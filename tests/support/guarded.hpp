// Memory that ends at a page boundary, followed by a page without access.
#pragma once

// The system immediately stops code that reads or writes one value too many, even in builds without sanitizers.

#include <cstddef>
#include <new>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

namespace coldpress::test {

template <class T>
class GuardedAllocator {
 public:
  using value_type = T;
  GuardedAllocator() = default;
  template <class Other>
  GuardedAllocator(GuardedAllocator<Other> const&) {}
  bool operator==(GuardedAllocator const&) const = default;

  T* allocate(std::size_t count) {
    std::size_t const size = whole_pages(count);
    void* const first = ::mmap(nullptr, size + page(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (first == MAP_FAILED) throw std::bad_alloc{};
    auto* const end = static_cast<std::byte*>(first) + size;
    if (::mprotect(end, page(), PROT_NONE) != 0) throw std::bad_alloc{};
    return reinterpret_cast<T*>(end - count * sizeof(T));
  }
  void deallocate(T* values, std::size_t count) {
    auto* const end = reinterpret_cast<std::byte*>(values + count);
    ::munmap(end - whole_pages(count), whole_pages(count) + page());
  }

 private:
  static std::size_t page() {
    static auto const size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    return size;
  }
  static std::size_t whole_pages(std::size_t count) { return (count * sizeof(T) + page() - 1) / page() * page(); }
};

/// A vector of a fixed number of values. If it grows, there may be unguarded room behind them.
template <class T>
using Guarded = std::vector<T, GuardedAllocator<T>>;

}  // namespace coldpress::test
