// Computes what each transform makes of a sample, with random numbers in training.
#include "transform_chain.hpp"

#include "pictures.hpp"

#include <coldpress/core/counted.hpp>
#include <coldpress/core/filler.hpp>
#include <coldpress/core/layer.hpp>
#include <coldpress/core/to_string.hpp>

#include <cmath>
#include <utility>

namespace coldpress::data {
namespace {

/// The shapes of samples and targets after a transform.
struct After {
  Shape sample, target;

  void statistic(std::vector<float> const& numbers, char const* what) const {
    auto const count = static_cast<Index>(numbers.size());
    if (count == 0) throw ConfigError{std::string{"has no "} + what + " yet: fit() finds it in the data"};
    bool const pictures = sample.rank() == 3;
    if (count == 1 || count == sample.size() || (pictures && count == sample[0])) return;
    throw ShapeError{std::string{"has a "} + what + " of " + std::to_string(count) + " numbers for samples of " +
                     to_string(sample) + ", expected 1" +
                     (pictures ? ", " + std::to_string(sample[0]) + " (one for each channel)" : "") + " or " +
                     std::to_string(sample.size())};
  }
  void inside(std::vector<Index> const& extents, Index margin = 0) const {
    Picture const picture = picture_of(sample);
    auto const [height, width] = both(extents);
    if (height + margin > picture.height || width + margin > picture.width)
      throw ShapeError{"needs pictures of at least " + counted(height + margin, "row") + " and " +
                       counted(width + margin, "column") + ", but the samples have shape " + to_string(sample)};
  }

  void pass(SubtractMean const& t) { statistic(t.mean, "mean"); }
  void pass(Scale const&) {}
  void pass(Standardize const& t) { statistic(t.mean, "mean"), statistic(t.deviation, "deviation"); }
  void pass(OneHot const& t) {
    if (target.size() != 1)
      throw ShapeError{"needs one label for each sample, but the targets have shape " + to_string(target)};
    if (t.classes == 0) throw ConfigError{"has no number of classes yet: fit() finds it in the data"};
    target = {{t.classes}};
  }
  void pass(Crop const& t) {
    inside(t.extents);
    auto const [height, width] = both(t.extents);
    int const rank = sample.rank();
    sample.extents[rank - 2] = height, sample.extents[rank - 1] = width;
  }
  void pass(Mirror const&) { picture_of(sample); }
  void pass(Shift const& t) { inside(t.pixels, 1); }
  void pass(Rotate const&) { picture_of(sample); }
  void pass(Noise const&) {}
  void pass(Cutout const& t) { inside(t.extents); }
  void pass(Mixup const&) {}
};

constexpr double pi = 3.14159265358979323846;

/// A whole number from 0 to count - 1, of two random words.
Index below(Index count, std::uint32_t low, std::uint32_t high) {
  return static_cast<Index>((std::uint64_t{high} << 32 | low) % static_cast<std::uint64_t>(count));
}
/// A number between 0 and 1 that is neither.
double open_unit(std::uint32_t word) { return (static_cast<double>(word) + 0.5) * 0x1p-32; }

/// The logarithm of a number with the distribution Gamma(alpha), by Marsaglia and Tsang (2000), who take that of
/// alpha + 1 if alpha is below 1. Logarithms do not underflow for a small alpha. `which` separates several numbers.
double log_gamma_number(RandomStream draws, double alpha, std::uint64_t which) {
  double const d = (alpha < 1 ? alpha + 1 : alpha) - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (std::uint64_t attempt = which << 32;; ++attempt) {
    double const x = detail::normal(draws, attempt), v = (1 + c * x) * (1 + c * x) * (1 + c * x);
    auto const random = draws.block(attempt);  // normal() takes the first two words
    if (v <= 0 || std::log(open_unit(random.words[2])) >= 0.5 * x * x + d - d * v + d * std::log(v)) continue;
    return std::log(d * v) + (alpha < 1 ? std::log(open_unit(random.words[3])) / alpha : 0);
  }
}
/// A number with the distribution Beta(alpha, alpha).
float beta_number(RandomStream draws, double alpha) {
  return static_cast<float>(1 / (1 + std::exp(log_gamma_number(draws, alpha, 2) - log_gamma_number(draws, alpha, 1))));
}

/// What a transform does to one sample. In training there are random numbers.
struct Application {
  Row& row;
  Shape const& sample;  // before
  Index number;         // of the sample, for errors
  std::optional<RandomStream> draws;

