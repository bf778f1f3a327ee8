// Starts a thread with a stack of a given size, and waits for it.
#include "stack.hpp"

#include <exception>
#include <new>

#include <pthread.h>

namespace coldpress::persist {
namespace {

struct Call {
  std::function<void()> const& action;
  std::exception_ptr thrown = nullptr;
};

void* run(void* call) {
  auto& [action, thrown] = *static_cast<Call*>(call);
  try {
    action();
  } catch (...) {
    thrown = std::current_exception();
  }
  return nullptr;
}

}  // namespace

void with_stack(std::size_t bytes, std::function<void()> const& action) {
  Call call{action};
  pthread_attr_t attributes;
  if (::pthread_attr_init(&attributes) != 0) throw std::bad_alloc{};
  pthread_t thread;
  bool const started =
      ::pthread_attr_setstacksize(&attributes, bytes) == 0 && ::pthread_create(&thread, &attributes, run, &call) == 0;
  ::pthread_attr_destroy(&attributes);
  if (!started) throw std::bad_alloc{};
  ::pthread_join(thread, nullptr);
  if (call.thrown) std::rethrow_exception(call.thrown);
}

}  // namespace coldpress::persist
