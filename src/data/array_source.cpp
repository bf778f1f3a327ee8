// Data in .npy and .npz files, whose rows are read where they are, or kept in memory if they are compressed.
#include "array_source.hpp"

#include "extents.hpp"
#include "zip_file.hpp"

#include <coldpress/core/counted.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace coldpress::data {
namespace {

/// The shape of what the arrays have of each sample; flat if there are several.
Shape shape_of(NamedRows const& arrays) {
  if (arrays.rows.size() == 1) return arrays.rows[0].shape();
  Shape shape{};
  for (ArrayRows const& one : arrays.rows) shape.extents[0] += one.shape().size();
  return shape;
}

std::vector<Source::Array> parts_of(NamedRows const& arrays) {
  std::vector<Source::Array> parts;
  if (arrays.rows.size() < 2) return parts;
  for (std::size_t k = 0; k < arrays.rows.size(); ++k) parts.push_back({arrays.names[k], arrays.rows[k].shape()});
  return parts;
}

class ArraySource final : public Source {
 public:
  ArraySource(NamedRows samples, NamedRows targets)
      : Source({.sample_shape = shape_of(samples),
                .target_shape = shape_of(targets),
                .size = samples.rows[0].rows(),
                .sample_arrays = parts_of(samples),
                .target_arrays = parts_of(targets)}),
        samples_(std::move(samples.rows)),
        targets_(std::move(targets.rows)) {}

  std::unique_ptr<Source::Reader> reader() const override { return std::make_unique<RowReader>(*this); }

 private:
  struct RowReader final : Source::Reader {
    explicit RowReader(ArraySource const& of) : source(of) {}
    void read(Index first, Index count, float* samples, float* targets) override {
      if (samples) read_rows(source.samples_, first, count, samples);
      read_rows(source.targets_, first, count, targets);
    }
    static void read_rows(std::vector<ArrayRows> const& arrays, Index first, Index count, float* values) {
      if (arrays.size() == 1) return arrays[0].read(first, count, values);
      for (Index i = 0; i < count; ++i) {
        for (ArrayRows const& array : arrays) {
          array.read(first + i, 1, values);
          values += array.shape().size();
        }
      }
    }
    ArraySource const& source;
  };

  std::vector<ArrayRows> samples_, targets_;  // one after another in each sample
};

}  // namespace

ArrayRows::ArrayRows(InputFile source, bool finite) : path_(source.path()), place_(source.place()), finite_(finite) {
  NpyHeader const header = read_npy_header(source);
  type_ = header.type;
  shape_ = sample_shape(header.extents, path_, place_);
  rows_ = header.extents[0];
  std::uint64_t const left = source.most_left(), promised = std::uint64_t{header.values} * type_->width;
  auto file = std::move(source).positioned();
  if (!file) {
    values_ = read_npy_values(source, header);
    return;
  }
  if (left != promised) fail_in<FormatError>(path_, place_ + "continues after the values that the header promises");
  begin_ = file->begin + header.bytes;
  file_ = std::move(file->file);
}

void ArrayRows::read(Index first, Index count, float* values) const {
  Index const begin = first * shape_.size(), size = count * shape_.size();
  if (file_) {
    read_file(begin, size, values);
  } else {
    std::copy_n(values_.data() + begin, size, values);
  }
  if (!finite_) return;
  float const* const bad = std::find_if_not(values, values + size, [](float value) { return std::isfinite(value); });
  if (bad != values + size)
    fail_in<DataError>(path_,
                       value_at(begin + (bad - values)) + " is " + std::to_string(*bad) + ", expected finite values");
}

void ArrayRows::read_file(Index first, Index count, float* values) const {
  auto const width = static_cast<Index>(type_->width);
  std::array<std::byte, 16384> piece;
  bool const as_they_are = type_->name == "<f4";
  Index const at_once = as_they_are ? count : static_cast<Index>(piece.size()) / width;
  for (Index done = 0, size; done < count; done += size) {
    size = std::min(at_once, count - done);
    auto const bytes = as_they_are ? std::as_writable_bytes(std::span{values, static_cast<std::size_t>(count)})
                                   : std::span{piece}.first(static_cast<std::size_t>(size * width));
    file_->read(begin_ + static_cast<std::uint64_t>((first + done) * width), bytes);
    if (as_they_are) return;
    auto const converted =
        static_cast<Index>(type_->convert(bytes.data(), static_cast<std::size_t>(size), values + done));
    if (converted < size)
      fail_in<FormatError>(path_, value_at(first + done + converted) + " is beyond the range of a float");
  }
}

std::string ArrayRows::value_at(Index i) const {
  return place_ + "value " + std::to_string(i % shape_.size()) + " of sample " + std::to_string(i / shape_.size());
}

std::unique_ptr<Source> array_source(NamedRows samples, NamedRows targets) {
  ArrayRows const& first = samples.rows[0];
  auto const check = [&](std::vector<ArrayRows> const& arrays, char const* what) {
    for (ArrayRows const& one : arrays)
      if (one.rows() != first.rows())
        fail_in<FormatError>(one.path(), one.place() + "holds " + counted(one.rows(), what) + " for the " +
                                             counted(first.rows(), "sample") + " of " + first.name());
  };
  check(samples.rows, "sample"), check(targets.rows, "target");
  return std::make_unique<ArraySource>(std::move(samples), std::move(targets));
}

std::unique_ptr<Source> open_npy(std::string const& samples, std::optional<std::string> const& targets,
                                 ReadOptions options) {
  auto const rows = [&](std::string const& path) {
    NamedRows named{{path}, {}};
    named.rows.push_back(with_file(path, [&] { return ArrayRows{InputFile{path, options}, options.finite}; }));
    return named;
  };
  NamedRows x = rows(samples);
  return array_source(std::move(x), targets ? rows(*targets) : NamedRows{});
}

std::unique_ptr<Source> open_npz(std::string const& path, std::vector<std::string> const& samples,
                                 std::vector<std::string> const& targets, ReadOptions options) {
  if (samples.empty()) throw ConfigError{"open_npz: there is no name of an array of samples"};
  std::string const advice = "; others are named as in npz:FILE?x=NAME,NAME&y=NAME";
  auto const rows = [&](std::vector<std::string> const& names) {
    NamedRows named{names, {}};
    with_file(path, [&] {
      for (std::string const& name : names)
        named.rows.emplace_back(InputFile{path, zip_member(path, name + ".npy", advice), options}, options.finite);
    });
    return named;
  };
  NamedRows x = rows(samples);
  return array_source(std::move(x), rows(targets));
}

std::unique_ptr<Source> open_npz(std::string const& path, std::string const& samples,
                                 std::optional<std::string> const& targets, ReadOptions options) {
  return open_npz(path, std::vector{samples}, targets ? std::vector{*targets} : std::vector<std::string>{}, options);
}

}  // namespace coldpress::data
