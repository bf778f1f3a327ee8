// Parses and writes the header of a NumPy array, and reads and writes whole arrays.
#include "npy_format.hpp"

#include "extents.hpp"
#include "stored_numbers.hpp"

#include <coldpress/data/atomic_file.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>

namespace coldpress::data {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
// NumPy itself refuses longer headers and more extents.
constexpr std::size_t longest_header = 65535;
constexpr std::size_t most_extents = 32;

/// The header: a Python dictionary literal with the keys descr, fortran_order and shape, in any order.
class Header {
 public:
  Header(InputFile const& source, std::string_view text) : source_(source), text_(text) {
    expect('{');
    while (!accept('}')) {
      std::string_view const key = quoted();
      expect(':');
      if (key == "descr" && accept('['))
        source_.malformed("is a structured array, expected one of numbers: array['NAME'] is that of one field");
      else if (key == "descr" && !type_)
        type_ = quoted();
      else if (key == "fortran_order" && !fortran_)
        fortran_ = boolean();
      else if (key == "shape" && !extents_)
        extents_ = tuple();
      else
        wrong("has the unknown or repeated key " + printable(key));
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    blanks();
    if (!text_.empty()) wrong("continues after its closing brace");
    if (!type_ || !fortran_ || !extents_) wrong("lacks one of the keys descr, fortran_order and shape");
  }

  std::string_view type() const { return *type_; }
  bool fortran() const { return *fortran_; }
  std::vector<Index> const& extents() const { return *extents_; }

 private:
  [[noreturn]] void wrong(std::string const& what) const { source_.malformed("the header " + what); }

  void blanks() { text_.remove_prefix(std::min(text_.find_first_not_of(" \t\n"), text_.size())); }
  bool accept(char c) {
    blanks();
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!accept(c))
      wrong(std::string{"has "} + (text_.empty() ? "its end" : printable(text_)) + " where '" + c + "' is expected");
  }
  std::string_view quoted() {
    char const quote = accept('"') ? '"' : (expect('\''), '\'');
    auto const end = text_.find(quote);
    if (end == std::string_view::npos) wrong("ends inside a quoted word");
    std::string_view const word = text_.substr(0, end);
    text_.remove_prefix(end + 1);
    return word;
  }
  bool boolean() {
    blanks();
    for (std::string_view const word : {"True", "False"})
      if (text_.starts_with(word)) {
        text_.remove_prefix(word.size());
        return word == "True";
      }
    wrong("has a fortran_order that is neither True nor False");
  }
  std::vector<Index> tuple() {
    std::vector<Index> extents;
    expect('(');
    while (!accept(')')) {
      blanks();
      Index extent = 0;
      auto const [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), extent);
      if (error == std::errc::result_out_of_range && text_.front() != '-')
        wrong("has the extent " + printable({text_.data(), end}) + ", expected at most " +
              std::to_string(std::numeric_limits<Index>::max()));
      if (error != std::errc{} || extent < 0 || extents.size() == most_extents)
        wrong("has a shape that is not a list of at most 32 extents");
      text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
      extents.push_back(extent);
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return extents;
  }

  InputFile const& source_;
  std::string_view text_;
  std::optional<std::string_view> type_;
  std::optional<bool> fortran_;
  std::optional<std::vector<Index>> extents_;
};

constexpr NpyType types[] = {
    {"<f4", 4, to_floats<float>},         {"<f8", 8, to_floats<double>},        {"<f2", 2, to_floats<Half>},
    {"|b1", 1, to_floats<std::uint8_t>},  {"|u1", 1, to_floats<std::uint8_t>},  {"|i1", 1, to_floats<std::int8_t>},
    {"<u2", 2, to_floats<std::uint16_t>}, {"<i2", 2, to_floats<std::int16_t>},  {"<u4", 4, to_floats<std::uint32_t>},
    {"<i4", 4, to_floats<std::int32_t>},  {"<u8", 8, to_floats<std::uint64_t>}, {"<i8", 8, to_floats<std::int64_t>}};

}  // namespace

