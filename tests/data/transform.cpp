#include <coldpress/data/network_transforms.hpp>

#include <coldpress/data/npy.hpp>
#include <coldpress/data/prefetcher.hpp>

#include "data/blocks.hpp"
#include "data/files.hpp"
#include "data/transforms_expected.hpp"
#include "support/heap.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <thread>

using namespace coldpress;
using namespace coldpress::data;

namespace {

/// Five pictures of two channels, as in make_transforms.py, and the labels 0, 1, 2, 0, 1.
Dataset pictures() {
  Dataset dataset{{{2, 4, 5}}, {{1}}, {}, {}};
  for (int i = 0; i < 200; ++i) dataset.samples.push_back(static_cast<float>(i * 37 % 101 - 40) / 64);
  for (int i = 0; i < 5; ++i) dataset.targets.push_back(static_cast<float>(i % 3));
  return dataset;
}

struct Values {
  std::vector<float> samples, targets;
  bool operator==(Values const&) const = default;
};
Values read(SampleStream& stream, Index count) {
  Values values{std::vector<float>(static_cast<std::size_t>(count * stream.sample_shape().size())),
                std::vector<float>(static_cast<std::size_t>(count * stream.target_shape().size()))};
  stream.read(count, values.samples.data(), values.targets.data());
  return values;
}
/// The samples of a source as evaluation sees them.
std::vector<float> evaluated(Dataset const& dataset, Transforms transforms) {
  auto const raw = borrow(dataset);
  return load(*transformed(*raw, std::move(transforms))).samples;
}
/// The samples in order as training sees them in epoch 3 with the seed 7, for which make_transforms.py draws as well.
std::vector<float> trained(Dataset const& dataset, Transforms transforms) {
  auto const raw = borrow(dataset);
  auto const stream = augmented(in_order(*raw), std::move(transforms), 7);
  stream->seek({3, 0});
  return read(*stream, dataset.size()).samples;
}
void check_near(std::vector<float> const& found, std::vector<float> const& wanted, double most = 2e-7) {
  REQUIRE(found.size() == wanted.size());
  double worst = 0;
  for (std::size_t i = 0; i < found.size(); ++i)
    worst = std::max(worst, std::abs(static_cast<double>(found[i]) - static_cast<double>(wanted[i])));
  CHECK(worst <= most);
}

/// Samples of one value, `values`, all with the target `target`.
Dataset single(std::vector<float> values, float target = 0) {
  Dataset dataset{{{1}}, {{1}}, std::move(values), {}};
  dataset.targets.assign(dataset.samples.size(), target);
  return dataset;
}

/// Everything at once, in an order in which each transform matters to the next.
Transforms const everything{OneHot{3},     SubtractMean{.mean = {0.1f, -0.2f}},
                            Shift{{1, 2}}, Mirror{},
                            Rotate{20},    Crop{{3, 4}},
                            Noise{0.1f},   Cutout{{1, 2}},
                            Mixup{0.4f},   Scale{0.5f, 0.25f},
                            Noise{0.01f}};

}  // namespace

TEST_CASE("statistics are those of numpy, and what is done with them gives numpy's bits") {
  Dataset const dataset = pictures();
  auto const raw = borrow(dataset);
  for (auto const& [per, mean, deviation] : {std::tuple{Per::value, expected::mean_value, expected::deviation_value},
                                             {Per::channel, expected::mean_channel, expected::deviation_channel},
                                             {Per::all, expected::mean_all, expected::deviation_all}}) {
    auto const transforms = fit({SubtractMean{.per = per}}, *raw);
    check_near(std::get<SubtractMean>(transforms[0]).mean, mean, 1e-8);
    auto const standardized = fit({Standardize{.per = per}}, *raw);
    check_near(std::get<Standardize>(standardized[0]).mean, mean, 1e-8);
    check_near(std::get<Standardize>(standardized[0]).deviation, deviation, 6e-8);
  }
  CHECK(evaluated(dataset, {SubtractMean{.mean = expected::mean_channel}}) == expected::centred);
  CHECK(evaluated(dataset, {Scale{0.3f, -0.7f}}) == expected::scaled);
  Standardize const given{.mean = {0.25f, -0.125f}, .deviation = {0.3f, 0.7f}};
  CHECK(evaluated(dataset, {given}) == expected::standardized);
  CHECK(trained(dataset, {given}) == expected::standardized);
}

