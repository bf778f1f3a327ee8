// Transforms of samples: those that belong to a network, and random ones for training alone.
#pragma once

#include <coldpress/core/fields.hpp>
#include <coldpress/core/random.hpp>
#include <coldpress/core/spelling.hpp>
#include <coldpress/data/sample_stream.hpp>

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace coldpress::data {

/// What a statistic has a number for: each value of a sample, each channel of a picture, or all values together.
enum class Per { value, channel, all };
constexpr auto spellings(Per) { return std::array<std::string_view, 3>{"value", "channel", "all"}; }

// Transforms that belong to the network: training, evaluation and prediction apply them. fit() finds the
// statistics that are empty. A statistic has one number for all values, one per channel, or one per value of a sample.

/// x - mean. The mean comes from `file`, if there is one: a .npy array or, as in Mocha, the dataset "mean" of a .h5 or
/// .hdf5 file (if coldpress::hdf5 is linked). Otherwise it comes from the data.
struct SubtractMean {
  static constexpr std::string_view name = "subtract_mean";
  Per per = Per::value;
  std::string file = {};
  std::vector<float> mean = {};
  bool operator==(SubtractMean const&) const = default;
};
/// x * factor + offset.
struct Scale {
  static constexpr std::string_view name = "scale";
  float factor = 1, offset = 0;
  bool operator==(Scale const&) const = default;
};
/// (x - mean) / deviation, where the deviation of the data is that of the population (divided by N), and `epsilon` if
/// that is larger.
struct Standardize {
  static constexpr std::string_view name = "standardize";
  Per per = Per::value;
  float epsilon = 0;
  std::vector<float> mean = {}, deviation = {};
  bool operator==(Standardize const&) const = default;
};
/// Turns the target, which is a label, into `classes` values, of which the label's is 1 and the others are 0. With 0
/// classes, fit() takes the number of class names or, without names, the largest label plus 1.
struct OneHot {
  static constexpr std::string_view name = "one_hot";
  Index classes = 0;
  bool operator==(OneHot const&) const = default;
};

// Transforms for training. Pictures have shape {C, H, W} or {H, W}; a missing part is 0.

/// A part of a picture: at random in training, and the central one otherwise, with (H - h) / 2 rows above, rounded
/// down. `extents` are height and width, or one number for both.
struct Crop {
  static constexpr std::string_view name = "crop";
  std::vector<Index> extents = {};
  bool operator==(Crop const&) const = default;
};
/// Exchanges left and right of every second picture on average.
struct Mirror {
  static constexpr std::string_view name = "mirror";
  bool operator==(Mirror const&) const = default;
};
/// Moves a picture by up to `pixels` rows and columns in either direction; one number is for both.
struct Shift {
  static constexpr std::string_view name = "shift";
  std::vector<Index> pixels = {};
  bool operator==(Shift const&) const = default;
};
/// Turns a picture about its centre by up to `degrees` degrees in either direction, with bilinear interpolation.
struct Rotate {
  static constexpr std::string_view name = "rotate";
  float degrees = 0;
  bool operator==(Rotate const&) const = default;
};
/// Adds a normally distributed number with mean 0 and this deviation to each value.
struct Noise {
  static constexpr std::string_view name = "noise";
  float deviation = 0;
  bool operator==(Noise const&) const = default;
};
/// Sets a rectangle around a random pixel to 0; what is outside the picture is cut off.
struct Cutout {
  static constexpr std::string_view name = "cutout";
  std::vector<Index> extents = {};  // height and width, or one number for both
  bool operator==(Cutout const&) const = default;
};
/// Mixes each sample and its target with another one: lambda of the one and 1 - lambda of the other, where lambda has
/// the distribution Beta(alpha, alpha). The other one is any of the same 64 samples of the epoch's order: of the first
/// 64, the second, and so on. Labels cannot be mixed; put OneHot before it.
struct Mixup {
  static constexpr std::string_view name = "mixup";
  float alpha = 0.2f;
  bool operator==(Mixup const&) const = default;
};

using Transform =
    std::variant<SubtractMean, Scale, Standardize, OneHot, Crop, Mirror, Shift, Rotate, Noise, Cutout, Mixup>;
/// They are applied one after the other. Errors name them like "transforms[2] crop".
using Transforms = std::vector<Transform>;

/// Whether evaluation and prediction leave it out.
bool is_for_training_alone(Transform const& transform);

/// Throws ConfigError unless all numbers make sense, whatever the data.
void check(Transforms const& transforms);
/// The same for transforms in a network's file, of which fit() has found all statistics.
void check_fitted(Transforms const& transforms);

/// The files that fit() will read.
std::vector<std::string> files_of(Transforms const& transforms);
/// The same transforms with relative paths resolved against `folder`.
Transforms from_folder(std::string const& folder, Transforms transforms);

/// Finds the statistics that are empty. Each pass over `source`, one for each statistic, sees what the transforms
/// before make of it in evaluation. It sums in double precision, and holds a block of samples at a time. Statistics
/// that are there already stay, so fitting twice is fitting once. Throws ConfigError, ShapeError if the samples do not
/// fit, FileError, FormatError, and DataError if a deviation is 0, a statistic is not finite, or a target is no label.
Transforms fit(Transforms transforms, Source const& source);

/// The samples as evaluation and prediction see them: without what is for training alone, and with central crops.
/// `source` must outlive it. Throws ConfigError if a statistic is missing, and ShapeError. Its readers throw DataError
/// for a target that is no label.
std::unique_ptr<Source> transformed(Source const& source, Transforms transforms);

/// Throws MismatchError if labels of the source have other names than those of the network, so that its accuracy would
/// be that of other classes. Names that are not known are not compared.
void check_classes(Source const& source, std::vector<std::string> const& of_network);

/// The samples as training sees them, with all transforms. `stream` has samples to which none was applied, such as
/// shuffled(source, seed). What is drawn depends on the seed, the epoch and the place of the sample in the epoch's
/// order alone. Throws as `transformed` does.
std::unique_ptr<SampleStream> augmented(std::unique_ptr<SampleStream> stream, Transforms transforms,
                                        std::uint64_t seed);

/// The random numbers of the transform with the number `place` in the list, for the sample at a position.
inline RandomStream draws(std::uint64_t seed, SampleStream::Position position, std::size_t place,
                          std::string_view name) {
  return RandomStream{
      mix(RandomStream{mix(seed, position.epoch), place, name}.key, static_cast<std::uint64_t>(position.offset))};
}

}  // namespace coldpress::data

COLDPRESS_FIELDS(coldpress::data::SubtractMean, per, file, mean);
COLDPRESS_FIELDS(coldpress::data::Scale, factor, offset);
COLDPRESS_FIELDS(coldpress::data::Standardize, per, epsilon, mean, deviation);
COLDPRESS_FIELDS(coldpress::data::OneHot, classes);
COLDPRESS_FIELDS(coldpress::data::Crop, extents);
COLDPRESS_FIELDS(coldpress::data::Mirror);
COLDPRESS_FIELDS(coldpress::data::Shift, pixels);
COLDPRESS_FIELDS(coldpress::data::Rotate, degrees);
COLDPRESS_FIELDS(coldpress::data::Noise, deviation);
COLDPRESS_FIELDS(coldpress::data::Cutout, extents);
COLDPRESS_FIELDS(coldpress::data::Mixup, alpha);
