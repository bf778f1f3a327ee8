// The bytes of a file, or of a part of it, in order, whether they are plain or compressed.
#pragma once

#include <coldpress/core/error.hpp>
#include <coldpress/data/read_options.hpp>

#include "positioned_file.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace coldpress::data {

class InputFile {
 public:
  /// A member of a zip file, plain or compressed by deflate.
  struct Member {
    std::string name;
    std::uint64_t begin = 0, packed = 0, unpacked = 0;  // in bytes
    std::uint32_t checksum = 0;
    bool deflated = false;
  };

  /// Opens `path`; its first bytes tell whether it is gzip-compressed. Throws FileError.
  InputFile(std::string const& path, ReadOptions options);
  /// Opens a part of it. At its end, read() throws FormatError if its size or its checksum is another one.
  InputFile(std::string const& path, Member const& member, ReadOptions options);
  InputFile(InputFile&&) noexcept;
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
  /// "member 'x.npy': " for a part of a file, to begin a sentence with.
  std::string const& place() const;
  /// Throws FormatError that names the file.
  [[noreturn]] void malformed(std::string const& sentence) const;

  /// The file for reading at any position, and where in it the bytes begin; nothing for what is compressed, or a pipe.
  /// A part of a file is read to its end first, because its checksum is that of all its bytes: throws as read() does.
  /// Afterwards, this object must not be read any more.
  struct Positioned {
    PositionedFile file;
    std::uint64_t begin;
  };
  std::optional<Positioned> positioned() &&;

 private:
  std::size_t read_any(std::span<std::byte> bytes);  // without checks of a member

  struct State;
  std::unique_ptr<State> state_;
};

/// A piece of a file in quotes for display in a terminal: shortened and without control characters.
std::string printable(std::string_view piece);

}  // namespace coldpress::data
