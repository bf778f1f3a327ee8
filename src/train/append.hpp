// Files that grow while a training runs.
#pragma once

#include "data/system.hpp"

#include <string_view>

#include <fcntl.h>

namespace coldpress::train::detail {

/// Appends to a file and returns whether it exists. Throws FileError; then the file is as before, as far as the system
/// allows.
inline bool append(std::string const& path, std::string_view bytes) {
  Descriptor const file{uninterrupted([&] { return ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC); })};
  if (!file && errno == ENOENT) return false;
  struct stat before;
  if (!file || ::fstat(file.number(), &before) != 0) refuse(path, "cannot append", errno);
  while (!bytes.empty()) {
    auto const written = uninterrupted([&] { return ::write(file.number(), bytes.data(), bytes.size()); });
    if (written < 0) {
      int const reason = errno;
      [[maybe_unused]] int const shortened = ::ftruncate(file.number(), before.st_size);
      refuse(path, "cannot append", reason);
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace coldpress::train::detail
