// Finds what transforms take from the data: means, deviations and the number of classes.
#include <coldpress/data/transform.hpp>

#include "extents.hpp"
#include "parts.hpp"
#include "pictures.hpp"
#include "transform_chain.hpp"

#include <coldpress/core/layer.hpp>
#include <coldpress/core/to_string.hpp>
#include <coldpress/data/npy.hpp>

#include <cmath>
#include <filesystem>
#include <utility>

namespace coldpress::data {
namespace {

/// Mean and sum of squared differences of values that come one by one, by Welford (1962), for each value of a sample.
class Moments {
 public:
  explicit Moments(Index size) : mean_(static_cast<std::size_t>(size)), squares_(static_cast<std::size_t>(size)) {}
  void add(std::span<float const> values) {
    count_ += 1;
    for (std::size_t i = 0; i < values.size(); ++i) {
      double const x = static_cast<double>(values[i]), before = x - mean_[i];
      mean_[i] += before / count_;
      squares_[i] += before * (x - mean_[i]);
    }
  }
  /// Takes the values of each of `groups` equal parts of a sample together.
  void pool(std::size_t groups) {
    std::size_t const together = mean_.size() / groups;
    for (std::size_t g = 0; g < groups; ++g) {
      auto const means = std::span{mean_}.subspan(g * together, together);
      double mean = 0, squares = 0;
      for (double const one : means) mean += one / static_cast<double>(together);
      for (std::size_t i = 0; i < together; ++i)
        squares += squares_[g * together + i] + count_ * (means[i] - mean) * (means[i] - mean);
      mean_[g] = mean, squares_[g] = squares;
    }
    count_ *= static_cast<double>(together);
    mean_.resize(groups), squares_.resize(groups);
  }
  std::vector<float> mean() const { return {mean_.begin(), mean_.end()}; }
  std::vector<float> deviation(float least) const {
    std::vector<float> all;
    for (double const squares : squares_)
      all.push_back(std::max(static_cast<float>(std::sqrt(squares / count_)), least));
    return all;
  }

 private:
  double count_ = 0;
  std::vector<double> mean_, squares_;
};

std::size_t groups_of(Per per, Shape const& sample) {
  if (per == Per::all) return 1;
  return static_cast<std::size_t>(per == Per::value ? sample.size() : picture_of(sample).channels);
}

Moments moments_of(Source const& source, TransformChain const& before, Per per) {
  Moments moments{before.sample_shape().size()};
  std::size_t const groups = groups_of(per, before.sample_shape());
  Index const size = source.sample_shape().size();
  constexpr Index at_once = Index{1} << 18;  // values: a MiB
  std::vector<float> samples, targets;
  Row row;
  before.reserve(row);
  auto const reader = source.reader();
  auto const add = [&](Index first, Index count) {
    samples.resize(static_cast<std::size_t>(count * size));
    targets.resize(static_cast<std::size_t>(count * source.target_shape().size()));
    reader->read(first, count, samples.data(), targets.data());
    for (Index i = 0; i < count; ++i) {
      row.sample.assign(samples.begin() + i * size, samples.begin() + (i + 1) * size);
      before.evaluate(row, first + i);
      moments.add(row.sample);
    }
  };
  for_each_part(source, add, std::max<Index>(1, at_once / size));
  moments.pool(groups);
  return moments;
}

void check_found(std::vector<float> const& numbers, char const* what) {
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (!std::isfinite(numbers[i]))
      throw DataError{"the " + std::string{what} + " number " + std::to_string(i) + " of the data is " +
                      std::to_string(numbers[i]) + ", expected finite values"};
}

/// The mean in a file. If it has as many numbers as `wanted`, which has one for each of `per`, it must have that shape.
std::vector<float> read_mean(std::string const& file, Shape const& wanted, char const* per) {
  std::vector<Index> extents;
  std::vector<float> mean;
  if (file.ends_with(".npy")) {
    NpyArray array = read_npy(file);
    extents = std::move(array.extents), mean = std::move(array.values);
  } else {
    if (!file.ends_with(".h5") && !file.ends_with(".hdf5"))
      throw ConfigError{"the file of the mean is '" + file + "', expected a name that ends in .npy, .h5 or .hdf5"};
    if (file.find(',') != std::string::npos)
      throw ConfigError{"the file '" + file + "' has a comma in its name, which separates the names of HDF5 files"};
    auto const source = open_source("hdf5:" + file + "?x=mean&y=mean");
    Shape const& rest = source->sample_shape();
    extents.push_back(source->size());
    extents.insert(extents.end(), rest.extents, rest.extents + rest.rank());
    mean = load(*source).samples;
  }
  std::erase(extents, 1);  // they say nothing about the order of the values
  Shape found{.extents = {1}};
  if (extents.size() < Shape::max_rank) std::ranges::copy(extents, found.extents);
  if (static_cast<Index>(mean.size()) == wanted.size() && !fits(found, wanted))
    throw ShapeError{"the mean has shape " + to_string(found) + ", expected " + to_string(wanted) + ", " + per +
                     "; extents of 1 do not count"};
  return mean;
}

/// The number of classes of labels; all of them are checked if it is given.
Index classes_of(Source const& source, Index given) {
  if (source.target_shape().size() != 1)
    throw ShapeError{"needs one label for each sample, but the targets have shape " + to_string(source.target_shape())};
  Index const named = static_cast<Index>(source.description().classes.size());
  Index const classes = given > 0 ? given : named > 0 ? named : most_classes;
  Index found = 0;
  std::vector<float> targets;
  auto const reader = source.reader();
  for_each_part(source, [&](Index first, Index count) {
    targets.resize(static_cast<std::size_t>(count));
    reader->read(first, count, nullptr, targets.data());
    for (float const& target : targets) {
      if (!is_label(target, classes))
        throw DataError{"the target of sample " + std::to_string(first + (&target - targets.data())) + " is " +
                        std::to_string(target) + ", expected a label: a whole number from 0 to " +
                        std::to_string(classes - 1)};
      found = std::max(found, static_cast<Index>(target) + 1);
    }
  });
  return classes == most_classes ? found : classes;
}

/// Finds the statistics that are missing in each transform.
struct Fitting {
  Source const& source;
  TransformChain const& before;