TEST_CASE("the deviation of values far from 0 keeps its digits") {
  std::vector<float> far;
  for (int i = 0; i < 50; ++i) far.push_back(1e6f + static_cast<float>(i % 7));
  Dataset const dataset = single(far);
  auto const fitted = fit({Standardize{}}, *borrow(dataset));
  check_near(std::get<Standardize>(fitted[0]).deviation, expected::far_deviation, 2e-7);
}

TEST_CASE("fitting goes on where statistics are missing, and sees what the transforms before leave") {
  Dataset const dataset = pictures();
  auto const raw = borrow(dataset);
  Transforms const wanted{Crop{{2}}, Mirror{}, Noise{5}, Standardize{.per = Per::channel}, SubtractMean{}, OneHot{}};
  auto const once = fit(wanted, *raw);
  CHECK(fit(once, *raw) == once);
  check_fitted(once);
  CHECK(contains(message<ConfigError>([&] { check_fitted(wanted); }), "transforms[3] standardize: lacks its numbers"));
  CHECK(std::get<OneHot>(once[5]).classes == 3);
  // Neither noise nor mirrors count, and the mean is that of standardized centres.
  auto const centres = own({{{2, 2, 2}}, {{1}}, evaluated(dataset, {Crop{{2}}}), dataset.targets});
  auto const direct = fit({Standardize{.per = Per::channel}, SubtractMean{}}, *centres);
  CHECK(once[3] == direct[0]);
  CHECK(once[4] == direct[1]);

  auto const prepared = transformed(*raw, once);
  CHECK(prepared->sample_shape() == Shape{2, 2, 2});
  CHECK(prepared->target_shape() == Shape{3});
  auto const all = load(*prepared);
  for (std::size_t i = 0; i < 8; ++i) {
    float sum = 0;
    for (std::size_t n = 0; n < 5; ++n) sum += all.samples[8 * n + i];
    CHECK(std::abs(sum) < 1e-6f);
  }
  CHECK(all.targets == std::vector<float>{1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0});
  CHECK(targets_of(*prepared) == all.targets);
}

TEST_CASE("random changes are those that numpy and scipy make with the same random numbers") {
  Dataset const dataset = pictures();
  CHECK(evaluated(dataset, {Crop{{3, 4}}}) == expected::centre);
  CHECK(trained(dataset, {Crop{{3, 4}}}) == expected::crop_in_training);
  CHECK(trained(dataset, {Mirror{}}) == expected::mirror_in_training);
  CHECK(trained(dataset, {Shift{{2, 3}}}) == expected::shift_in_training);
  CHECK(trained(dataset, {Cutout{{3, 4}}}) == expected::cutout_in_training);
  check_near(trained(dataset, {Rotate{30}}), expected::rotate_in_training);
  check_near(trained(dataset, {Noise{0.5f}}), expected::noise_in_training);
  CHECK(trained(dataset, {Mirror{}}) != dataset.samples);
  for (Transform const& random : Transforms{Mirror{}, Shift{{2}}, Rotate{30}, Noise{1}, Cutout{{2}}, Mixup{}})
    CHECK(evaluated(dataset, {random}) == dataset.samples);
}

TEST_CASE("a picture of one channel is {H, W} or {1, H, W}") {
  Dataset flat = pictures(), deep = flat;
  flat.sample_shape = {8, 5}, deep.sample_shape = {1, 8, 5};
  Transforms const transforms{Crop{{6, 4}}, Mirror{}, Rotate{45}, Shift{{1}}, Cutout{{2}}};
  CHECK(trained(flat, transforms) == trained(deep, transforms));
  auto const prepared = [&](Dataset const& dataset) {
    auto const raw = borrow(dataset);
    return transformed(*raw, transforms)->sample_shape();
  };
  CHECK(prepared(flat) == Shape{6, 4});
  CHECK(prepared(deep) == Shape{1, 6, 4});
}

