// Counts the words of packed bytes before they are unpacked, and packs messages again.
#include "message.hpp"

#include "other_formats.hpp"
#include "text.hpp"

#include <capnp/any.h>
#include <capnp/serialize-packed.h>

#include <cstring>
#include <new>
#include <optional>

namespace coldpress::persist {
namespace {

constexpr std::size_t word_size = sizeof(capnp::word);
constexpr std::size_t max_segments = 512;  // Cap'n Proto's own limit

// Two packed bytes can promise 255 words of zeros. No useful message is that empty beyond the first megabyte.
constexpr std::size_t max_unpacked(std::size_t packed) { return 64 * packed + (std::size_t{1} << 20); }

/// Unpacks packed bytes and passes each word to `take`, until that returns false. Returns whether the bytes ended where
/// they should.
template <class Take>
bool for_each_packed(std::span<std::byte const> bytes, Take&& take) {
  std::size_t at = 0;
  while (at < bytes.size()) {
    auto const tag = std::to_integer<unsigned>(bytes[at++]);
    std::uint64_t word = 0;
    for (unsigned i = 0; i < word_size; ++i) {
      if ((tag >> i & 1) == 0) continue;
      if (at == bytes.size()) return false;
      word |= std::to_integer<std::uint64_t>(bytes[at++]) << 8 * i;
    }
    if (!take(word)) return true;
    if (tag != 0x00 && tag != 0xff) continue;
    if (at == bytes.size()) return false;
    auto const run = std::to_integer<std::size_t>(bytes[at++]);
    if (tag == 0xff && bytes.size() - at < run * word_size) return false;
    for (std::size_t i = 0; i < run; ++i) {
      word = 0;
      if (tag == 0xff)
        for (unsigned b = 0; b < word_size; ++b) word |= std::to_integer<std::uint64_t>(bytes[at++]) << 8 * b;
      if (!take(word)) return true;
    }
  }
  return true;
}

/// Adds up a segment table from the first words of a message.
class SegmentTable {
 public:
  /// Returns false if the word cannot belong to a table.
  bool add(std::uint64_t word) {
    if (words_ == 0) {
      segments_ = (word & 0xffffffff) + 1;
      if (segments_ > max_segments) return false;
      total_ = segments_ / 2 + 1 + (word >> 32);
    } else {
      total_ += (word & 0xffffffff);
      if (2 * words_ < segments_) total_ += word >> 32;
    }
    ++words_;
    return true;
  }
  bool complete() const { return words_ > 0 && words_ >= segments_ / 2 + 1; }
  /// The number of words in the whole message, including the table.
  std::uint64_t total() const { return total_; }

