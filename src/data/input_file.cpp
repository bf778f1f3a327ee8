// Reads a file, a pipe or a member of a zip file, unpacks gzip and deflate, and limits how much they expand.
#include "input_file.hpp"

#include "system.hpp"

#include <algorithm>
#include <array>

#include <zlib.h>

namespace coldpress::data {
namespace {

// Deflate packs at most 258 bytes into two bits.
constexpr std::uint64_t largest_ratio = 1032;
// A small file may unpack to this many bytes whatever the limit is.
constexpr std::uint64_t always_allowed = std::uint64_t{1} << 20;
// Pipes do not announce how much will come.
constexpr std::uint64_t most_from_pipe = std::uint64_t{1} << 32;

}  // namespace

struct InputFile::State {
  std::string path, place;
  Descriptor file;
  std::uint64_t max_expansion;
  std::uint64_t file_left = 0;                              // bytes of the file that are not yet read
  std::uint64_t file_size = 0, taken_in = 0, unpacked = 0;  // bytes: of the file (0 for a pipe), read, and unpacked
  bool regular = false, compressed = false, file_ended = false, between_members = false;
  std::optional<Member> member;
  bool checked = false;  // the member's end
  uLong checksum = 0;
  std::array<Bytef, 1 << 16> buffer;
  z_stream stream{};  // next_in and avail_in also serve plain files

  State(std::string const& path_, ReadOptions options)
      : path(path_), file(-1), max_expansion(static_cast<std::uint64_t>(options.max_expansion)) {
    Readable opened = open_to_read(path);
    regular = opened.has_size();
    if (opened.has_size()) file_size = static_cast<std::uint64_t>(opened.status.st_size);
    file_left = opened.has_size() ? file_size : most_from_pipe;
    file = std::move(opened.file);
  }
  ~State() {
    if (compressed) ::inflateEnd(&stream);
  }

  void seek(Member const& part) {
    if (::lseek(file.number(), static_cast<off_t>(part.begin), SEEK_SET) < 0) refuse(path, "cannot read", errno);
    file_size = file_left = part.packed;
    member = part;
    place = "member " + printable(part.name) + ": ";
  }

  std::size_t read_file(std::byte* to, std::size_t size) {
    size = std::min(size, std::size_t{1} << 30);
    if (member) size = static_cast<std::size_t>(std::min<std::uint64_t>(size, file_left));
    auto const got = uninterrupted([&] { return ::read(file.number(), to, size); });
    if (got < 0) refuse(path, "cannot read", errno);
    file_ended = got == 0;
    taken_in += static_cast<std::uint64_t>(got);
    file_left -= std::min(file_left, static_cast<std::uint64_t>(got));
    return static_cast<std::size_t>(got);
  }

  /// The number of bytes that may be unpacked; for a pipe, from what is known so far.
  std::uint64_t allowed() const {
    std::uint64_t const known = std::max(file_size, taken_in), most = ~std::uint64_t{0} / 2;
    return max_expansion > most / std::max<std::uint64_t>(known, 1) ? most : known * max_expansion + always_allowed;
  }