TEST_CASE("the same samples come whatever the reads and wherever they begin") {
  Dataset dataset{{{1, 4, 5}}, {{1}}, {}, {}};
  for (int i = 0; i < 150 * 20; ++i) dataset.samples.push_back(static_cast<float>(i * 37 % 101 - 40) / 64);
  for (int i = 0; i < 150; ++i) dataset.targets.push_back(static_cast<float>(i % 3));
  auto const raw = borrow(dataset);
  auto transforms = everything;
  std::get<SubtractMean>(transforms[1]).mean = {0.125f};
  auto const make = [&] { return augmented(shuffled(*raw, 4), transforms, 11); };
  auto const whole = make();
  CHECK(whole->sample_shape() == Shape{1, 3, 4});
  CHECK(whole->target_shape() == Shape{3});
  Values const first = read(*whole, 150), second = read(*whole, 150);
  CHECK(first != second);

  auto const part = [](Values const& of, Index from, Index count) {
    auto const piece = [&](std::vector<float> const& values, Index size) {
      return std::vector<float>(values.begin() + from * size, values.begin() + (from + count) * size);
    };
    return Values{piece(of.samples, 12), piece(of.targets, 3)};
  };
  for (Index const size : {1, 7, 64, 150}) {
    auto const stream = make();
    bool same = true;
    for (int epoch = 0; epoch < 2; ++epoch)
      for (Index at = 0; at < 150; at += size) {
        Index const count = std::min(size, 150 - at);
        same = same && read(*stream, count) == part(epoch == 0 ? first : second, at, count);
      }
    CHECK(same);
  }
  auto const stream = make();
  bool same = true;
  for (Index at = 149; at >= 0; at -= 4) {
    stream->seek({1, at});
    same = same && read(*stream, 1) == part(second, at, 1);
    stream->seek({0, at});
    Index const count = std::min<Index>(5, 150 - at);
    same = same && read(*stream, count) == part(first, at, count);
  }
  CHECK(same);

  for (Index const depth : {0, 3}) {
    Prefetcher batches{Batches{make(), 32}, depth};
    Values found;
    for (auto const& batch : batches.epoch()) {
      found.samples.insert(found.samples.end(), batch.samples.begin(), batch.samples.end());
      found.targets.insert(found.targets.end(), batch.targets.begin(), batch.targets.end());
    }
    CHECK(found == first);
    batches.seek({1, 70});
    auto const batch = batches.next();
    CHECK(Values{{batch.samples.begin(), batch.samples.end()}, {batch.targets.begin(), batch.targets.end()}} ==
          part(second, 70, 32));
  }
}

TEST_CASE("each seed, epoch, sample and transform draws its own numbers") {
  Dataset const dataset = single(std::vector<float>(4));
  auto const raw = borrow(dataset);
  std::vector<float> all;
  for (std::uint64_t const seed : {1, 2}) {
    for (Transforms const& transforms : {Transforms{Noise{1}}, {Scale{}, Noise{1}}}) {
      auto const stream = augmented(in_order(*raw), transforms, seed);
      for (int epoch = 0; epoch < 2; ++epoch)
        for (float const x : read(*stream, 4).samples) all.push_back(x);
    }
  }
  std::ranges::sort(all);
  CHECK(std::ranges::adjacent_find(all) == all.end());
}

TEST_CASE("samples that can only be read in blocks are transformed in blocks") {
  InBlocks const in_blocks{23, {0, 4, 8, 10, 14, 18, 19, 23}, 8};
  Dataset const dataset = numbered(23);
  auto const raw = borrow(dataset);
  Transforms const wanted{Standardize{}, Noise{0.5f}, Mixup{1}};
  auto const transforms = fit(wanted, in_blocks);
  CHECK(transforms == fit(wanted, *raw));
  auto const prepared = transformed(in_blocks, transforms);
  CHECK(prepared->description().blocks == in_blocks.description().blocks);
  CHECK(load(*prepared).samples == evaluated(dataset, transforms));
  auto const a = augmented(in_order(in_blocks), transforms, 5), b = augmented(in_order(*raw), transforms, 5);
  CHECK(read(*a, 23) == read(*b, 23));
}

TEST_CASE("threads read a transformed source at the same time") {
  Dataset const dataset = pictures();
  auto const raw = borrow(dataset);
  auto const source = transformed(*raw, {Crop{{3}}, Scale{2, 1}});
  auto const wanted = load(*source).samples;
  std::vector<std::vector<float>> found(4);
  std::vector<std::thread> threads;
  for (auto& one : found) threads.emplace_back([&] { one = load(*source).samples; });
  for (auto& thread : threads) thread.join();
  for (auto const& one : found) CHECK(one == wanted);
}

