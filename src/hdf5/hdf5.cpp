// Data sets in HDF5 files, whose rows are read block by block under the library's lock.
#include <coldpress/data/hdf5.hpp>

#include "data/components.hpp"
#include "hdf5/library.hpp"

#include <coldpress/core/counted.hpp>
#include <coldpress/core/to_string.hpp>

#include <algorithm>
#include <cmath>
#include <list>
#include <optional>
#include <utility>

namespace coldpress::data {
namespace {

using hdf5::Id, hdf5::Library, hdf5::malformed;

constexpr Index usual_block_bytes = Index{1} << 20, largest_chunk_bytes = Index{64} << 20;
constexpr std::size_t most_open = 8;
constexpr char const* changed = "has changed since it was opened first";

/// A dataset with samples along its first extent.
struct Array : hdf5::Dataset {
  Array(hid_t file, std::string name_) : Dataset(file, std::move(name_)) {
    std::size_t const rank = extents.size();
    if (rank < 1 || rank > Shape::max_rank + 1)
      malformed("'" + name + "' has " + std::to_string(rank) + " extents, expected 1 to 9, samples first");
  }

  Index rows() const { return static_cast<Index>(extents[0]); }
  Shape shape() const {
    Shape shape{};
    shape.extents[0] = 1;
    for (std::size_t i = 1; i < extents.size(); ++i) shape.extents[i - 1] = static_cast<Index>(extents[i]);
    return shape;
  }
  /// The number of rows in a chunk; 1 if there are no chunks.
  Index rows_of_chunk() const {
    Id const plist{H5Dget_create_plist(dataset.get()), H5Pclose};
    if (H5Pget_layout(plist.get()) != H5D_CHUNKED) return 1;
    std::vector<hsize_t> chunk(extents.size());
    H5Pget_chunk(plist.get(), static_cast<int>(chunk.size()), chunk.data());
    return std::min(static_cast<Index>(chunk[0]), rows());
  }

  void read(Index first, Index count, Index row_size, bool finite, float* values) const {
    std::vector<hsize_t> start(extents.size()), size = extents;
    start[0] = static_cast<hsize_t>(first), size[0] = static_cast<hsize_t>(count);
    Id const memory{H5Screate_simple(static_cast<int>(size.size()), size.data(), nullptr), H5Sclose};
    bool const read =
        H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, size.data(), nullptr) >= 0 &&
        H5Dread(dataset.get(), H5T_NATIVE_FLOAT, memory.get(), space.get(), H5P_DEFAULT, values) >= 0;
    if (!read) {
      malformed("cannot read the samples from " + std::to_string(first) + " to " + std::to_string(first + count - 1) +
                " of '" + name + "'" + Library::reason());
    }
    for (Index i = 0; finite && i < count * row_size; ++i) {
      if (!std::isfinite(values[i]))
        throw DataError{"value " + std::to_string(i % row_size) + " of sample " + std::to_string(first + i / row_size) +
                        " of '" + name + "' is " + std::to_string(values[i]) + ", expected finite values"};
    }
  }
};

struct File {
  Id file;
  Array samples;
  std::optional<Array> targets = {};
  hdf5::Version version;

  File(std::string const& path, Hdf5Data const& data)
      : file(hdf5::open_file(path)), samples(file.get(), data.samples), version(hdf5::version_of(file)) {
    if (data.targets.empty()) return;
    targets.emplace(file.get(), data.targets);
    if (samples.rows() != targets->rows())
      malformed("'" + samples.name + "' has " + counted(samples.rows(), "sample") + ", but '" + targets->name +
                "' has " + counted(targets->rows(), "target"));
  }
  Shape target_shape() const { return targets ? targets->shape() : Shape{}; }
};

class Hdf5Source final : public Source {
 public:
  /// What was found when the source was opened.
  struct Layout {
    Hdf5Data data;
    std::vector<Index> starts;            // the first sample of each file, and the number of samples
    std::vector<hdf5::Version> versions;  // of the files
    Description description;
  };
  explicit Hdf5Source(Layout layout) : Source(layout.description), layout_(std::move(layout)) {}

