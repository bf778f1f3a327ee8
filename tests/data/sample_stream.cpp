#include <coldpress/data/sample_stream.hpp>

#include <coldpress/data/batches.hpp>

#include "data/blocks.hpp"
#include "data/files.hpp"
#include "support/heap.hpp"

#include <algorithm>
#include <set>

using namespace coldpress;
using namespace coldpress::data;

namespace {

/// The numbers of the next samples. Checks that each sample is whole and has its own target.
std::vector<Index> next(SampleStream& stream, Index count) {
  std::vector<float> samples(static_cast<std::size_t>(3 * count)), targets(static_cast<std::size_t>(2 * count));
  stream.read(count, samples.data(), targets.data());
  std::vector<Index> numbers;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    numbers.push_back(static_cast<Index>(samples[3 * i]) / 3);
    CHECK(samples[3 * i + 2] == samples[3 * i] + 2);
    CHECK(targets[2 * i] == static_cast<float>(2 * numbers.back()));
  }
  return numbers;
}
std::vector<Index> iota(Index size) {
  std::vector<Index> numbers;
  for (Index i = 0; i < size; ++i) numbers.push_back(i);
  return numbers;
}
std::vector<Index> sorted(std::vector<Index> numbers) {
  std::ranges::sort(numbers);
  return numbers;
}

std::vector<Index> const uneven{0, 4, 8, 10, 14, 18, 19, 23};

}  // namespace

TEST_CASE("samples come in the order in which they are stored, from memory and in blocks") {
  Dataset const dataset = numbered(23);
  auto const memory = borrow(dataset);
  InBlocks const in_blocks{23, uneven, 8};
  for (Source const* source : std::initializer_list<Source const*>{memory.get(), &in_blocks}) {
    auto const stream = in_order(*source);
    CHECK(stream->size() == 23);
    for (int epoch = 0; epoch < 2; ++epoch) {
      auto all = next(*stream, 10);
      auto const rest = next(*stream, 13);
      all.insert(all.end(), rest.begin(), rest.end());
      CHECK(all == iota(23));
    }
    stream->seek({7, 20});
    CHECK(next(*stream, 2) == std::vector<Index>{20, 21});
  }
}

TEST_CASE("blocks that are shuffled together have the order of data in memory, and are read once") {
  Dataset const dataset = numbered(23);
  auto const memory = borrow(dataset);
  InBlocks const in_blocks{23, uneven, 0};
  auto const a = shuffled(*memory, 5), b = shuffled(in_blocks, 5);
  for (int epoch = 0; epoch < 3; ++epoch) {
    auto const order = next(*a, 23);
    CHECK(next(*b, 23) == order);
    CHECK(sorted(order) == iota(23));
  }
  CHECK(in_blocks.reads == 7);
}

TEST_CASE("blocks are read in another order each epoch, and the samples of a window are mixed") {
  InBlocks const in_blocks{23, uneven, 8};
  auto const stream = shuffled(in_blocks, 5);
  std::set<std::vector<Index>> orders;
  std::set<Index> first;
  bool mixed = false;
  for (int epoch = 0; epoch < 20; ++epoch) {
    auto const order = next(*stream, 23);
    CHECK(sorted(order) == iota(23));
    orders.insert(order);
    first.insert(order[0]);
    // Two blocks are together: within the first samples, one block is left and entered again.
    auto const block = [&](int i) { return std::ranges::upper_bound(uneven, order[static_cast<std::size_t>(i)]); };
    mixed = mixed || (block(0) != block(1) && (block(2) == block(0) || block(3) == block(0)));
  }
  CHECK(orders.size() == 20);
  CHECK(first.size() > 8);
  CHECK(mixed);
  auto const again = shuffled(in_blocks, 5), other = shuffled(in_blocks, 6);
  auto const order = next(*again, 23);
  CHECK(orders.contains(order));
  CHECK(next(*other, 23) != order);
}

TEST_CASE("the next window is read a block at a time") {
  std::vector<Index> blocks;
  for (Index i = 0; i <= 400; i += 4) blocks.push_back(i);
  InBlocks const in_blocks{400, blocks, 80};
  auto const stream = shuffled(in_blocks, 1);
  next(*stream, 1);
  int before = in_blocks.reads;
  CHECK(before == 21);  // a window of 20 blocks, and the first of the next
  for (int i = 1; i < 400; ++i) {
    next(*stream, 1);
    CHECK(in_blocks.reads <= before + 1);
    before = in_blocks.reads;
  }
  CHECK(before == 120);  // those of the epoch, and a window of the next
}

TEST_CASE("a stream goes on from every position as if it had never stopped, in windows and across epochs") {
  InBlocks const in_blocks{23, uneven, 8};
  auto const whole = shuffled(in_blocks, 9), resumed = shuffled(in_blocks, 9), jumping = shuffled(in_blocks, 9);
  std::vector<Index> order;
  for (int epoch = 0; epoch < 3; ++epoch) {
    auto const part = next(*whole, 23);
    order.insert(order.end(), part.begin(), part.end());
  }
  for (Index at = 40; at >= 0; --at) {
    auto const stream = shuffled(in_blocks, 9);
    for (SampleStream* const each : {stream.get(), jumping.get()}) {
      each->seek({static_cast<std::uint64_t>(at / 23), at % 23});
      Index const here = std::min<Index>(5, 23 - at % 23);
      auto found = next(*each, here);
      auto const more = next(*each, 23 - (at % 23 + here) % 23);
      found.insert(found.end(), more.begin(), more.end());
      CHECK(std::equal(found.begin(), found.end(), order.begin() + at));
    }
  }
}

TEST_CASE("a block that cannot be read is tried again by the next batch") {
  InBlocks in_blocks{23, uneven, 8};
  Batches expected{shuffled(in_blocks, 2), 5};
  std::vector<float> all;
  for (int i = 0; i < 10; ++i) {
    auto const batch = expected.next();
    all.insert(all.end(), batch.samples.begin(), batch.samples.end());
  }
  Batches batches{shuffled(in_blocks, 2), 5};
  std::vector<float> seen;
  int failures = 0;
  for (int i = 0; i < 10;) {
    in_blocks.fails_at = failures % 2 == 0 ? 10 : -1;
    try {
      auto const batch = batches.next();
      seen.insert(seen.end(), batch.samples.begin(), batch.samples.end());
      ++i;
    } catch (DataError const& error) {
      CHECK(std::string{error.what()} == "block 10 is broken");
      ++failures;
    }
  }
  CHECK(failures > 0);
  CHECK(seen == all);
}

TEST_CASE("streams allocate nothing once they are made") {
  InBlocks const in_blocks{23, uneven, 8};
  Batches batches{shuffled(in_blocks, 2), 5};
  std::size_t const before = test::heap.calls;
  for (int i = 0; i < 50; ++i) batches.next();
  batches.seek({100, 7});
  batches.next();
  CHECK(test::heap.calls == before);
}
