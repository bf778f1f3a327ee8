// The bytes of a file in order, whether it is plain or gzip-compressed.
#pragma once

#include <coldpress/core/error.hpp>
#include <coldpress/data/read_options.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace coldpress::data {

class InputFile {
 public:
  /// Opens `path`; its first bytes tell whether it is compressed. Throws FileError.
  InputFile(std::string const& path, ReadOptions options);
  ~InputFile();

  /// Fills `bytes` as far as the file goes and returns how many were read. Throws FormatError if compressed data is
  /// damaged, ends early or unpacks to more than is allowed, and FileError if the system cannot read.
  std::size_t read(std::span<std::byte> bytes);

  /// An upper bound for the bytes that can still come, with which a promise in a header is checked.
  std::uint64_t most_left() const;
  bool compressed() const;
  /// The limit of a compressed file, as the end of a sentence; empty for others.
  std::string limit() const;

  std::string const& path() const;
  /// Throws FormatError that names the file.
  [[noreturn]] void malformed(std::string const& sentence) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A piece of a file in quotes for display in a terminal: shortened and without control characters.
std::string printable(std::string_view piece);

}  // namespace coldpress::data
