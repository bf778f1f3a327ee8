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

class ArraySource final : public Source {
 public:
  ArraySource(ArrayRows samples, std::optional<ArrayRows> targets)
      : Source({samples.shape(), targets ? targets->shape() : Shape{}, samples.rows()}),
        samples_(std::move(samples)),
        targets_(std::move(targets)) {}

  std::unique_ptr<Source::Reader> reader() const override { return std::make_unique<RowReader>(*this); }

 private:
  struct RowReader final : Source::Reader {
    explicit RowReader(ArraySource const& of) : source(of) {}
    void read(Index first, Index count, float* samples, float* targets) override {
      if (samples) source.samples_.read(first, count, samples);
      if (source.targets_) source.targets_->read(first, count, targets);
    }
    ArraySource const& source;
  };

  ArrayRows samples_;
  std::optional<ArrayRows> targets_;
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

std::unique_ptr<Source> array_source(ArrayRows samples, std::optional<ArrayRows> targets) {
  if (targets && targets->rows() != samples.rows())
    fail_in<FormatError>(targets->path(), targets->place() + "holds " + counted(targets->rows(), "target") +
                                              " for the " + counted(samples.rows(), "sample") + " of " +
                                              samples.name());
  return std::make_unique<ArraySource>(std::move(samples), std::move(targets));
}

std::unique_ptr<Source> open_npy(std::string const& samples, std::optional<std::string> const& targets,
                                 ReadOptions options) {
  auto const rows = [&](std::string const& path) {
    return with_file(path, [&] { return ArrayRows{InputFile{path, options}, options.finite}; });
  };
  ArrayRows x = rows(samples);
  return array_source(std::move(x), targets ? std::optional{rows(*targets)} : std::nullopt);
}

std::unique_ptr<Source> open_npz(std::string const& path, std::string const& samples,
                                 std::optional<std::string> const& targets, ReadOptions options) {
  auto const rows = [&](std::string const& name) {
    return with_file(path, [&] {
      return ArrayRows{InputFile{path, zip_member(path, name + ".npy"), options}, options.finite};
    });
  };
  ArrayRows x = rows(samples);
  return array_source(std::move(x), targets ? std::optional{rows(*targets)} : std::nullopt);
}

}  // namespace coldpress::data