TEST_CASE("an augmented stream allocates nothing after its first samples") {
  Dataset const dataset = pictures();
  auto const raw = borrow(dataset);
  auto const stream = augmented(in_order(*raw), everything, 1);
  std::vector<float> samples(5 * 24), targets(5 * 3);
  stream->read(5, samples.data(), targets.data());
  auto const before = test::heap.calls.load();
  for (int epoch = 0; epoch < 5; ++epoch) stream->read(5, samples.data(), targets.data());
  CHECK(test::heap.calls.load() == before);
}

TEST_CASE("noise is normal, and drawn anew for every value") {
  Dataset dataset{{{100}}, {{1}}, std::vector<float>(100 * 500), std::vector<float>(500)};
  auto const noise = trained(dataset, {Noise{2}});
  double moments[5] = {}, neighbours = 0, samples = 0;
  for (std::size_t i = 0; i < noise.size(); ++i) {
    double const x = static_cast<double>(noise[i]) / 2;
    for (int k = 1; k <= 4; ++k) moments[k] += std::pow(x, k) / 5e4;
    if (i >= 1) neighbours += x * static_cast<double>(noise[i - 1]) / 2 / 5e4;
    if (i >= 100) samples += x * static_cast<double>(noise[i - 100]) / 2 / 5e4;
  }
  // Five standard deviations of each mean of 50,000.
  CHECK(std::abs(moments[1]) < 5 * std::sqrt(1 / 5e4));
  CHECK(std::abs(moments[2] - 1) < 5 * std::sqrt(2 / 5e4));
  CHECK(std::abs(moments[3]) < 5 * std::sqrt(15 / 5e4));
  CHECK(std::abs(moments[4] - 3) < 5 * std::sqrt(96 / 5e4));
  CHECK(std::abs(neighbours) < 5 * std::sqrt(1 / 5e4));
  CHECK(std::abs(samples) < 5 * std::sqrt(1 / 5e4));
}

TEST_CASE("mixup draws lambda from Beta(alpha, alpha), and mixes targets as samples") {
  constexpr Index size = 64 * 300;
  // The sample is 1 at its own place within its group, so what is mixed shows both places and lambda.
  Dataset dataset{{{64}}, {{64}}, {}, {}};
  for (Index i = 0; i < size; ++i)
    for (Index j = 0; j < 64; ++j) dataset.samples.push_back(i % 64 == j ? 1.0f : 0.0f);
  dataset.targets = dataset.samples;
  auto const raw = borrow(dataset);
  for (double const alpha : {0.1, 0.5, 1.0, 2.0, 8.0}) {
    auto const stream = augmented(in_order(*raw), {Mixup{static_cast<float>(alpha)}}, 3);
    Values const mixed = read(*stream, size);
    CHECK(mixed.samples == mixed.targets);
    double sum = 0, squares = 0, fourth = 0, distances = 0;
    for (Index i = 0; i < size; ++i) {
      auto const row = std::span{mixed.samples}.subspan(static_cast<std::size_t>(64 * i), 64);
      float const lambda = row[static_cast<std::size_t>(i % 64)];
      float total = 0;
      for (std::size_t j = 0; j < 64; ++j) {
        total += row[j];
        if (row[j] > 0 && static_cast<Index>(j) != i % 64)
          distances += static_cast<double>((static_cast<Index>(j) - i % 64 + 64) % 64) / size;
      }
      CHECK(std::abs(total - 1) < 1e-6f);
      double const x = static_cast<double>(lambda) - 0.5;
      sum += x / size, squares += x * x / size, fourth += x * x * x * x / size;
    }
    // The central moments of a symmetric Beta distribution.
    double const variance = 1 / (4 * (2 * alpha + 1)), kurtosis = 3 - 6 / (2 * alpha + 3);
    INFO("alpha " << alpha);
    CHECK(std::abs(sum) < 5 * std::sqrt(variance / size));
    CHECK(std::abs(squares - variance) < 5 * variance * std::sqrt((kurtosis - 1) / size));
    CHECK(std::abs(fourth - kurtosis * variance * variance) < 5 * std::sqrt(1.0 / 256 / size));
    if (alpha >= 0.5) CHECK(std::abs(distances - 32) < 5 * 18.2 / std::sqrt(size) + 0.1);
  }
}

