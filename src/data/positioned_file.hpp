// A file that is read at any position, by any number of threads at a time.
#pragma once

#include "system.hpp"

#include <coldpress/core/error.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace coldpress::data {

template <class Failure>
[[noreturn]] void fail_in(std::string const& file, std::string const& sentence) {
  Failure error{sentence};
  error.in_file(file);
  throw error;
}

class PositionedFile {
 public:
  /// Opens a regular file. Throws FileError.
  explicit PositionedFile(std::string path);
  /// The same for a regular file that is already open.
  PositionedFile(std::string path, Descriptor file);

  std::string const& path() const { return path_; }
  std::uint64_t size() const { return size_; }  // in bytes, when it was opened
  /// Throws FormatError if the file does not have these bytes, and FileError if the system cannot read.
  void read(std::uint64_t offset, std::span<std::byte> bytes) const;

 private:
  std::string path_;
  Descriptor file_;
  std::uint64_t size_ = 0;
};

}  // namespace coldpress::data
