#include <coldpress/data/batches.hpp>

#include "data/files.hpp"
#include "support/heap.hpp"

#include <algorithm>
#include <map>
#include <numeric>

using namespace coldpress;
using namespace coldpress::data;

namespace {

Dataset counting(Index size) {
  Dataset dataset{{{3}}, {{2}}, {}, {}};
  for (Index i = 0; i < size; ++i) {
    for (Index j = 0; j < 3; ++j) dataset.samples.push_back(static_cast<float>(3 * i + j));
    for (Index j = 0; j < 2; ++j) dataset.targets.push_back(static_cast<float>(2 * i + j));
  }
  return dataset;
}

std::vector<Index> order(Index size, std::uint64_t seed, std::uint64_t epoch) {
  std::vector<Index> result(static_cast<std::size_t>(size));
  shuffle(result, seed, epoch);
  return result;
}

}  // namespace

TEST_CASE("shuffle gives permutations, others for another seed or epoch") {
  for (Index const size : {0, 1, 2, 7, 1000}) {
    auto sorted = order(size, 3, 5);
    std::ranges::sort(sorted);
    for (Index i = 0; i < size; ++i) CHECK(sorted[static_cast<std::size_t>(i)] == i);
  }
  CHECK(order(1000, 3, 5) == order(1000, 3, 5));
  CHECK(order(1000, 3, 5) != order(1000, 3, 6));
  CHECK(order(1000, 3, 5) != order(1000, 4, 5));
  CHECK(order(1000, 3, std::uint64_t{1} << 32) != order(1000, 3, 0));
}

TEST_CASE("shuffle draws every permutation about as often") {
  std::map<std::vector<Index>, int> counts;
  for (std::uint64_t epoch = 0; epoch < 24000; ++epoch) ++counts[order(4, 1, epoch)];
  CHECK(counts.size() == 24);
  // Chi-square with 23 degrees of freedom is above 49.7 once in a thousand seeds.
  double chi = 0;
  for (auto const& [permutation, count] : counts) chi += (count - 1000.) * (count - 1000.) / 1000.;
  CHECK(chi < 49.7);
}

// From a program in Python that draws by Philox, as Random123's vectors say, and swaps as Fisher and Yates do. Another
// order would be as random, but a checkpoint of an earlier version would go on with other minibatches.
TEST_CASE("the order of a seed and an epoch stays what it was") {
  CHECK(order(10, 1, 0) == std::vector<Index>{1, 5, 9, 2, 8, 3, 7, 4, 6, 0});
  CHECK(order(10, 1, 7) == std::vector<Index>{5, 9, 6, 8, 2, 7, 0, 1, 4, 3});
  CHECK(order(10, 42, std::uint64_t{1} << 32) == std::vector<Index>{2, 1, 7, 0, 4, 8, 3, 6, 5, 9});
}

TEST_CASE("an epoch gives every sample once, with its target, the last batch smaller") {
  Dataset const dataset = counting(10);
  Batches batches{dataset, 4, 1};
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
    std::vector<float> seen;
    for (Index offset = 0; offset < 10; offset += 4) {
      CHECK(batches.position() == Batches::Position{epoch, offset});
      auto const batch = batches.next();
      CHECK(batch.position == Batches::Position{epoch, offset});
      CHECK(batch.size == std::min<Index>(4, 10 - offset));
      CHECK(batch.ends_epoch == (offset == 8));
      REQUIRE(batch.samples.size() == static_cast<std::size_t>(3 * batch.size));
      REQUIRE(batch.targets.size() == static_cast<std::size_t>(2 * batch.size));
      for (std::size_t i = 0; i < static_cast<std::size_t>(batch.size); ++i) {
        float const index = batch.samples[3 * i] / 3;
        seen.push_back(index);
        CHECK(batch.samples[3 * i + 2] == 3 * index + 2);
        CHECK(batch.targets[2 * i + 1] == 2 * index + 1);
      }
    }
    auto const expected = order(10, 1, epoch);
    CHECK(std::ranges::equal(seen, expected, {}, {}, [](Index i) { return static_cast<float>(i); }));
  }
}

TEST_CASE("seek goes on as if it had never stopped, also with another batch size") {
  Dataset const dataset = counting(23);
  Batches all{dataset, 5, 9};
  for (int i = 0; i < 12; ++i) all.next();
  Batches resumed{dataset, 5, 9};
  resumed.seek(all.position());
  for (int i = 0; i < 12; ++i) {
    auto const a = all.next(), b = resumed.next();
    CHECK(a.position == b.position);
    CHECK(std::ranges::equal(a.samples, b.samples));
    CHECK(std::ranges::equal(a.targets, b.targets));
  }
  resumed.seek({0, 0});
  Batches whole{dataset, 100, 9};
  CHECK(std::ranges::equal(resumed.next().samples, whole.next().samples.first(15)));

  for (Index const offset : {-1, 23, 1000})
    CHECK(contains(message<ConfigError>([&] { resumed.seek({0, offset}); }), "but there are 23 samples"));
  CHECK(resumed.position() == Batches::Position{0, 5});
}

TEST_CASE("batches allocate nothing once they are made") {
  Dataset const dataset = counting(50);
  Batches batches{dataset, 7, 2};
  std::size_t const before = test::heap.calls;
  for (int i = 0; i < 40; ++i) batches.next();
  batches.seek({17, 3});
  batches.next();
  CHECK(test::heap.calls == before);
}

TEST_CASE("batches refuse what cannot be batched") {
  Dataset const dataset = counting(3);
  for (Index const batch : {0, -5})
    CHECK(message<ConfigError>([&] {
            Batches{dataset, batch, 0};
          }) == "the batch size is " + std::to_string(batch) + ", expected at least 1");
  Dataset const empty;
  CHECK_THROWS_AS((Batches{empty, 1, 0}), ShapeError);
}
