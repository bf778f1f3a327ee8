#include <coldpress/data/output.hpp>

#include "components.hpp"
#include "npy_format.hpp"

#include <coldpress/data/atomic_file.hpp>

#include <array>
#include <charconv>
#include <limits>

#include <zlib.h>

namespace coldpress::data {
namespace {

std::span<std::byte const> bytes_of(std::string const& text) { return std::as_bytes(std::span{text}); }

/// The beginning of a .npy file, which has the same size for any number of rows.
std::string beginning_of(Index rows, Shape const& row) {
  std::vector<Index> extents{std::numeric_limits<Index>::max()};
  extents.insert(extents.end(), row.extents, row.extents + row.rank());
  std::size_t const size = npy_beginning(extents).size();
  extents[0] = rows;
  return npy_beginning(extents, size);
}

class NpyOutput final : public Output {
 public:
  NpyOutput(std::string const& path, Shape const& row) : Output(row), file_(path) {
    file_.write(bytes_of(beginning_of(0, row)));
  }

 private:
  void write(std::span<float const> values) override { file_.write(std::as_bytes(values)); }
  void end() override {
    file_.write_at(0, bytes_of(beginning_of(rows(), row_shape())));
    file_.commit();
  }

  AtomicFile file_;
};

/// A zip file with one member, which is stored. Its sizes are always given in 64 bits, since they are known in the end.
class NpzOutput final : public Output {
 public:
  NpzOutput(std::string const& path, Shape const& row) : Output(row), file_(path) {
    file_.write(bytes_of(header(0, 0)));
    file_.write(bytes_of(beginning_of(0, row)));
  }

 private:
  static constexpr std::string_view name = "output.npy";

  static void add(std::string& text, std::uint64_t number, int width) {
    for (int i = 0; i < width; ++i) text += static_cast<char>(number >> 8 * i & 0xff);
  }
  /// What the member's own header and the directory have in common: version 4.5, no flags, stored, 1 January 1980.
  static void describe(std::string& text, std::uint32_t checksum, std::uint64_t extra) {
    add(text, 45, 2), add(text, 0, 2), add(text, 0, 2), add(text, 0, 2), add(text, 0x21, 2), add(text, checksum, 4);
    add(text, 0xffffffff, 4), add(text, 0xffffffff, 4), add(text, name.size(), 2), add(text, extra, 2);
  }
  static void add_sizes(std::string& text, std::uint64_t size) {
    add(text, 1, 2), add(text, 16, 2), add(text, size, 8), add(text, size, 8);
  }
  static std::string header(std::uint32_t checksum, std::uint64_t size) {
    std::string text = "PK\3\4";
    describe(text, checksum, 20);
    text += name;
    add_sizes(text, size);
    return text;
  }

  void write(std::span<float const> values) override {
    auto const bytes = std::as_bytes(values);
    file_.write(bytes);
    checksum_ = ::crc32_z(checksum_, reinterpret_cast<Bytef const*>(bytes.data()), bytes.size());
    written_ += bytes.size();
  }
  void end() override {
    std::string const beginning = beginning_of(rows(), row_shape());
    uLong const of_beginning = ::crc32_z(0, reinterpret_cast<Bytef const*>(beginning.data()), beginning.size());
    auto const checksum =
        static_cast<std::uint32_t>(::crc32_combine(of_beginning, checksum_, static_cast<z_off_t>(written_)));
    std::uint64_t const size = beginning.size() + written_;
    std::string const first = header(checksum, size);
    file_.write_at(0, bytes_of(first + beginning));

    std::uint64_t const directory = first.size() + size;
    std::string last = "PK\1\2";
    add(last, 45, 2);
    describe(last, checksum, 20);
    add(last, 0, 2), add(last, 0, 2), add(last, 0, 2), add(last, 0, 4), add(last, 0, 4);  // where the member begins
    last += name;
    add_sizes(last, size);
    std::uint64_t const directory_size = last.size();
    last += "PK\6\6";  // the end in 64 bits, its place, and the end that says that there is one
    add(last, 44, 8), add(last, 45, 2), add(last, 45, 2), add(last, 0, 4), add(last, 0, 4), add(last, 1, 8);
    add(last, 1, 8), add(last, directory_size, 8), add(last, directory, 8);
    last += "PK\6\7";
    add(last, 0, 4), add(last, directory + directory_size, 8), add(last, 1, 4);
    last += "PK\5\6";
    add(last, 0, 2), add(last, 0, 2), add(last, 1, 2), add(last, 1, 2), add(last, directory_size, 4);
    add(last, 0xffffffff, 4), add(last, 0, 2);
    file_.write(bytes_of(last));
    file_.commit();
  }

  AtomicFile file_;
  uLong checksum_ = 0;
  std::uint64_t written_ = 0;  // bytes of values
};

class CsvOutput final : public Output {
 public:
  CsvOutput(std::string const& path, Shape const& row) : Output(row), file_(path) {
    for (Index i = 0; i < row.size(); ++i) text_ += (i == 0 ? "y" : ",y") + std::to_string(i);
    text_ += '\n';
  }

 private:
  static constexpr std::size_t at_once = std::size_t{1} << 18;  // bytes

  void write(std::span<float const> values) override {
    auto const columns = static_cast<std::size_t>(row_shape().size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::array<char, 32> digits;
      auto const end = std::to_chars(digits.data(), digits.data() + digits.size(), values[i]).ptr;
      text_.append(digits.data(), end) += (i + 1) % columns == 0 ? '\n' : ',';
      if (text_.size() > at_once) flush();
    }
  }
  void end() override {
    flush();
    file_.commit();
  }
  void flush() {
    file_.write(bytes_of(text_));
    text_.clear();
  }

  AtomicFile file_;
  std::string text_;
};

template <class Kind>
std::unique_ptr<Output> made(std::string const& path, Shape const& row) {
  return std::make_unique<Kind>(path, row);
}

std::unique_ptr<Output> open_hdf5_output(std::string const& path, Shape const& row) {
  return components().open_hdf5_output(path, row);
}

using Opener = std::unique_ptr<Output> (*)(std::string const& path, Shape const& row);

Opener opener_of(std::string const& path) {
  static constexpr std::pair<std::string_view, Opener> all[] = {{".npy", made<NpyOutput>},
                                                                {".npz", made<NpzOutput>},
                                                                {".csv", made<CsvOutput>},
                                                                {".h5", open_hdf5_output},
                                                                {".hdf5", open_hdf5_output}};
  std::string known;
  for (auto const& [ending, open] : all) {
    known += (known.empty() ? "" : ", ") + std::string{ending};
    if (!path.ends_with(ending)) continue;
    if (open == open_hdf5_output && !components().open_hdf5_output)
      throw UnsupportedError{"this program writes no HDF5 files: it was built without coldpress::hdf5"};
    return open;
  }
  throw ConfigError{"the name of an output ends in " + known + ", which says how it is written"};
}

}  // namespace

void Output::append(std::span<float const> values) {
  auto const columns = static_cast<std::size_t>(row_.size());
  if (columns == 0 || values.size() % columns != 0)
    throw ShapeError{std::to_string(values.size()) + " values are appended to an output of rows of " + to_string(row_) +
                     ", expected whole rows"};
  write(values);
  rows_ += static_cast<Index>(values.size() / columns);
}

void Output::finish() { end(); }

void check_output(std::string const& path) {
  with_context([&] { opener_of(path); }, [&](Error& error) { error.in_file(path); });
}

std::unique_ptr<Output> open_output(std::string const& path, Shape const& row) {
  return with_file(path, [&] { return opener_of(path)(path, row); });
}

}  // namespace coldpress::data
