// Rows of outputs as .npy, .npz and CSV files, chosen by the ending of the path; HDF5 is a component of its own.
#include <coldpress/data/output.hpp>

#include "components.hpp"
#include "npy_format.hpp"
#include "zip_output.hpp"

#include <coldpress/data/atomic_file.hpp>

#include <array>
#include <charconv>
#include <limits>

namespace coldpress::data {
namespace {

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
  NpyOutput(std::string const& path, Shape const& row, std::string const&) : Output(row), file_(path) {
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

/// A zip file with a member for each array.
class NpzOutput final : public Output {
 public:
  NpzOutput(std::string const& path, Shape const& row, std::string const& name) : Output(row), file_(path) {
    begin(name, row);
  }

 private:
  void write(std::span<float const> values) override { file_.write(std::as_bytes(values)); }
  void begin(std::string const& name, Shape const& row) { file_.begin(name + ".npy", bytes_of(beginning_of(0, row))); }
  void end_member() { file_.end(bytes_of(beginning_of(rows(), row_shape()))); }
  void begin_next(std::string const& name, Shape const& row) override {
    end_member();
    begin(name, row);
  }
  void end() override {
    end_member();
    file_.commit();
  }

  ZipOutput file_;
};

class CsvOutput final : public Output {
 public:
  CsvOutput(std::string const& path, Shape const& row, std::string const&) : Output(row), file_(path) {
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
std::unique_ptr<Output> made(std::string const& path, Shape const& row, std::string const& name) {
  return std::make_unique<Kind>(path, row, name);
}

std::unique_ptr<Output> open_hdf5_output(std::string const& path, Shape const& row, std::string const& name) {
  return components().open_hdf5_output(path, row, name);
}

using Opener = std::unique_ptr<Output> (*)(std::string const& path, Shape const& row, std::string const& name);

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

void Output::next(std::string const& name, Shape const& row) {
  begin_next(name, row);
  row_ = row, rows_ = 0;
}

void Output::begin_next(std::string const&, Shape const&) {
  throw UnsupportedError{"this format has one array; those that have several are .npz and .h5"};
}

void Output::finish() { end(); }

void check_output(std::string const& path) {
  with_context([&] { opener_of(path); }, [&](Error& error) { error.in_file(path); });
}

bool takes_several_arrays(std::string const& path) {
  Opener const open = opener_of(path);
  return open == made<NpzOutput> || open == open_hdf5_output;
}

std::unique_ptr<Output> open_output(std::string const& path, Shape const& row, std::string const& name) {
  return with_file(path, [&] { return opener_of(path)(path, row, name); });
}

}  // namespace coldpress::data