  std::unique_ptr<Source::Reader> reader() const override { return std::make_unique<FileReader>(layout_); }

 private:
  class FileReader final : public Source::Reader {
   public:
    explicit FileReader(Layout const& layout) : layout_(layout) {}
    ~FileReader() override = default;

    void read(Index first, Index count, float* samples, float* targets) override {
      auto const next = std::ranges::upper_bound(layout_.starts, first);
      auto const number = static_cast<std::size_t>(next - layout_.starts.begin() - 1);
      auto const &sample = layout_.description.sample_shape, &target = layout_.description.target_shape;
      Library const library;
      with_file(layout_.data.files[number], [&] {
        File const& file = opened(number);
        Index const row = first - layout_.starts[number];
        bool const finite = layout_.data.finite;
        if (samples) file.samples.read(row, count, sample.size(), finite, samples);
        if (file.targets) file.targets->read(row, count, target.size(), finite, targets);
        if (hdf5::version_of(file.file) != file.version) malformed(changed);
      });
    }

   private:
    /// The file, which becomes the first of those that are kept open.
    File const& opened(std::size_t number) {
      auto const found = std::ranges::find(open_, number, &std::pair<std::size_t, File>::first);
      if (found != open_.end()) {
        open_.splice(open_.begin(), open_, found);
        return open_.front().second;
      }
      File file{layout_.data.files[number], layout_.data};
      if (file.version != layout_.versions[number]) malformed(changed);
      if (open_.size() == most_open) open_.pop_back();
      open_.emplace_front(number, std::move(file));
      return open_.front().second;
    }

    Layout const& layout_;
    std::list<std::pair<std::size_t, File>> open_;
  };

  Layout layout_;
};

/// How many samples are read together.
Index rows_of_block(File const& file, Index wanted) {
  Index const bytes = file.samples.shape().size() * static_cast<Index>(sizeof(float));
  Index const chunk =
      std::clamp<Index>(file.samples.rows_of_chunk(), 1, std::max<Index>(1, largest_chunk_bytes / bytes));
  Index const rows = wanted > 0 ? wanted : std::max<Index>(1, usual_block_bytes / bytes);
  return wanted > 0 ? wanted : chunk * std::max<Index>(1, rows / chunk);
}

}  // namespace

std::unique_ptr<Source> open_hdf5(Hdf5Data data) {
  if (data.files.empty()) throw ConfigError{"no HDF5 file is named"};
  Hdf5Source::Layout layout{std::move(data), {0}, {}, {{}, {}, 0, {}, {0}, 0}};
  auto& description = layout.description;
  description.shuffled_together = layout.data.shuffled_together;
  Library const library;
  for (std::string const& path : layout.data.files) {
    with_file(path, [&] {
      File const file{path, layout.data};
      Shape const sample = file.samples.shape(), target = file.target_shape();
      bool const first = description.size == 0;
      if (first) description.sample_shape = sample, description.target_shape = target;
      if (sample != description.sample_shape || target != description.target_shape)
        malformed("has samples of " + to_string(sample) + " with targets of " + to_string(target) +
                  ", but the first file has " + to_string(description.sample_shape) + " with " +
                  to_string(description.target_shape));
      Index const block = rows_of_block(file, layout.data.block), rows = file.samples.rows();
      for (Index row = 0; row < rows; row += block)
        description.blocks.push_back(description.size + std::min(rows, row + block));
      description.size += rows;
      layout.starts.push_back(description.size);
      layout.versions.push_back(file.version);
    });
  }
  return std::make_unique<Hdf5Source>(std::move(layout));
}

/// Makes the component known before main(). The linker keeps this file because coldpress::hdf5 asks for this name.
extern "C" __attribute__((constructor(101))) void coldpress_hdf5_format() { components().open_hdf5 = open_hdf5; }

}  // namespace coldpress::data
