// Several readers read a part of each minibatch each, and together what one reads.
#include <coldpress/data/prefetcher.hpp>
#include <coldpress/data/transform.hpp>

#include "data/blocks.hpp"
#include "data/counted.hpp"
#include "data/files.hpp"

#include <algorithm>

using namespace coldpress;
using namespace coldpress::data;

namespace {

/// As many samples as the other of two readers, give or take one.
Batches::PartOf half(int reader) {
  return [reader](Index size) {
    return reader == 0 ? Batches::Part{0, (size + 1) / 2} : Batches::Part{(size + 1) / 2, size / 2};
  };
}

/// Compares what two readers of halves and one of all read of the same stream in two epochs, and after a seek.
void check_halves(auto make_stream, Index batch) {
  Batches all{make_stream(), batch};
  Prefetcher first{Batches{make_stream(), batch, half(0)}};
  Batches second{make_stream(), batch, half(1)};
  auto const compare = [&](int batches) {
    for (int i = 0; i < batches; ++i) {
      auto const whole = all.next(), a = first.next(), b = second.next();
      REQUIRE(a.size == whole.size);
      CHECK(whole.read.count == whole.size);
      CHECK(a.position == whole.position);
      CHECK(b.ends_epoch == whole.ends_epoch);
      CHECK(a.read.count + b.read.count == whole.size);
      for (auto const& part : {a, b}) {
        auto const same = [&](std::span<float const> values, std::span<float const> wanted) {
          auto const each = values.size() / static_cast<std::size_t>(whole.size),
                     begin = static_cast<std::size_t>(part.read.first) * each,
                     count = static_cast<std::size_t>(part.read.count) * each;
          return std::ranges::equal(values.subspan(begin, count), wanted.subspan(begin, count));
        };
        CHECK(same(part.samples, whole.samples));
        CHECK(same(part.targets, whole.targets));
      }
    }
  };
  compare(12);
  for (auto* const batches : {&all, &second}) batches->seek({1, 5});
  first.seek({1, 5});
  compare(7);
  first.read_whole(), second.read_whole();
  auto const whole = all.next(), a = first.next(), b = second.next();
  CHECK(std::ranges::equal(a.samples, whole.samples));
  CHECK(std::ranges::equal(b.samples, whole.samples));
  CHECK(first.position() == all.position());
}

}  // namespace

TEST_CASE("two readers of halves read what one reads, from memory and from blocks") {
  auto const memory = own(numbered(23));
  InBlocks const one_window{23, {0, 5, 6, 15, 23}, 23}, windows{23, {0, 5, 6, 15, 23}, 9};
  for (Source const* const source : std::initializer_list<Source const*>{memory.get(), &one_window, &windows}) {
    for (Index const batch : {1, 4, 10, 23}) {
      INFO("batch " << batch);
      check_halves([&] { return shuffled(*source, 7); }, batch);
      check_halves([&] { return in_order(*source); }, batch);
    }
  }
}

TEST_CASE("two readers of halves get the same random transforms, also where samples are mixed") {
  auto const source = own(numbered(150));
  for (Transforms const& transforms : {Transforms{Noise{.deviation = 2}}, Transforms{Mixup{.alpha = 0.5f}}})
    check_halves([&] { return augmented(shuffled(*source, 3), transforms, 9); }, 20);
}

TEST_CASE("a reader of halves reads half of the samples, and half of the windows of blocks in the same order") {
  Dataset const dataset = numbered(40);
  test::Counted const source{borrow(dataset)};
  Batches batches{shuffled(source, 1), 8, half(1)};
  for (int i = 0; i < 5; ++i) batches.next();
  CHECK(source.samples == 20);
  // Blocks that nobody returns yet are read once, although the reader seeks from part to part.
  std::vector<Index> starts;
  for (Index i = 0; i <= 40; i += 2) starts.push_back(i);
  InBlocks const blocks{40, starts, 8};
  Batches of_blocks{shuffled(blocks, 1), 8, half(1)};
  for (int i = 0; i < 50; ++i) of_blocks.next();  // ten epochs of 20 blocks
  CHECK(blocks.reads <= 10 * 20 + 4);
}
