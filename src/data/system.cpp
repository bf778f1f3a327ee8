// Opens what is to be read, and says what is there if it is no regular file.
#include "system.hpp"

#include <fcntl.h>

namespace coldpress {
namespace {

char const* kind(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFDIR:
      return "a folder";
    case S_IFIFO:
      return "a FIFO";
    case S_IFSOCK:
      return "a socket";
    case S_IFCHR:
      return "a character device";
    case S_IFBLK:
      return "a block device";
  }
  return "no file of a known kind";
}

}  // namespace

Readable open_to_read(std::string const& path) {
  // Without O_NONBLOCK, opening a FIFO would wait for a writer; with O_NOCTTY, no terminal becomes this process's.
  Readable opened{
      Descriptor{uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); })},
      {}};
  if (!opened.file) refuse(path, "cannot open", errno);
  if (::fstat(opened.file.number(), &opened.status) != 0) refuse(path, "cannot read", errno);
  mode_t const mode = opened.status.st_mode;
  if (S_ISREG(mode)) return opened;
  if (path == "/dev/stdin" && S_ISFIFO(mode)) {
    int const flags = ::fcntl(opened.file.number(), F_GETFL);
    if (flags < 0 || ::fcntl(opened.file.number(), F_SETFL, flags & ~O_NONBLOCK) < 0)
      refuse(path, "cannot read", errno);
    return opened;
  }
  FileError error{std::string{"cannot read: is "} + kind(mode) + ", not a regular file"};
  error.in_file(path);
  throw error;
}

}  // namespace coldpress
