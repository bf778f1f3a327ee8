// The bytes of a file one after another, plain or gzip-compressed; the reader need not know which.
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

class Source {
 public:
  /// Opens `path`, whose first bytes tell whether it is compressed. Throws FileError.
  Source(std::string const& path, ReadOptions options);
  ~Source();

  /// Fills `bytes` as far as the file goes and says how far. Throws FormatError where compressed data is damaged, ends
  /// early or unpacks to more than it may, FileError where the system cannot read.
  std::size_t read(std::span<std::byte> bytes);

  /// No more than this many bytes can come, so that a promise in a header is checked before it is believed.
  std::uint64_t most_left() const;
  bool compressed() const;
  /// How much may come of a compressed file, as the end of a sentence; of others nothing.
  std::string limit() const;

  std::string const& path() const;
  /// Throws FormatError that names the file.
  [[noreturn]] void malformed(std::string const& sentence) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A piece of a file in quotes, fit for a terminal: shortened, without control characters.
std::string printable(std::string_view piece);

}  // namespace coldpress::data