  void refill() {
    if (stream.avail_in > 0 || file_ended) return;
    stream.next_in = buffer.data();
    stream.avail_in = static_cast<uInt>(read_file(reinterpret_cast<std::byte*>(buffer.data()), buffer.size()));
  }
};

InputFile::InputFile(std::string const& path, ReadOptions options) : state_(std::make_unique<State>(path, options)) {
  State& s = *state_;
  // A pipe may deliver its first bytes one at a time.
  s.stream.next_in = s.buffer.data();
  while (s.stream.avail_in < 2 && !s.file_ended)
    s.stream.avail_in += static_cast<uInt>(s.read_file(
        reinterpret_cast<std::byte*>(s.buffer.data()) + s.stream.avail_in, s.buffer.size() - s.stream.avail_in));
  if (s.stream.avail_in >= 2 && s.buffer[0] == 0x1f && s.buffer[1] == 0x8b) {
    if (::inflateInit2(&s.stream, 15 + 16) != Z_OK) throw std::bad_alloc{};
    s.compressed = true;
  }
}

InputFile::InputFile(std::string const& path, Member const& member, ReadOptions options)
    : state_(std::make_unique<State>(path, options)) {
  State& s = *state_;
  s.seek(member);
  s.stream.next_in = s.buffer.data();
  if (!member.deflated) return;
  if (::inflateInit2(&s.stream, -15) != Z_OK) throw std::bad_alloc{};
  s.compressed = true;
}

InputFile::InputFile(InputFile&&) noexcept = default;
InputFile::~InputFile() = default;

std::size_t InputFile::read(std::span<std::byte> bytes) {
  State& s = *state_;
  std::size_t const done = read_any(bytes);
  if (!s.member) return done;
  s.checksum = ::crc32_z(s.checksum, reinterpret_cast<Bytef const*>(bytes.data()), done);
  if (!s.compressed) s.unpacked += done;
  if (done < bytes.size() && !s.checked) {
    if (s.unpacked != s.member->unpacked)
      malformed("has " + std::to_string(s.unpacked) + " bytes, but the zip file promises " +
                std::to_string(s.member->unpacked));
    if (s.checksum != s.member->checksum) malformed("is damaged: its checksum is another one");
    s.checked = true;
  }
  return done;
}

std::size_t InputFile::read_any(std::span<std::byte> bytes) {
  State& s = *state_;
  std::size_t done = 0;
  while (done < bytes.size()) {
    s.refill();
    if (s.stream.avail_in == 0) {
      if (s.compressed && !s.between_members) malformed("the compressed data ends early");
      break;
    }
    auto room = static_cast<uInt>(std::min(bytes.size() - done, std::size_t{1} << 30));
    if (!s.compressed) {
      auto const part = std::min(room, s.stream.avail_in);
      std::copy_n(reinterpret_cast<std::byte const*>(s.stream.next_in), part, bytes.data() + done);
      s.stream.next_in += part;
      s.stream.avail_in -= part;
      done += part;
      continue;
    }
    // A gzip file may consist of several members.
    if (s.between_members && s.member) malformed("the compressed data continues after its end");
    if (s.between_members) ::inflateReset(&s.stream);
    s.between_members = false;
    room = static_cast<uInt>(std::min<std::uint64_t>(room, s.allowed() - s.unpacked + 1));  // including one byte too
                                                                                            // many
    s.stream.next_out = reinterpret_cast<Bytef*>(bytes.data() + done);
    s.stream.avail_out = room;
    int const result = ::inflate(&s.stream, Z_NO_FLUSH);
    done += room - s.stream.avail_out;
    s.unpacked += room - s.stream.avail_out;
    if (s.unpacked > s.allowed()) malformed("unpacks to more than its limit" + limit());
    if (result == Z_STREAM_END)
      s.between_members = true;
    else if (result == Z_MEM_ERROR)
      throw std::bad_alloc{};
    else if (result != Z_OK && result != Z_BUF_ERROR)
      malformed(std::string{"the compressed data is damaged"} + (s.stream.msg ? std::string{": "} + s.stream.msg : ""));
  }
  return done;
}

std::uint64_t InputFile::most_left() const {
  State const& s = *state_;
  std::uint64_t const left = s.file_left + s.stream.avail_in;
  // One byte more, for what the inflater has taken in but not yet returned.
  if (!s.compressed) return left;
  std::uint64_t const gzip = (left + 1) * largest_ratio;
  return s.file_size > 0 ? std::min(gzip, s.allowed() - s.unpacked) : gzip;
}

bool InputFile::compressed() const { return state_->compressed; }

std::string InputFile::limit() const {
  State const& s = *state_;
  if (!s.compressed) return {};
  return ": " + std::to_string(s.allowed()) + " bytes, " + std::to_string(s.max_expansion) + " times its " +
         std::to_string(std::max(s.file_size, s.taken_in)) +
         " bytes plus 1 MiB; raise --max-expansion (ReadOptions::max_expansion) if that is intended";
}

std::string const& InputFile::path() const { return state_->path; }
std::string const& InputFile::place() const { return state_->place; }

std::optional<InputFile::Positioned> InputFile::positioned() && {
  State& s = *state_;
  if (s.compressed || !s.regular) return {};
  if (s.member) {  // at whose end its checksum is compared
    std::array<std::byte, 1 << 16> piece;
    while (read(piece) == piece.size()) {
    }
  }
  return Positioned{PositionedFile{s.path, std::move(s.file)}, s.member ? s.member->begin : 0};
}

void InputFile::malformed(std::string const& sentence) const {
  fail_in<FormatError>(state_->path, state_->place + sentence);
}

std::string printable(std::string_view piece) {
  std::string text{piece.substr(0, 40)};
  std::ranges::replace_if(
      text, [](unsigned char c) { return c < ' ' || c == 127; }, '?');
  return "'" + text + (piece.size() > 40 ? "...'" : "'");
}

}  // namespace coldpress::data