TEST_CASE("mixup has a partner in the last group as well, unless it is alone") {
  Dataset const dataset = single(std::vector<float>(65, 1));
  Dataset ramp = dataset;
  for (std::size_t i = 0; i < 65; ++i) ramp.samples[i] = static_cast<float>(i);
  auto const mixed = trained(ramp, {Mixup{8}});
  CHECK(mixed[64] == 64);
  int changed = 0;
  for (std::size_t i = 0; i < 64; ++i) changed += mixed[i] != ramp.samples[i];
  CHECK(changed > 60);
  Dataset const two = single({2, 4});
  for (float const x : trained(two, {Mixup{8}})) CHECK((x > 2 && x < 4));
}

TEST_CASE("a mean comes from a file") {
  TemporaryFolder folder;
  Dataset const dataset = pictures();
  auto const raw = borrow(dataset);
  write_npy(folder / "mean.npy", std::vector<Index>{2, 1, 1}, std::vector<float>{0.5f, -1});
  Transforms const wanted = from_folder(folder / "", {Scale{}, SubtractMean{.file = "mean.npy"}});
  CHECK(files_of(wanted) == std::vector<std::string>{folder / "mean.npy"});
  auto const fitted = fit(wanted, *raw);
  CHECK(std::get<SubtractMean>(fitted[1]).mean == std::vector<float>{0.5f, -1});
  CHECK(files_of(fitted).empty());
  CHECK(evaluated(dataset, fitted)[0] == dataset.samples[0] - 0.5f);

  write_npy(folder / "three.npy", std::vector<Index>{3}, std::vector<float>{1, 2, 3});
  CHECK(message<ShapeError>([&] { fit({SubtractMean{.file = folder / "three.npy"}}, *raw); }) ==
        "transforms[0] subtract_mean: has a mean of 3 numbers for samples of {2, 4, 5}, expected 1, 2 (one for each "
        "channel) or 40");
  // The shape is that of a sample, or one number per channel; extents of 1 do not count.
  std::vector<float> const forty(40, 1);
  for (auto const& extents : {std::vector<Index>{2, 4, 5}, std::vector<Index>{1, 2, 4, 5}, std::vector<Index>{40}}) {
    write_npy(folder / "forty.npy", extents, forty);
    CHECK(std::get<SubtractMean>(fit({SubtractMean{.file = folder / "forty.npy"}}, *raw)[0]).mean == forty);
  }
  write_npy(folder / "forty.npy", std::vector<Index>{4, 5, 2}, forty);
  CHECK(message<ShapeError>([&] { fit({SubtractMean{.file = folder / "forty.npy"}}, *raw); }) ==
        folder /
            "forty.npy: transforms[0] subtract_mean: the mean has shape {4, 5, 2}, expected {2, 4, 5}, that of a "
            "sample; extents of 1 do not count");
  write_npy(folder / "nan.npy", std::vector<Index>{1}, std::vector<float>{std::nanf("")});
  CHECK(contains(message<DataError>([&] { fit({SubtractMean{.file = folder / "nan.npy"}}, *raw); }),
                 folder / "nan.npy: transforms[0] subtract_mean: the mean number 0 of the data is nan"));
  CHECK(contains(message<FileError>([&] { fit({SubtractMean{.file = folder / "none.npy"}}, *raw); }), "none.npy"));
  CHECK(contains(message<ConfigError>([&] { fit({SubtractMean{.file = "mean.txt"}}, *raw); }), ".npy, .h5 or .hdf5"));
  CHECK(contains(message<ConfigError>([&] { fit({SubtractMean{.file = "a,b.h5"}}, *raw); }), "comma"));
  CHECK(contains(message<UnsupportedError>([&] { fit({SubtractMean{.file = "mean.h5"}}, *raw); }), "HDF5"));
}

