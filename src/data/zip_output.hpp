// Writes zip files whose members are stored as they are.
#pragma once

#include <coldpress/data/atomic_file.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace coldpress::data {

inline std::span<std::byte const> bytes_of(std::string const& text) { return std::as_bytes(std::span{text}); }

/// Sizes are always given in 64 bits, since they are known in the end. The file is written atomically. Throws
/// FileError.
class ZipOutput {
 public:
  explicit ZipOutput(std::string const& path);

  /// Begins a member with these bytes, which end() writes anew.
  void begin(std::string name, std::span<std::byte const> first);
  void write(std::span<std::byte const> bytes);
  /// Ends the member; there are as many first bytes as before.
  void end(std::span<std::byte const> first);
  /// Ends the file.
  void commit();

 private:
  struct Member {
    std::string name;
    std::uint64_t begin = 0, size = 0;
    std::uint32_t checksum = 0;
  };
  static std::string header(Member const& member);

  AtomicFile file_;
  std::vector<Member> members_;
  std::uint64_t position_ = 0, written_ = 0;  // in the file, and in the member after its first bytes
  unsigned long checksum_ = 0;                // of those that are written
};

}  // namespace coldpress::data
