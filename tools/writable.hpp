// Files are written at the end of long work: whether they can be is asked before.
#pragma once

#include <string>

namespace coldpress::command {

/// Throws FileError with the system's reason where write_atomically could not write `path`. Writes nothing.
void check_writable(std::string const& path);

}  // namespace coldpress::command
