// Counts all calls for heap memory, and can refuse them. Include it in only one file of a program.
#pragma once

#include "support/sanitizer.hpp"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <new>

namespace coldpress::test {

struct Heap {
  std::atomic<std::size_t> calls = 0;           // requests for memory
  std::atomic<long> living = 0;                 // blocks that were allocated and not yet freed
  bool (*refuses)(std::size_t size) = nullptr;  // whether a request fails; with a sanitizer only the operators ask

  bool gives(std::size_t size) const noexcept { return !refuses || !refuses(size); }
  void* given(void* p) noexcept {
    ++calls;
    p ? void(++living) : void(errno = ENOMEM);
    return p;
  }
  void taken_back(void const volatile* p) noexcept {
    if (p) --living;
  }
};
inline constinit Heap heap;

}  // namespace coldpress::test

#if defined COLDPRESS_ADDRESS_SANITIZER || defined COLDPRESS_THREAD_SANITIZER  // their malloc has hooks
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*)(void const volatile*, std::size_t),
                                                         void (*)(void const volatile*));
namespace coldpress::test {
inline bool const hooked =
    __sanitizer_install_malloc_and_free_hooks([](void const volatile*, std::size_t) { ++heap.calls, ++heap.living; },
                                              [](void const volatile* p) { heap.taken_back(p); }) > 0;
}
void* operator new(std::size_t size, std::nothrow_t const&) noexcept {
  return coldpress::test::heap.gives(size) ? std::malloc(size) : nullptr;
}
void* operator new(std::size_t size) {
  if (void* p = operator new(size, std::nothrow)) return p;
  throw std::bad_alloc{};
}
void* operator new(std::size_t size, std::align_val_t align) {
  auto const a = static_cast<std::size_t>(align);
  void* const p = coldpress::test::heap.gives(size) ? std::aligned_alloc(a, (size + a - 1) / a * a) : nullptr;
  if (!p) throw std::bad_alloc{};
#if !defined COLDPRESS_ADDRESS_SANITIZER
  coldpress::test::heap.given(p);  // ThreadSanitizer reports what is freed, but not what aligned_alloc returns
#endif
  return p;
}
#if defined __GNUC__ && !defined __clang__
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"  // it sees free, and not that our operator new is malloc
#endif
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
#elif defined __GLIBC__  // its operators call these functions
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);
void* malloc(std::size_t size) noexcept {
  using coldpress::test::heap;
  return heap.given(heap.gives(size) ? __libc_malloc(size) : nullptr);
}
void* calloc(std::size_t count, std::size_t size) noexcept {
  using coldpress::test::heap;
  return heap.given(heap.gives(count * size) ? __libc_calloc(count, size) : nullptr);
}
void* realloc(void* p, std::size_t size) noexcept {
  using coldpress::test::heap;
  if (p && size == 0) return free(p), nullptr;  // like glibc's
  void* const now = heap.given(heap.gives(size) ? __libc_realloc(p, size) : nullptr);
  if (now) heap.taken_back(p);
  return now;
}
void* aligned_alloc(std::size_t align, std::size_t size) noexcept {
  using coldpress::test::heap;
  return heap.given(heap.gives(size) ? __libc_memalign(align, size) : nullptr);
}
void* memalign(std::size_t align, std::size_t size) noexcept { return aligned_alloc(align, size); }
int posix_memalign(void** p, std::size_t align, std::size_t size) noexcept {
  void* const got = aligned_alloc(align, size);
  return got ? (*p = got, 0) : ENOMEM;
}
void free(void* p) noexcept {
  coldpress::test::heap.taken_back(p);
  __libc_free(p);
}
}
#else
#error "this counts the calls of malloc in the way of glibc or of a sanitizer"
#endif
