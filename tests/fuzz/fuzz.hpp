// What every harness is made of: a function that is given bytes, and may end in nothing but a typed error.
#pragma once

#include <coldpress/core/error.hpp>
#include <coldpress/core/shape.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

namespace coldpress::fuzz {

/// Each harness defines it.
void run(std::span<std::byte const> bytes);

/// Ends the program: what is promised of every file does not hold for this one.
inline void demand(bool holds, char const* what) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

/// Extents that multiply to the number of values; any that come with a zero do for none.
inline void demand_count(std::span<Index const> extents, std::size_t values) {
  std::uint64_t left = values;
  for (Index const extent : extents) {
    if (extent == 0) return demand(values == 0, "there are values where an extent is zero");
  }
  for (Index const extent : extents) {
    auto const unsigned_extent = static_cast<std::uint64_t>(extent);
    demand(extent > 0 && left % unsigned_extent == 0, "extents do not count the values");
    left /= unsigned_extent;
  }
  demand(left == 1, "extents do not count the values");
}

/// A regular file in memory, which readers open by its path.
class MemoryFile {
 public:
  explicit MemoryFile(std::span<std::byte const> bytes) : number_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    demand(number_ >= 0, "the system has no memory for a file");
    while (!bytes.empty()) {
      auto const written = ::write(number_, bytes.data(), bytes.size());
      demand(written > 0, "the system cannot write a file in memory");
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
  }
  MemoryFile(MemoryFile const&) = delete;
  ~MemoryFile() { ::close(number_); }
  std::string path() const { return "/proc/self/fd/" + std::to_string(number_); }

 private:
  int number_;
};

}  // namespace coldpress::fuzz

/// Where libFuzzer, and replay.cpp, begin. A harness is one file, so that this is there once.
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  try {
    coldpress::fuzz::run(std::as_bytes(std::span{data, size}));
  } catch (coldpress::Error const& error) {
    coldpress::fuzz::demand(!error.sentence().empty(), "an error says nothing");
  }
  return 0;
}