NpyHeader read_npy_header(InputFile& source) {
  std::array<char, 8> start;
  if (source.read(std::as_writable_bytes(std::span{start})) < start.size() ||
      std::string_view{start.data(), magic.size()} != magic)
    source.malformed("is not a .npy file: it must begin with \\x93NUMPY and a version");
  int const version = static_cast<unsigned char>(start[6]);
  if (version < 1 || version > 3 || start[7] != 0)
    source.malformed("is of .npy version " + std::to_string(version) + "." +
                     std::to_string(static_cast<unsigned char>(start[7])) + ", expected 1.0, 2.0 or 3.0");

  std::array<unsigned char, 4> digits{};
  auto const length_bytes = std::as_writable_bytes(std::span{digits}.first(version == 1 ? 2 : 4));
  if (source.read(length_bytes) < length_bytes.size()) source.malformed("ends inside the header");
  std::size_t const length =
      digits[0] | std::size_t{digits[1]} << 8 | std::size_t{digits[2]} << 16 | std::size_t{digits[3]} << 24;
  if (length > longest_header)
    source.malformed("has a header of " + std::to_string(length) + " bytes, expected at most " +
                     std::to_string(longest_header));
  std::string text(length, '\0');
  if (source.read(std::as_writable_bytes(std::span{text})) < length) source.malformed("ends inside the header");

  Header const header{source, text};
  if (header.fortran())
    source.malformed("is in Fortran order, expected C order, as numpy.ascontiguousarray(array) gives it");
  auto const type = std::ranges::find(types, header.type(), &NpyType::name);
  if (type == std::end(types)) {
    std::string known;
    for (NpyType const& one : types) known += (known.empty() ? "" : ", ") + std::string{one.name};
    source.malformed("holds values of type " + printable(header.type()) + ", expected one of " + known);
  }
  return {type, header.extents(), start.size() + length_bytes.size() + length,
          promised_values(source, header.extents(), type->width)};
}

// In pieces, so that no second copy of the whole is needed.
std::vector<float> read_npy_values(InputFile& source, NpyHeader const& header) {
  std::vector<float> values;
  std::array<std::byte, 32768> piece;
  std::size_t const at_once = piece.size() / header.type->width;
  for (std::size_t done = 0; done < header.values;) {
    std::size_t const wanted = std::min(at_once, header.values - done);
    auto const bytes = std::span{piece}.first(wanted * header.type->width);
    if (source.read(bytes) < bytes.size())
      source.malformed("ends before the " + std::to_string(header.values) + " values that the header promises");
    make_room(values, source, header.values, done, wanted);
    std::size_t const converted = header.type->convert(bytes.data(), wanted, values.data() + done);
    if (converted < wanted)
      source.malformed("value " + std::to_string(done + converted) + " is beyond the range of a float");
    done += wanted;
  }
  expect_end(source);
  return values;
}

NpyArray read_npy(std::string const& path, ReadOptions options) {
  InputFile source{path, options};
  NpyHeader header = read_npy_header(source);
  auto values = read_npy_values(source, header);
  return {std::move(header.extents), std::move(values)};
}

std::string npy_beginning(std::span<Index const> extents, std::size_t size) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + list(extents);
  header += extents.size() == 1 ? ",), }" : "), }";
  // The values begin at a multiple of 64 bytes; the header ends with a line padded with blanks.
  std::size_t const before = magic.size() + 4;
  header.resize(std::max(size, (before + header.size() + 1 + 63) / 64 * 64) - before - 1, ' ');
  header += '\n';
  std::string prefix{magic};
  prefix += {'\1', '\0', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  return prefix + header;
}

void write_npy(std::string const& path, std::span<Index const> extents, std::span<float const> values) {
  if (extents.size() > most_extents || count(extents, values.size()) != values.size())
    throw ShapeError{"an array of {" + list(extents) + "} does not hold " + std::to_string(values.size()) + " values"};
  std::string const beginning = npy_beginning(extents);
  std::vector<std::byte> bytes(beginning.size() + values.size_bytes());
  std::memcpy(bytes.data(), beginning.data(), beginning.size());
  if (!values.empty()) std::memcpy(bytes.data() + beginning.size(), values.data(), values.size_bytes());
  write_atomically(path, bytes);
}

}  // namespace coldpress::data
