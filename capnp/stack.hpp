// A stack for code that needs more than a caller may have.
#pragma once

#include <cstddef>
#include <functional>

namespace coldpress::persist {

/// Runs `action` on a thread whose stack has at least so many bytes, and waits for it; what it throws is thrown here.
/// It must not be a kj::Exception, which ends the process when it dies on another thread than its own.
/// Throws std::bad_alloc where the system has no room for another stack.
void with_stack(std::size_t bytes, std::function<void()> const& action);

}  // namespace coldpress::persist