TEST_CASE("what does not fit is refused with the number and kind of the transform") {
  Dataset const dataset = pictures();
  Dataset flat = dataset;
  flat.sample_shape = {40};
  auto const raw = borrow(dataset), plain = borrow(flat);
  auto const refusal = [&]<class Failure>(Failure, Transforms const& transforms, Source const& source) {
    return message<Failure>([&] { augmented(in_order(source), transforms, 0); });
  };
  ShapeError const shape{""};
  ConfigError const config{""};
  CHECK(refusal(shape, {Scale{}, Crop{{5, 3}}}, *raw) ==
        "transforms[1] crop: needs pictures of at least 5 rows and 3 columns, but the samples have shape {2, 4, 5}");
  CHECK(refusal(shape, {Crop{{2, 2}}, Cutout{{3}}}, *raw) ==
        "transforms[1] cutout: needs pictures of at least 3 rows and 3 columns, but the samples have shape {2, 2, 2}");
  CHECK(contains(refusal(shape, {Shift{{4, 0}}}, *raw), "at least 5 rows and 1 column"));
  for (Transform const& of_pictures : Transforms{Crop{{1}}, Mirror{}, Shift{{1}}, Rotate{1}, Cutout{{1}}})
    CHECK(contains(refusal(shape, {of_pictures}, *plain),
                   "works on pictures of shape {C, H, W} or {H, W}, but the samples have shape {40}"));
  CHECK(contains(refusal(shape, {OneHot{3}, OneHot{3}}, *raw), "transforms[1] one_hot: needs one label"));
  CHECK(contains(refusal(config, {SubtractMean{}}, *raw), "transforms[0] subtract_mean: has no mean yet"));
  CHECK(contains(refusal(config, {Standardize{}}, *raw), "transforms[0] standardize: has no mean yet"));
  CHECK(contains(refusal(config, {OneHot{}}, *raw), "transforms[0] one_hot: has no number of classes yet"));
  CHECK(contains(refusal(shape, {SubtractMean{.mean = {1, 2}}}, *plain), "expected 1 or 40"));
  float const nan = std::nanf(""), infinite = INFINITY;
  for (auto const& [transform, words] : std::vector<std::pair<Transform, char const*>>{
           {Scale{nan, 0}, "the factor must be finite, is nan"},
           {Scale{1, infinite}, "the offset must be finite"},
           {SubtractMean{.mean = {1, nan}}, "a mean must be finite"},
           {SubtractMean{.file = "x.npy", .mean = {1}}, "has both a mean and a file"},
           {SubtractMean{.per = static_cast<Per>(7)}, "per is not one of the possible values"},
           {Standardize{.epsilon = -1}, "epsilon must be at least 0"},
           {Standardize{.mean = {1}}, "has one of mean and deviation"},
           {Standardize{.mean = {1}, .deviation = {0}}, "a deviation must be above 0"},
           {OneHot{-1}, "classes must be at least 0"},
           {Crop{}, "extents must be two numbers, for rows and columns, or one for both; there are 0"},
           {Crop{{0}}, "extents must be at least 1"},
           {Crop{{1, 2, 3}}, "there are 3"},
           {Shift{{-1}}, "pixels must be at least 0"},
           {Rotate{181}, "degrees must be at most 180"},
           {Rotate{-1}, "degrees must be at least 0"},
           {Noise{nan}, "the deviation must be finite"},
           {Cutout{{0, 1}}, "extents must be at least 1"},
           {Mixup{0}, "alpha must be above 0"}}) {
    INFO(words);
    Transform const& wrong = transform;  // clang 14 captures no structured binding
    CHECK(contains(message<ConfigError>([&] {
                     check({Scale{}, wrong});
                   }),
                   "transforms[1] " + std::string{std::visit([](auto const& t) { return t.name; }, wrong)} + ": "));
    CHECK(contains(message<ConfigError>([&] { fit({wrong}, *raw); }), words));
  }
}

TEST_CASE("data from which no statistic comes is refused") {
  Dataset constant = pictures();
  for (std::size_t i = 0; i < constant.samples.size(); i += 40) constant.samples[i + 3] = 0.1f;
  auto const raw = borrow(constant);
  CHECK(message<DataError>([&] { fit({Standardize{}}, *raw); }) ==
        "transforms[0] standardize: the deviation number 3 of the data is 0, since the values do not differ; give an "
        "epsilon, or take the deviation of all values together");
  auto const fitted = fit({Standardize{.epsilon = 0.5f}}, *raw);
  CHECK(std::get<Standardize>(fitted[0]).deviation[3] == 0.5f);
  CHECK(std::get<Standardize>(fit({Standardize{.per = Per::all}}, *raw)[0]).deviation.size() == 1);

  Dataset const endless = single({1, INFINITY});
  CHECK(contains(message<DataError>([&] { fit({SubtractMean{}}, *borrow(endless)); }),
                 "transforms[0] subtract_mean: the mean number 0 of the data is"));
}

