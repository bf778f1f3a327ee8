// Shared by readers and writers of files: self-closing descriptors, and errors with the system's reason.
#pragma once

#include <coldpress/core/error.hpp>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

namespace coldpress {

[[noreturn]] inline void refuse(std::string const& path, std::string const& what, int reason) {
  FileError error{what + ": " + std::generic_category().message(reason)};
  error.in_file(path);
  throw error;
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  explicit operator bool() const { return number_ >= 0; }
  int number() const { return number_; }

 private:
  int number_;
};

/// A file that can be read, and its status.
struct Readable {
  Descriptor file;
  struct stat status;
  bool has_size() const { return S_ISREG(status.st_mode); }
};
/// Opens a regular file and nothing else, so that no name makes a program wait for a FIFO or touch a device. The status
/// is that of the opened file, so the file cannot be exchanged in between. Only /dev/stdin, the input that the process
/// was given by its caller, may also be a pipe. Throws FileError.
Readable open_to_read(std::string const& path);

/// Repeats a call of a system function while a signal interrupts it.
template <class Call>
auto uninterrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

}  // namespace coldpress
