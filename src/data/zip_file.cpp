// Reads the directory of a zip file, also one with 64-bit sizes, to say where each member's bytes are.
#include "zip_file.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace coldpress::data {
namespace {

// APPNOTE.TXT of PKWARE has the layouts. All numbers are little-endian.
constexpr std::uint32_t end_mark = 0x06054b50, end_mark_64 = 0x06064b50, locator_mark_64 = 0x07064b50,
                        directory_mark = 0x02014b50, member_mark = 0x04034b50;
constexpr std::uint64_t end_size = 22, end_size_64 = 56, locator_size_64 = 20, directory_size = 46, member_size = 30;
constexpr std::uint64_t longest_comment = 0xffff, largest_directory = std::uint64_t{1} << 24;
constexpr std::size_t max_entries = std::size_t{1} << 16;
constexpr std::uint64_t in_64_bits = 0xffffffff;  // says that a number is elsewhere, with more bits

class Bytes {
 public:
  explicit Bytes(std::span<std::byte const> bytes) : bytes_(bytes) {}
  std::uint64_t number(std::uint64_t at, int width) const {
    std::uint64_t value = 0;
    for (int i = width - 1; i >= 0; --i)
      value = value << 8 |
              std::to_integer<std::uint64_t>(bytes_[static_cast<std::size_t>(at) + static_cast<std::size_t>(i)]);
    return value;
  }
  std::uint32_t mark(std::uint64_t at) const { return static_cast<std::uint32_t>(number(at, 4)); }
  std::uint64_t size() const { return bytes_.size(); }
  Bytes part(std::uint64_t at, std::uint64_t count) const {
    return Bytes{bytes_.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(count))};
  }
  std::string text() const { return {reinterpret_cast<char const*>(bytes_.data()), bytes_.size()}; }

 private:
  std::span<std::byte const> bytes_;
};

class ZipFile {
 public:
  explicit ZipFile(std::string const& path) : file_(path) { find_directory(); }

  InputFile::Member member(std::string const& wanted, std::string const& advice) const {
    std::optional<InputFile::Member> found;
    std::string names;
    for_each([&](std::string const& name, Bytes entry, Bytes extra) {
      if (name == wanted) {
        if (found) malformed("has two members called " + printable(wanted));
        found = described(name, entry, extra);
      } else if (names.size() < 200) {
        names += (names.empty() ? "" : ", ") + printable(name);
      }
    });
    if (!found)
      malformed("has no member " + printable(wanted) + "; it has " + (names.empty() ? "none" : names) + advice);
    return *found;
  }
  std::vector<ZipEntry> entries() const {
    std::vector<ZipEntry> all;
    std::uint64_t packed = 0;
    for_each([&](std::string const& name, Bytes entry, Bytes extra) {
      if (all.size() == max_entries) malformed("has more than " + std::to_string(max_entries) + " members");
      all.push_back({.member = {.name = name}});
      try {
        all.back().member = described(name, entry, extra);
      } catch (Error const&) {
        all.back().unreadable = std::current_exception();
      }
      // Members may be read in time linear in the file's size, since they do not share their bytes.
      if ((packed += all.back().member.packed) > file_.size())
        malformed("its members have together more bytes than the file, so that they overlap");
    });
    return all;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for_each([&](std::string const& name, Bytes, Bytes) { all.push_back(name); });
    return all;
  }

 private:
  [[noreturn]] void malformed(std::string const& sentence) const { fail_in<FormatError>(file_.path(), sentence); }

  /// f(name, directory entry, extra fields) for each member.
  void for_each(auto const& f) const {
    auto const bytes = read(begin_, size_);
    Bytes const directory{bytes};
    for (std::uint64_t at = 0; at < size_;) {
      if (size_ - at < directory_size || directory.mark(at) != directory_mark) malformed("its directory is damaged");
      std::uint64_t const name = directory.number(at + 28, 2), extra = directory.number(at + 30, 2);
      std::uint64_t const all = directory_size + name + extra + directory.number(at + 32, 2);
      if (size_ - at < all) malformed("its directory is damaged");
      f(directory.part(at + directory_size, name).text(), directory.part(at, directory_size),
        directory.part(at + directory_size + name, extra));
      at += all;
    }
  }

