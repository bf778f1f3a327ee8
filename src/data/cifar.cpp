// The data format of CIFAR-10 and CIFAR-100: records of labels and pixels in several files of a folder.
#include "formats.hpp"

#include "positioned_file.hpp"

#include <coldpress/core/counted.hpp>

#include <algorithm>
#include <array>
#include <filesystem>

namespace coldpress::data {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t pixels = 3 * 32 * 32;

/// A record has one or two labels and the pixels, one plane after the other.
struct Layout {
  std::vector<char const*> training, test;
  std::size_t label_bytes;
  struct Labels {
    char const *name, *names_file;
    std::size_t byte;
    Index classes;
  };
  std::vector<Labels> labels;  // the usual ones first
};
Layout const& layout_of(Cifar kind) {
  static Layout const ten{
      {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"},
      {"test_batch.bin"},
      1,
      {{"fine", "batches.meta.txt", 0, 10}}};
  static Layout const hundred{{"train.bin"},
                              {"test.bin"},
                              2,
                              {{"fine", "fine_label_names.txt", 1, 100}, {"coarse", "coarse_label_names.txt", 0, 20}}};
  return kind == Cifar::ten ? ten : hundred;
}

class CifarSource final : public Source {
 public:
  CifarSource(std::vector<PositionedFile> files, std::vector<Index> starts, std::size_t label_bytes,
              Layout::Labels const& labels, std::vector<std::string> classes)
      : Source({{3, 32, 32}, {1}, starts.back(), std::move(classes)}),
        files_(std::move(files)),
        starts_(std::move(starts)),
        label_bytes_(label_bytes),
        labels_(labels) {}

  std::unique_ptr<Source::Reader> reader() const override { return std::make_unique<Records>(*this); }

 private:
  class Records final : public Source::Reader {
   public:
    explicit Records(CifarSource const& source) : source_(source) {}
    void read(Index first, Index count, float* samples, float* targets) override {
      for (Index i = 0; i < count; ++i)
        read_one(first + i, samples ? samples + i * static_cast<Index>(pixels) : nullptr, targets + i);
    }

   private:
    void read_one(Index i, float* sample, float* target) {
      auto const next = std::ranges::upper_bound(source_.starts_, i);
      auto const& file = source_.files_[static_cast<std::size_t>(next - source_.starts_.begin() - 1)];
      auto const size = source_.label_bytes_ + pixels;
      auto const record = static_cast<std::uint64_t>(i - next[-1]);
      auto const bytes = std::span{bytes_}.first(sample ? size : source_.label_bytes_);
      file.read(record * size, std::as_writable_bytes(bytes));
      Index const label = bytes[source_.labels_.byte];
      if (label >= source_.labels_.classes)
        fail_in<DataError>(file.path(), "the label of picture " + std::to_string(record) + " is " +
                                            std::to_string(label) + ", expected 0 to " +
                                            std::to_string(source_.labels_.classes - 1));
      *target = static_cast<float>(label);
      if (sample)
        std::ranges::transform(bytes.subspan(source_.label_bytes_), sample,
                               [](std::uint8_t pixel) { return static_cast<float>(pixel) / 255; });
    }

    CifarSource const& source_;
    std::array<std::uint8_t, 2 + pixels> bytes_;
  };

  std::vector<PositionedFile> files_;
  std::vector<Index> starts_;  // the first sample of each file, and the number of samples
  std::size_t label_bytes_;
  Layout::Labels labels_;
};

}  // namespace

std::vector<std::string> cifar_files(Cifar kind, Part part, std::string const& folder) {
  Layout const& layout = layout_of(kind);
  std::vector<std::string> files;
  for (char const* const name : part == Part::training ? layout.training : layout.test)
    files.push_back((fs::path{folder} / name).string());
  for (auto const& labels : layout.labels) files.push_back((fs::path{folder} / labels.names_file).string());
  return files;
}

Opened open_cifar(Cifar kind, Part part, Request const& request) {
  Layout const& layout = layout_of(kind);
  std::string const wanted = request.options.text("labels", layout.labels[0].name);
  auto const labels = std::ranges::find(layout.labels, wanted, &Layout::Labels::name);
  if (labels == layout.labels.end())
    throw ConfigError{"the option labels is " + printable(wanted) + ", expected fine or coarse"};

  std::vector<std::string> classes;
  std::error_code ignored;  // opening the pictures will say what is wrong
  if (auto const file = fs::path{request.paths[0]} / labels->names_file; fs::exists(file, ignored)) {
    classes = lines_of(file.string());
    if (static_cast<Index>(classes.size()) != labels->classes)
      fail_in<FormatError>(
          file.string(), "names " + counted(classes.size(), "class") + ", expected " + std::to_string(labels->classes));
  }
  std::vector<PositionedFile> files;
  std::vector<Index> starts{0};
  auto const record = layout.label_bytes + pixels;
  for (char const* const name : part == Part::training ? layout.training : layout.test) {
    PositionedFile file{(fs::path{request.paths[0]} / name).string()};
    if (file.size() == 0 || file.size() % record != 0)
      fail_in<FormatError>(file.path(), "has " + std::to_string(file.size()) + " bytes, expected a multiple of the " +
                                            std::to_string(record) + " bytes of a picture with its label");
    starts.push_back(starts.back() + static_cast<Index>(file.size() / record));
    files.push_back(std::move(file));
  }
  return std::make_unique<CifarSource>(std::move(files), std::move(starts), layout.label_bytes, *labels,
                                       std::move(classes));
}

}  // namespace coldpress::data