TEST_CASE("a target that is no label is refused with the sample's number") {
  Dataset dataset = pictures();
  dataset.targets[3] = 1.5f;
  auto const raw = borrow(dataset);
  std::string const sentence = "transforms[0] one_hot: the target of sample 3 is 1.500000, expected a label: ";
  CHECK(message<DataError>([&] { fit({OneHot{}}, *raw); }) == sentence + "a whole number from 0 to 16777215");
  CHECK(message<DataError>([&] { load(*transformed(*raw, {OneHot{4}})); }) == sentence + "a whole number from 0 to 3");
  auto const stream = augmented(in_order(*raw), {OneHot{4}}, 0);
  read(*stream, 3);
  CHECK(message<DataError>([&] { read(*stream, 1); }) == sentence + "a whole number from 0 to 3");
  stream->seek({0, 4});
  CHECK(read(*stream, 1).targets == std::vector<float>{0, 1, 0, 0});

  dataset.targets[3] = 2;
  CHECK(contains(message<DataError>([&] { fit({OneHot{2}}, *raw); }), "sample 2 is 2.000000"));
  dataset.classes = {"cat", "dog", "eel", "fox"};
  auto const named = borrow(dataset);
  CHECK(std::get<OneHot>(fit({OneHot{}}, *named)[0]).classes == 4);
  CHECK(transformed(*named, {OneHot{4}})->description().classes == dataset.classes);
  check_classes(*named, dataset.classes);
  check_classes(*named, {});
  check_classes(*raw, {"ant"});
  check_classes(*raw, {"0", "1", "two"});
  CHECK_THROWS_AS(check_classes(*raw, {"-1", "0", "1"}), MismatchError);  // numbers of data without names
  CHECK(message<MismatchError>([&] {
          check_classes(*named, {"cat", "emu"});
        }) ==
        "the data's class 1 is 'dog', the network's is 'emu'; the option classes=... of the data sets their order");
  CHECK(message<MismatchError>([&] {
          check_classes(*named, {"cat", "dog"});
        }) ==
        "the data's class 2 is 'eel', the network's is not there; the option classes=... of the data sets their order");
}

TEST_CASE("samples without targets go through the transforms of samples, which keep their places") {
  CHECK(of_samples({OneHot{3}, Scale{2}, Crop{{2}}}) == Transforms{Scale{}, Scale{2}, Crop{{2}}});
  CHECK(of_samples({OneHot{3}, OneHot{2}}).empty());  // so that samples of several arrays, which others refuse, pass
}

TEST_CASE("fitted transforms are those of the config that left their numbers open") {
  Transforms const configured{SubtractMean{}, Scale{2}, Standardize{.per = Per::all}, OneHot{},
                              SubtractMean{.file = "mean.npy"}};
  Transforms const fitted{SubtractMean{.mean = {1}}, Scale{2},
                          Standardize{.per = Per::all, .mean = {1}, .deviation = {2}}, OneHot{3},
                          SubtractMean{.mean = {4}}};
  CHECK(are_fitted_of(fitted, configured));
  CHECK(are_fitted_of(fitted, fitted));
  CHECK_FALSE(are_fitted_of(configured, fitted));
  CHECK_FALSE(are_fitted_of(fitted, {}));
  auto const with = [&](std::size_t i, Transform other) {
    Transforms changed = configured;
    changed[i] = std::move(other);
    return changed;
  };
  CHECK_FALSE(are_fitted_of(fitted, with(1, Scale{3})));
  CHECK_FALSE(are_fitted_of(fitted, with(2, Standardize{})));
  CHECK_FALSE(are_fitted_of(fitted, with(3, OneHot{4})));
  CHECK_FALSE(are_fitted_of(fitted, with(4, Mirror{})));
}