  /// Calls f(value, i) for each value of the sample, where i counts the entries of a statistic of `count` numbers.
  template <class F>
  void each(std::size_t count, F f) const {
    std::size_t const together = row.sample.size() / count;
    float* value = row.sample.data();
    if (together == 1) {  // which vectorises
      for (std::size_t i = 0; i < count; ++i) value[i] = f(value[i], i);
      return;
    }
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t j = 0; j < together; ++j, ++value) *value = f(*value, i);
  }
  PhiloxBlock<std::uint32_t> words() const { return draws->block(0); }
  void replace(Index size) const {
    row.spare.resize(static_cast<std::size_t>(size));
    std::swap(row.sample, row.spare);  // spare has the picture from before
  }

  void operator()(SubtractMean const& t) const {
    each(t.mean.size(), [&](float x, std::size_t i) { return x - t.mean[i]; });
  }
  void operator()(Scale const& t) const {
    each(1, [&](float x, std::size_t) { return x * t.factor + t.offset; });
  }
  void operator()(Standardize const& t) const {
    each(t.mean.size(), [&](float x, std::size_t i) { return x - t.mean[i]; });
    each(t.deviation.size(), [&](float x, std::size_t i) { return x / t.deviation[i]; });
  }
  void operator()(OneHot const& t) const {
    if (row.target.empty()) return;
    float const label = row.target[0];
    if (!is_label(label, t.classes))
      throw DataError{"the target of sample " + std::to_string(number) + " is " + std::to_string(label) +
                      ", expected a label: a whole number from 0 to " + std::to_string(t.classes - 1)};
    row.target.assign(static_cast<std::size_t>(t.classes), 0.0f);
    row.target[static_cast<std::size_t>(label)] = 1;
  }
  void operator()(Crop const& t) const {
    Picture const picture = picture_of(sample);
    auto const [height, width] = both(t.extents);
    Index top = (picture.height - height) / 2, left = (picture.width - width) / 2;
    if (draws) {
      auto const [w] = words();
      top = below(picture.height - height + 1, w[0], w[1]), left = below(picture.width - width + 1, w[2], w[3]);
    }
    replace(picture.channels * height * width);
    crop(picture, row.spare, {picture.channels, height, width}, row.sample, top, left);
  }
  void operator()(Mirror const&) const {
    if (words().words[0] & 1) mirror(picture_of(sample), row.sample);
  }
  void operator()(Shift const& t) const {
    auto const [rows, columns] = both(t.pixels);
    auto const [w] = words();
    replace(sample.size());
    shift(picture_of(sample), row.spare, row.sample, below(2 * rows + 1, w[0], w[1]) - rows,
          below(2 * columns + 1, w[2], w[3]) - columns);
  }
  void operator()(Rotate const& t) const {
    double const angle = (2 * open_unit(words().words[0]) - 1) * static_cast<double>(t.degrees) * pi / 180;
    replace(sample.size());
    rotate(picture_of(sample), row.spare, row.sample, angle);
  }
  /// Four values share the random words of one block, by Box and Muller (1958).
  void operator()(Noise const& t) const {
    auto const deviation = static_cast<double>(t.deviation);
    for (std::size_t first = 0; first < row.sample.size(); first += 4) {
      auto const random = draws->block(first / 4);
      double normal[4];
      for (std::size_t pair = 0; pair < 4; pair += 2) {
        double const radius = std::sqrt(-2 * std::log(open_unit(random.words[pair])));
        double const angle = 2 * pi * open_unit(random.words[pair + 1]);
        normal[pair] = radius * std::cos(angle), normal[pair + 1] = radius * std::sin(angle);
      }
      std::size_t const count = std::min<std::size_t>(4, row.sample.size() - first);
      for (std::size_t i = 0; i < count; ++i) row.sample[first + i] += static_cast<float>(deviation * normal[i]);
    }
  }
  void operator()(Cutout const& t) const {
    Picture const picture = picture_of(sample);
    auto const [height, width] = both(t.extents);
    auto const [w] = words();
    cut_out(picture, row.sample, below(picture.height, w[0], w[1]) - height / 2,
            below(picture.width, w[2], w[3]) - width / 2, height, width);
  }
  void operator()(Mixup const&) const {}
};

void mix_into(std::vector<float>& values, std::vector<float> const& others, float lambda) {
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = lambda * values[i] + (1 - lambda) * others[i];
}

}  // namespace

