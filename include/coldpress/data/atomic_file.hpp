// Whole files: written all or nothing, and read with a limit.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace coldpress {

/// Makes `bytes` the content of `path`: a temporary in the same folder is written, synced and renamed over it, then the
/// folder is synced, so that whoever reads `path`, also after a crash, finds the old content or the new. The target of
/// a symbolic link is replaced, not the link; an existing file keeps its permission bits; leftovers of writers that
/// died are removed. Throws FileError with the system's reason; `path` is then as it was and no temporary remains.
void write_atomically(std::string const& path, std::span<std::byte const> bytes);

/// For work that ends in a file: throws the FileError of write_atomically as far as it is known before. Writes nothing.
void check_writable(std::string const& path);

/// Whether two paths name one file, through links of either kind, or would once they are written: a file that is not
/// there yet is known by its folder and name.
bool same_file(std::string const& a, std::string const& b);

/// The content of a regular file, or of /dev/stdin, which may be a pipe. Throws FileError where it is anything else,
/// cannot be read or is larger than `max_bytes`, or than 1 GiB if it comes from a pipe.
std::vector<std::byte> read_file(std::string const& path, std::size_t max_bytes);

}  // namespace coldpress
