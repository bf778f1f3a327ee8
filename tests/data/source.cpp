#include <coldpress/data/source.hpp>

#include <coldpress/data/batches.hpp>

#include "data/blocks.hpp"
#include "data/files.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

using namespace coldpress;
using namespace coldpress::data;

namespace {

/// Which samples of numbered() a source has.
std::vector<Index> numbers(Source const& source) {
  Dataset const dataset = load(source);
  check(dataset);
  std::vector<Index> found;
  for (Index i = 0; i < dataset.size(); ++i) {
    found.push_back(static_cast<Index>(dataset.sample(i)[0]) / 3);
    CHECK(dataset.target(i)[1] == static_cast<float>(2 * found.back() + 1));
  }
  return found;
}

/// 60 samples of class 0, 30 of class 1, 9 of class 2 and 1 of class 5.
Dataset labelled() {
  Dataset dataset{{{1}}, {{1}}, {}, {}};
  for (int i = 0; i < 100; ++i) {
    dataset.samples.push_back(static_cast<float>(i));
    dataset.targets.push_back(i < 60 ? 0.0f : i < 90 ? 1.0f : i < 99 ? 2.0f : 5.0f);
  }
  return dataset;
}

}  // namespace

TEST_CASE("a subset has its samples, from memory and in blocks, and so has a subset of it") {
  Dataset const dataset = numbered(23);
  auto const memory = borrow(dataset), owned = own(numbered(23));
  InBlocks const in_blocks{23, {0, 4, 8, 10, 14, 18, 19, 23}, 8};
  std::vector<Index> const rows{1, 2, 3, 9, 13, 14, 15, 16, 17, 22};
  for (Source const* source : std::initializer_list<Source const*>{memory.get(), owned.get(), &in_blocks}) {
    auto const part = subset(*source, rows);
    CHECK(numbers(*part) == rows);
    auto const part_of_part = subset(*part, {0, 3, 9});
    CHECK(numbers(*part_of_part) == std::vector<Index>{1, 9, 22});
    std::set<float> seen;
    Batches batches{shuffled(*part, 3), 4};
    for (auto const& batch : batches.epoch())
      for (std::size_t i = 0; i < batch.samples.size(); i += 3) seen.insert(batch.samples[i] / 3);
    CHECK(seen == std::set<float>(rows.begin(), rows.end()));
  }
  CHECK(subset(in_blocks, rows)->description().blocks == std::vector<Index>{0, 3, 4, 5, 9, 10});
  for (std::vector<Index> const& bad : std::vector<std::vector<Index>>{{}, {-1}, {23}, {2, 1}, {1, 1}})
    CHECK(contains(message<ConfigError>([&] { subset(*memory, bad); }), "a subset of 23 samples is given by"));
}

TEST_CASE("blocks must cover a source") {
  for (std::vector<Index> const& bad : std::vector<std::vector<Index>>{{0}, {0, 4}, {1, 5}, {0, 0, 5}, {0, 6}})
    CHECK(message<ConfigError>([&] { InBlocks{5, bad, 0}; }) == "the blocks of a source do not cover its 5 samples");
  CHECK_THROWS_AS(own(Dataset{}), ShapeError);
}

TEST_CASE("a split is drawn by the seed, and each sample is in one of its parts") {
  Dataset const dataset = numbered(50);
  auto const source = borrow(dataset);
  auto const parts = split(*source, 0.3, 7, false);
  CHECK(parts.held_out->size() == 15);
  auto all = numbers(*parts.training);
  auto const held_out = numbers(*parts.held_out);
  all.insert(all.end(), held_out.begin(), held_out.end());
  std::ranges::sort(all);
  CHECK(all == numbers(*source));
  CHECK(numbers(*split(*source, 0.3, 7, false).held_out) == held_out);
  CHECK(numbers(*split(*source, 0.3, 8, false).held_out) != held_out);
  for (double const fraction : {0., 0.001, 1., -1., std::numeric_limits<double>::quiet_NaN()})
    CHECK(contains(message<ConfigError>([&] { split(*source, fraction, 0, false); }), "leaves one of the parts empty"));
  Dataset const bad{{{1}}, {{1}}, {1, 2}, {0, 0.5f}};
  auto const wrong = borrow(bad);
  CHECK(contains(message<DataError>([&] { split(*wrong, 0.5, 0, true); }), "the target of sample 1 is 0.5"));
  CHECK(contains(message<DataError>([&] { split(*source, 0.5, 0, true); }), "expected labels"));
}

TEST_CASE("a stratified split has each class in proportion") {
  Dataset const dataset = labelled();
  auto const source = borrow(dataset);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    auto const parts = split(*source, 0.2, seed, true);
    CHECK(parts.held_out->size() == 20);
    CHECK(parts.training->size() == 80);
    std::map<float, int> counts;
    for (float const label : load(*parts.held_out).targets) ++counts[label];
    CHECK(counts[0] == 12);
    CHECK(counts[1] == 6);
    CHECK(counts[2] == 2);  // of 1.8
    CHECK(counts[5] == 0);  // of 0.2
  }
  CHECK(load(*split(*source, 0.2, 1, true).held_out).samples != load(*split(*source, 0.2, 2, true).held_out).samples);
}