  std::vector<std::byte> read(std::uint64_t begin, std::uint64_t size) const {
    std::vector<std::byte> bytes(static_cast<std::size_t>(size));
    file_.read(begin, bytes);
    return bytes;
  }

  /// The directory is found from the end of the file, where a comment may follow the record that names it.
  void find_directory() {
    std::uint64_t const tail = std::min(file_.size(), end_size + longest_comment), tail_begin = file_.size() - tail;
    auto const bytes = read(tail_begin, tail);
    Bytes const last{bytes};
    for (std::uint64_t back = end_size; back <= tail; ++back) {
      std::uint64_t const at = tail - back;
      if (last.mark(at) != end_mark || last.number(at + 20, 2) != back - end_size) continue;
      size_ = last.number(at + 12, 4), begin_ = last.number(at + 16, 4);
      end_ = tail_begin + at;
      if (last.number(at + 10, 2) == 0xffff || size_ == in_64_bits || begin_ == in_64_bits) find_directory_64();
      if (size_ > largest_directory || begin_ > end_ || end_ - begin_ < size_)
        malformed("is a zip file whose directory is damaged or larger than 2^24 bytes");
      return;
    }
    malformed("is not a zip file, or is cut short: it does not end with the place of a directory");
  }
  void find_directory_64() {
    if (end_ < locator_size_64) return;
    auto const locator_bytes = read(end_ - locator_size_64, locator_size_64);
    Bytes const locator{locator_bytes};
    if (locator.mark(0) != locator_mark_64) return;  // there are no numbers of 64 bits
    std::uint64_t const at = locator.number(8, 8);
    if (at > end_ || end_ - at < end_size_64) malformed("is a zip file whose directory is damaged");
    auto const record_bytes = read(at, end_size_64);
    Bytes const record{record_bytes};
    if (record.mark(0) != end_mark_64) malformed("is a zip file whose directory is damaged");
    size_ = record.number(40, 8), begin_ = record.number(48, 8);
  }

  InputFile::Member described(std::string const& name, Bytes entry, Bytes extra) const {
    auto const wrong = [&](std::string const& what) { malformed("member " + printable(name) + ": " + what); };
    std::uint64_t const flags = entry.number(8, 2), method = entry.number(10, 2);
    if ((flags & 1) != 0) wrong("is encrypted");
    if (method != 0 && method != 8)
      wrong("is compressed by method " + std::to_string(method) + ", expected 0 (stored) or 8 (deflate)");
    std::uint64_t packed = entry.number(20, 4), unpacked = entry.number(24, 4), begin = entry.number(42, 4);
    // The numbers that do not fit into 32 bits are in the field 1, in this order.
    for (std::uint64_t at = 0; at + 4 <= extra.size();) {
      std::uint64_t const id = extra.number(at, 2), size = extra.number(at + 2, 2);
      at += 4;
      if (size > extra.size() - at) wrong("its directory entry is damaged");
      if (id == 1) {
        std::uint64_t next = at;
        for (std::uint64_t* const value : {&unpacked, &packed, &begin}) {
          if (*value != in_64_bits) continue;
          if (at + size - next < 8) wrong("its directory entry is damaged");
          *value = extra.number(next, 8);
          next += 8;
        }
      }
      at += size;
    }
    if (begin > begin_ || begin_ - begin < member_size) wrong("begins behind the directory");
    auto const header_bytes = read(begin, member_size);
    Bytes const header{header_bytes};
    if (header.mark(0) != member_mark) wrong("does not begin where the directory says");
    begin += member_size + header.number(26, 2) + header.number(28, 2);
    if (begin > begin_ || begin_ - begin < packed) wrong("has more bytes than the file");
    if (method == 0 && packed != unpacked) wrong("is stored, but has two sizes");
    return {name, begin, packed, unpacked, entry.mark(16), method == 8};
  }

  PositionedFile file_;
  std::uint64_t begin_ = 0, size_ = 0, end_ = 0;  // of the directory, and where its end is described
};

}  // namespace

InputFile::Member zip_member(std::string const& path, std::string const& name, std::string const& advice) {
  return ZipFile{path}.member(name, advice);
}
std::vector<ZipEntry> zip_entries(std::string const& path) { return ZipFile{path}.entries(); }
std::vector<std::string> zip_names(std::string const& path) { return ZipFile{path}.names(); }

}  // namespace coldpress::data
