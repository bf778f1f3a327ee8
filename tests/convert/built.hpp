// Whether coldpress::convert was built with the libraries that a reader needs.
#pragma once

#include "support/catch.hpp"

#include <coldpress/core/error.hpp>

#include <string>

namespace convert_test {

/// Calls read(), which is for a file that does not exist. If it throws UnsupportedError, the library was built without
/// `needed`, and the test says that it skips.
template <class Read>
bool built_with(std::string const& needed, Read read) {
  try {
    read();
  } catch (coldpress::UnsupportedError const&) {
    WARN("skipped: coldpress::convert was built without " << needed);
    return false;
  } catch (coldpress::Error const&) {
  }
  return true;
}

}  // namespace convert_test