  void operator()(SubtractMean& t) const {
    if (!t.mean.empty()) return;
    if (t.file.empty()) {
      check_found(t.mean = moments_of(source, before, t.per).mean(), "mean");
    } else {
      with_file(t.file, [&] {
        Shape const& sample = before.sample_shape();
        Shape const wanted = t.per == Per::value ? sample : Shape{t.per == Per::all ? 1 : picture_of(sample).channels};
        check_found(t.mean = read_mean(t.file, wanted, t.per == Per::value ? "that of a sample" : "one per channel"),
                    "mean");
      });
      t.file.clear();
    }
  }
  void operator()(Standardize& t) const {
    if (!t.deviation.empty()) return;
    Moments const moments = moments_of(source, before, t.per);
    auto mean = moments.mean(), deviation = moments.deviation(t.epsilon);
    check_found(mean, "mean"), check_found(deviation, "deviation");
    auto const constant = std::ranges::find(deviation, 0.0f);
    if (constant != deviation.end())
      throw DataError{"the deviation number " + std::to_string(constant - deviation.begin()) +
                      " of the data is 0, since the values do not differ; give an epsilon" +
                      (t.per == Per::value ? ", or take the deviation of all values together" : "")};
    t.mean = std::move(mean), t.deviation = std::move(deviation);
  }
  void operator()(OneHot& t) const { t.classes = classes_of(source, t.classes); }
  void operator()(auto&) const {}
};

}  // namespace

std::vector<std::string> files_of(Transforms const& transforms) {
  std::vector<std::string> files;
  for (Transform const& transform : transforms)
    if (auto const* t = std::get_if<SubtractMean>(&transform); t && !t->file.empty()) files.push_back(t->file);
  return files;
}

Transforms from_folder(std::string const& folder, Transforms transforms) {
  for (Transform& transform : transforms)
    if (auto* t = std::get_if<SubtractMean>(&transform); t && !t->file.empty())
      t->file = (std::filesystem::path{folder} / t->file).string();
  return transforms;
}

void check_classes(Source const& source, std::vector<std::string> const& of_network) {
  auto const& names = source.description().classes;
  if (of_network.empty()) return;
  if (names.empty()) {  // labels are numbers; a class whose name is a number must have it as its label, too
    for (std::size_t i = 0; i < of_network.size(); ++i) {
      bool const number = !of_network[i].empty() && of_network[i].find_first_not_of("-0123456789") == std::string::npos;
      if (number && of_network[i] != std::to_string(i))
        throw MismatchError{"the data's labels are numbers without names, but the network's class " +
                            std::to_string(i) + " is '" + of_network[i] +
                            "'; name the classes of the data in the "
                            "same order (classes=...)"};
    }
    return;
  }
  for (std::size_t i = 0; i < std::max(names.size(), of_network.size()); ++i) {
    auto const name = [i](auto const& all) { return i < all.size() ? "'" + all[i] + "'" : std::string{"not there"}; };
    if (name(names) != name(of_network))
      throw MismatchError{"the data's class " + std::to_string(i) + " is " + name(names) + ", the network's is " +
                          name(of_network) + "; the option classes=... of the data sets their order"};
  }
}

Transforms fit(Transforms transforms, Source const& source) {
  check(transforms), check_arrays(transforms, source);
  for (std::size_t i = 0; i < transforms.size(); ++i) {
    TransformChain const before{{transforms.begin(), transforms.begin() + static_cast<std::ptrdiff_t>(i)},
                                source.sample_shape(),
                                source.target_shape()};
    in_transform(i, transforms[i], [&] { std::visit(Fitting{source, before}, transforms[i]); });
  }
  TransformChain{transforms, source.sample_shape(), source.target_shape()};
  return transforms;
}

}  // namespace coldpress::data