TransformChain::TransformChain(Transforms transforms, Shape sample, Shape target) : transforms_(std::move(transforms)) {
  check(transforms_);
  stages_.push_back({sample, target});
  for (std::size_t i = 0; i < transforms_.size(); ++i) {
    After after{stages_.back().sample, stages_.back().target};
    in_transform(i, transforms_[i], [&] { std::visit([&](auto const& t) { after.pass(t); }, transforms_[i]); });
    stages_.push_back({after.sample, after.target});
  }
}

bool TransformChain::mixes() const {
  return std::ranges::any_of(transforms_, [](Transform const& t) { return std::holds_alternative<Mixup>(t); });
}

void TransformChain::reserve(Row& row) const {
  Index sample = 0, target = 0;
  for (Stage const& stage : stages_)
    sample = std::max(sample, stage.sample.size()), target = std::max(target, stage.target.size());
  row.sample.reserve(static_cast<std::size_t>(sample));
  row.spare.reserve(static_cast<std::size_t>(sample));
  row.target.reserve(static_cast<std::size_t>(target));
}

void TransformChain::apply(std::size_t place, Row& row, Index number, std::optional<RandomStream> draws) const {
  Transform const& transform = transforms_[place];
  if (row.sample.empty() && !std::holds_alternative<OneHot>(transform)) return;
  in_transform(place, transform, [&] {
    std::visit(Application{row, stages_[place].sample, number, draws}, transform);
  });
}

void TransformChain::evaluate(Row& row, Index number) const {
  for (std::size_t i = 0; i < transforms_.size(); ++i)
    if (!is_for_training_alone(transforms_[i]) || std::holds_alternative<Crop>(transforms_[i]))
      apply(i, row, number, {});
}

void TransformChain::train(std::span<Row> rows, std::uint64_t seed, SampleStream::Position first,
                           std::span<Row> others) const {
  for (std::size_t place = 0; place < transforms_.size(); ++place) {
    auto const name = std::visit([](auto const& t) { return t.name; }, transforms_[place]);
    auto const* mixup = std::get_if<Mixup>(&transforms_[place]);
    for (std::size_t i = 0; mixup && i < rows.size(); ++i)
      others[i].sample = rows[i].sample, others[i].target = rows[i].target;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      SampleStream::Position const position{first.epoch, first.offset + static_cast<Index>(i)};
      RandomStream const stream = draws(seed, position, place, name);
      if (!mixup) {
        apply(place, rows[i], position.offset, stream);
      } else if (rows.size() > 1) {
        auto const [w] = stream.block(0);
        auto const apart = 1 + below(static_cast<Index>(rows.size()) - 1, w[0], w[1]);
        Row const& other = others[(i + static_cast<std::size_t>(apart)) % rows.size()];
        float const lambda = beta_number(stream, static_cast<double>(mixup->alpha));
        mix_into(rows[i].sample, other.sample, lambda);
        mix_into(rows[i].target, other.target, lambda);
      }
    }
  }
}

}  // namespace coldpress::data
