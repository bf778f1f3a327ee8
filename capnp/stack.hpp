// Runs code that needs more stack than its caller may have.
#pragma once

#include <cstddef>
#include <functional>

namespace coldpress::persist {

/// Runs `action` on a thread whose stack has at least `bytes` bytes, waits for it, and rethrows what it throws. It must
/// not throw a kj::Exception, which ends the process when it is destroyed on another thread. Throws std::bad_alloc if
/// the system has no room for another stack.
void with_stack(std::size_t bytes, std::function<void()> const& action);

}  // namespace coldpress::persist
