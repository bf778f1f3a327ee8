// Files that are written completely or not at all, and read up to a limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace coldpress {

/// Makes `bytes` the content of `path`. A temporary file in the same folder is written, synced and renamed, and then
/// the folder is synced, so that a reader of `path` finds either the old or the new content, even after a crash. The
/// target of a symbolic link is replaced, not the link. An existing file keeps its permission bits. Temporary files of
/// writers that died are removed. Throws FileError with the system's reason; then `path` is unchanged and no temporary
/// remains.
void write_atomically(std::string const& path, std::span<std::byte const> bytes);

/// The same for a file that is written piece by piece, in constant memory. It becomes the content of `path` in
/// commit(); the destructor removes it if that was not reached. All functions throw FileError as write_atomically does.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  AtomicFile(AtomicFile&&) noexcept;
  ~AtomicFile();

  /// Appends.
  void write(std::span<std::byte const> bytes);
  /// Replaces bytes that were written.
  void write_at(std::uint64_t offset, std::span<std::byte const> bytes);
  /// The temporary file, for a library that writes to a path.
  std::string temporary() const;
  /// The last call, even if it throws.
  void commit();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Throws the FileError of write_atomically, as far as it can be known in advance. It leaves nothing behind: a temporary
/// file beside the path is removed at once. Call it before long work whose result is a file.
void check_writable(std::string const& path);

/// Whether two paths name the same file, through symbolic or hard links, or would do so once they are written. A file
/// that does not exist yet is identified by its folder and name.
bool same_file(std::string const& a, std::string const& b);

/// The content of a regular file, or of /dev/stdin, which may be a pipe. Throws FileError for anything else, if the
/// file cannot be read, or if it is larger than `max_bytes` or, from a pipe, than 1 GiB.
std::vector<std::byte> read_file(std::string const& path, std::size_t max_bytes);

}  // namespace coldpress
