// The data format of MNIST: images and labels in two IDX files of a folder, plain or gzip-compressed.
#include "formats.hpp"

#include "extents.hpp"

#include <coldpress/core/counted.hpp>
#include <coldpress/data/idx.hpp>

#include <array>
#include <filesystem>

namespace coldpress::data {
namespace {

namespace fs = std::filesystem;

std::string const& that_exists(std::string const& plain, std::string const& compressed) {
  std::error_code ignored;
  return fs::exists(plain, ignored) || !fs::exists(compressed, ignored) ? plain : compressed;
}

}  // namespace

std::vector<std::string> mnist_files(Part part, std::string const& folder) {
  using Names = std::array<char const*, 2>;
  std::vector<std::string> files;
  for (char const* const name : part == Part::training ? Names{"train-images-idx3-ubyte", "train-labels-idx1-ubyte"}
                                                       : Names{"t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"})
    for (char const* const end : {"", ".gz"}) files.push_back((fs::path{folder} / name).string() + end);
  return files;
}

Opened open_mnist(Part part, Request const& request) {
  auto const files = mnist_files(part, request.paths[0]);
  std::string const &images_file = that_exists(files[0], files[1]), &labels_file = that_exists(files[2], files[3]);
  IdxArray const images = read_idx(images_file, 3, request.reading), labels = read_idx(labels_file, 1, request.reading);
  Dataset dataset;
  dataset.sample_shape = sample_shape(images.extents, images_file);
  dataset.target_shape = sample_shape(labels.extents, labels_file);
  if (labels.extents[0] != images.extents[0])
    fail_in<FormatError>(labels_file, "holds " + counted(labels.extents[0], "label") + " for the " +
                                          counted(images.extents[0], "image") + " of " + images_file);
  dataset.samples.resize(images.values.size());
  std::ranges::transform(images.values, dataset.samples.begin(),
                         [](std::uint8_t pixel) { return static_cast<float>(pixel) / 255; });
  dataset.targets.assign(labels.values.begin(), labels.values.end());
  return dataset;
}

}  // namespace coldpress::data
