// Writes members without compression, and the directory of 64-bit sizes after them.
#include "zip_output.hpp"

#include <utility>

#include <zlib.h>

namespace coldpress::data {
namespace {

// APPNOTE.TXT of PKWARE has the layouts. All numbers are little-endian.
void add(std::string& text, std::uint64_t number, int width) {
  for (int i = 0; i < width; ++i) text += static_cast<char>(number >> 8 * i & 0xff);
}
/// What the member's own header and the directory have in common: version 4.5, no flags, stored, 1 January 1980.
void describe(std::string& text, std::string const& name, std::uint32_t checksum, std::uint64_t extra) {
  add(text, 45, 2), add(text, 0, 2), add(text, 0, 2), add(text, 0, 2), add(text, 0x21, 2), add(text, checksum, 4);
  add(text, 0xffffffff, 4), add(text, 0xffffffff, 4), add(text, name.size(), 2), add(text, extra, 2);
}
void add_sizes(std::string& text, std::uint64_t size) { add(text, size, 8), add(text, size, 8); }

uLong checksum_of(uLong before, std::span<std::byte const> bytes) {
  return ::crc32_z(before, reinterpret_cast<Bytef const*>(bytes.data()), bytes.size());
}

}  // namespace

ZipOutput::ZipOutput(std::string const& path) : file_(path) {}

std::string ZipOutput::header(Member const& member) {
  std::string text = "PK\3\4";
  describe(text, member.name, member.checksum, 20);
  text += member.name;
  add(text, 1, 2), add(text, 16, 2), add_sizes(text, member.size);
  return text;
}

void ZipOutput::begin(std::string name, std::span<std::byte const> first) {
  members_.push_back({.name = std::move(name), .begin = position_});
  std::string const text = header(members_.back());
  file_.write(bytes_of(text));
  file_.write(first);
  position_ += text.size() + first.size();
  written_ = 0;
  checksum_ = 0;
}

void ZipOutput::write(std::span<std::byte const> bytes) {
  file_.write(bytes);
  checksum_ = checksum_of(checksum_, bytes);
  written_ += bytes.size();
  position_ += bytes.size();
}

void ZipOutput::end(std::span<std::byte const> first) {
  Member& member = members_.back();
  member.size = first.size() + written_;
  member.checksum =
      static_cast<std::uint32_t>(::crc32_combine(checksum_of(0, first), checksum_, static_cast<z_off_t>(written_)));
  std::string const text = header(member);
  file_.write_at(member.begin, bytes_of(text));
  file_.write_at(member.begin + text.size(), first);
}

void ZipOutput::commit() {
  std::string last;
  for (Member const& member : members_) {
    bool const far = member.begin >= 0xffffffff;
    last += "PK\1\2";
    add(last, 45, 2);
    describe(last, member.name, member.checksum, far ? 28 : 20);
    add(last, 0, 2), add(last, 0, 2), add(last, 0, 2), add(last, 0, 4);
    add(last, far ? 0xffffffff : member.begin, 4);
    last += member.name;
    add(last, 1, 2), add(last, far ? 24 : 16, 2), add_sizes(last, member.size);
    if (far) add(last, member.begin, 8);
  }
  std::uint64_t const size = last.size(), count = members_.size(), short_count = count < 0xffff ? count : 0xffff;
  if (count > 0) {     // NumPy expects nothing more of an empty archive than its last end
    last += "PK\6\6";  // the end in 64 bits, its place, and the end that says that there is one
    add(last, 44, 8), add(last, 45, 2), add(last, 45, 2), add(last, 0, 4), add(last, 0, 4), add(last, count, 8);
    add(last, count, 8), add(last, size, 8), add(last, position_, 8);
    last += "PK\6\7";
    add(last, 0, 4), add(last, position_ + size, 8), add(last, 1, 4);
  }
  last += "PK\5\6";
  add(last, 0, 2), add(last, 0, 2), add(last, short_count, 2), add(last, short_count, 2);
  add(last, size < 0xffffffff ? size : 0xffffffff, 4), add(last, count > 0 ? 0xffffffff : 0, 4), add(last, 0, 2);
  file_.write(bytes_of(last));
  file_.commit();
}

}  // namespace coldpress::data