 private:
  std::uint64_t words_ = 0, segments_ = 0, total_ = 0;
};

std::optional<std::uint64_t> plain_words(std::span<std::byte const> bytes) {
  SegmentTable table;
  for (std::size_t at = 0; at + word_size <= bytes.size() && !table.complete(); at += word_size) {
    std::uint64_t word = 0;
    for (unsigned b = 0; b < word_size; ++b) word |= std::to_integer<std::uint64_t>(bytes[at + b]) << 8 * b;
    if (!table.add(word)) return {};
  }
  return table.complete() ? std::optional{table.total()} : std::nullopt;
}

/// The number of words in a packed message, if its table promises exactly as many. Nothing is stored before that is
/// known.
std::optional<std::uint64_t> packed_words(std::span<std::byte const> bytes) {
  SegmentTable table;
  std::uint64_t words = 0;
  bool sane = true;
  bool const ended = for_each_packed(bytes, [&](std::uint64_t word) {
    ++words;
    if (!table.complete()) sane = table.add(word);
    return sane && (!table.complete() || words <= table.total());
  });
  if (!ended || !sane || !table.complete() || words != table.total()) return {};
  return words;
}

/// Why bytes are no message, as the end of a sentence.
std::string reason_of(std::span<std::byte const> bytes) {
  std::string_view const begin{reinterpret_cast<char const*>(bytes.data()), bytes.size()};
  if (std::string const other = seems_to_be(begin, bytes.size()); !other.empty()) return other;
  if (is_text(bytes))
    return "; it seems to be text: if it is a config, --config, persist::read_training and Python's Network read it";
  return ", or is cut short: its " + std::to_string(bytes.size()) +
         " bytes match no segment table, neither plain nor packed";
}

}  // namespace

void throw_translated(kj::Exception const& exception) {
  if (exception.getType() == kj::Exception::Type::OVERLOADED) throw std::bad_alloc{};  // the system has no memory left
  std::string const reason = exception.getDescription().cStr();
  if (reason.find("traversal limit") != std::string::npos)
    throw FormatError{"the message is malformed: it promises more than its bytes can hold"};
  if (reason.find("deeply-nested") != std::string::npos)
    throw FormatError{"the message is malformed: it is nested too deeply or in a circle"};
  throw FormatError{"the message is malformed: " + reason};
}

Message::Message(std::span<std::byte const> bytes) {
  if (bytes.empty()) throw FormatError{"is empty"};
  auto const promised = plain_words(bytes);
  kj::ArrayPtr<capnp::word const> words;
  if (promised && bytes.size() % word_size == 0 && *promised == bytes.size() / word_size) {
    if (reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(capnp::word) == 0) {
      words = {reinterpret_cast<capnp::word const*>(bytes.data()), *promised};
    } else {
      words_ = kj::heapArray<capnp::word>(*promised);
      std::memcpy(words_.begin(), bytes.data(), bytes.size());
      words = words_;
    }
  } else if (auto const unpacked = packed_words(bytes)) {
    if (*unpacked > max_unpacked(bytes.size()) / word_size)
      throw FormatError{"promises " + std::to_string(*unpacked) + " words in " + std::to_string(bytes.size()) +
                        " bytes, more than a network can be compressed"};
    words_ = kj::heapArray<capnp::word>(*unpacked);
    auto* to = reinterpret_cast<std::byte*>(words_.begin());
    for_each_packed(bytes, [&](std::uint64_t word) {
      for (unsigned b = 0; b < word_size; ++b) *to++ = static_cast<std::byte>(word >> 8 * b);
      return true;
    });
    words = words_;
  } else {
    throw FormatError{"is not a Cap'n Proto message" + reason_of(bytes)};
  }

  capnp::ReaderOptions options;
  // Each part is read for the checksum and for its content, and names once more for errors.
  options.traversalLimitInWords = 3 * words.size() + 1024;
  options.nestingLimit = 4 * max_nesting;  // a container takes three levels
  reader_ = translated([&] { return kj::heap<capnp::FlatArrayMessageReader>(words, options); });
}

namespace {

auto pointers_of(capnp::AnyPointer::Reader root) { return root.getAs<capnp::AnyStruct>().getPointerSection(); }

}  // namespace

bool Message::starts_with_struct() {
  auto const pointers = pointers_of(root<capnp::AnyPointer>());
  return pointers.size() > 0 && pointers[0].isStruct();
}

bool Message::starts_with_text() {
  auto const pointers = pointers_of(root<capnp::AnyPointer>());
  return pointers.size() > 0 && pointers[0].isList();
}

std::vector<std::byte> to_bytes(capnp::MessageBuilder& message) {
  auto const as_vector = [](kj::ArrayPtr<kj::byte const> bytes) {
    auto const* first = reinterpret_cast<std::byte const*>(bytes.begin());
    return std::vector<std::byte>(first, first + bytes.size());
  };
  kj::VectorOutputStream packed;
  capnp::writePackedMessage(packed, message);
  if (capnp::computeSerializedSizeInWords(message) * word_size <= max_unpacked(packed.getArray().size()))
    return as_vector(packed.getArray());
  return as_vector(capnp::messageToFlatArray(message).asBytes());
}

}  // namespace coldpress::persist
