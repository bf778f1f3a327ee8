// The sum of arrays on several ranks has the bits of one process, and no rank sends more than another.
#include <coldpress/distributed/in_process.hpp>
#include <coldpress/run/tree_sum.hpp>

#include "distributed/through.hpp"
#include "support/catch.hpp"
#include "support/random.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <mutex>
#include <vector>

using namespace coldpress;
using distributed::InProcess;

namespace {

/// Counts what goes through another communicator.
class Counting final : public test::Through {
 public:
  using Through::Through;
  void send(void const* bytes, std::size_t count, int to) override { sent += count, other.send(bytes, count, to); }
  void begin_exchange(int channel, void const* out, std::size_t out_count, void* in, std::size_t in_count,
                      int with) override {
    ++begun;
    Communicator::begin_exchange(channel, out, out_count, in, in_count, with);
  }
  std::size_t sent = 0, begun = 0;
};

/// The sum, or what it gives if it is added to ones. Twice, because the memory of the first sum is used again. The
/// second time, the values have their last values only bit by bit, as backward makes them.
std::vector<float> summed(Communicator* communicator, std::vector<std::vector<float>> const& arrays, bool adds = false,
                          bool rounds = false, Index bucket = 0) {
  TreeSum<float> sum;
  auto const size = static_cast<Index>(arrays[0].size());
  for (int round = 0; round < 2; ++round) {
    sum.reserve(communicator, static_cast<Index>(arrays.size()), size, rounds, bucket);
    std::vector<float> total(static_cast<std::size_t>(size), 1.0f);
    sum.begin(total.data(), adds);
    Index const apart = round == 0 ? size : 1 + size / (5 + (communicator ? communicator->rank() : 0));
    for (Index from = size; from > 0;) {
      Index const end = from;
      from = std::max(Index{0}, from - apart);
      for (Index a = sum.own().begin; a < sum.own().end; ++a)
        std::copy_n(arrays[static_cast<std::size_t>(a)].data() + from, end - from, sum.of(a) + from);
      sum.ready(from);
    }
    sum.wait();
    sum.store();
    if (round == 1) return total;
  }
  return {};
}

std::vector<std::vector<float>> arrays(std::size_t count, Index size) {
  test::Random random{static_cast<std::uint64_t>(count)};
  std::vector<std::vector<float>> all(count);
  for (auto& array : all) array = random.values<float>(size);
  return all;
}

}  // namespace

TEST_CASE("the arrays are added in pairs, and pairs of pairs") {
  auto const all = arrays(7, 3);
  auto const total = summed(nullptr, all), more = summed(nullptr, all, true);
  for (std::size_t i = 0; i < 3; ++i) {
    float const low = (all[0][i] + all[1][i]) + (all[2][i] + all[3][i]), high = (all[4][i] + all[5][i]) + all[6][i];
    CHECK(total[i] == low + high);
    CHECK(more[i] == 1 + (low + high));
  }
}

TEST_CASE("a sum that rounds has bfloat16 at every node of its tree") {
  auto const all = arrays(7, 5000);
  auto const total = summed(nullptr, all, false, true), more = summed(nullptr, all, true, true);
  auto const one = summed(nullptr, {all[0]}, false, true);
  auto const round = [](float value) { return static_cast<float>(Bfloat16{value}); };
  auto const plus = [&](float a, float b) { return round(a + b); };
  int differ = 0;
  for (std::size_t i = 0; i < total.size(); ++i) {
    float leaf[7];
    for (std::size_t a = 0; a < 7; ++a) leaf[a] = round(all[a][i]);
    float const low = plus(plus(leaf[0], leaf[1]), plus(leaf[2], leaf[3])),
                high = plus(plus(leaf[4], leaf[5]), leaf[6]);
    REQUIRE(total[i] == plus(low, high));
    REQUIRE(more[i] == 1 + plus(low, high));  // what is added to is no node
    REQUIRE(one[i] == leaf[0]);
    differ += round(all[0][i] + all[1][i]) != plus(leaf[0], leaf[1]);
  }
  CHECK(differ > 0);
}

TEST_CASE("rounding goes to the nearest, ties to even, and keeps what is not finite") {
  constexpr float inf = std::numeric_limits<float>::infinity();
  // The NaNs whose bits would overflow, or become those of infinity, if they were rounded.
  float const high = std::bit_cast<float>(0x7fffffffu), low = std::bit_cast<float>(0x7f800001u);
  float const step = 1.0f / 128;  // of bfloat16 from 1 on
  std::vector<float> const given{1 + step / 2, 1 + 3 * step / 2, 1 + step * 0.501f, inf, -inf, high, low, 3.4e38f};
  auto const is_right = [&](std::vector<float> const& sum) {
    return std::vector(sum.begin(), sum.begin() + 5) == std::vector{1.0f, 1 + 2 * step, 1 + step, inf, -inf} &&
           std::isnan(sum[5]) && std::isnan(sum[6]) && sum[7] == inf;  // no bfloat16 is nearer
  };
  CHECK(is_right(summed(nullptr, {given}, false, true)));
  std::vector<float> const zeros(given.size());
  for (int const ranks : {1, 2, 3}) {
    std::atomic<int> right = 0;
    InProcess{ranks}.run([&](Communicator& r) { right += is_right(summed(&r, {given, zeros, zeros}, false, true)); });
    CHECK(right == ranks);
  }
}

TEST_CASE("any number of ranks adds any number of arrays to the bits of one process") {
  for (int const ranks : {1, 2, 3, 4, 5, 7, 8, 13}) {
    for (std::size_t const count : {1, 2, 3, 5, 8, 11, 16, 21}) {
      for (Index const size : {1, 16, 37, 5000}) {
        for (Index const bucket : {0, 16, 112, 2048}) {
          if (bucket > 0 && bucket < size / 64) continue;
          INFO(ranks << " ranks, " << count << " arrays of " << size << " in buckets of " << bucket);
          auto const all = arrays(count, size);
          bool const adds = count % 2 == 0;
          for (bool const rounds : {false, true}) {
            auto const alone = summed(nullptr, all, adds, rounds);
            std::atomic<int> right = 0;
            InProcess{ranks}.run([&](Communicator& r) { right += summed(&r, all, adds, rounds, bucket) == alone; });
            CHECK(right == ranks);
          }
        }
      }
    }
  }
}

TEST_CASE("each rank sends what all others lack, and no more: 2 bytes of each value if it rounds") {
  constexpr Index size = 64 * 16;
  bool const rounds = GENERATE(false, true);
  for (int const ranks : {2, 4, 8}) {
    auto const all = arrays(16, size);
    std::mutex mutex;
    std::vector<std::size_t> sent;
    InProcess{ranks}.run([&](Communicator& r) {
      Counting counting{r};
      TreeSum<float> sum;
      sum.reserve(&counting, 16, size, rounds, 256);
      std::vector<float> total(size);
      sum.begin(total.data(), false);
      sum.wait();
      sum.store();
      std::lock_guard const lock{mutex};
      sent.push_back(counting.sent);
    });
    auto const bytes = static_cast<std::size_t>(2 * size * (ranks - 1) / ranks) * (rounds ? 2 : sizeof(float));
    CHECK(sent == std::vector<std::size_t>(static_cast<std::size_t>(ranks), bytes));
  }
}

TEST_CASE("what has its last values is under way before the rest") {
  InProcess{3}.run([](Communicator& r) {
    Counting counting{r};
    TreeSum<float> sum;
    sum.reserve(&counting, 3, 160, false, 64);  // buckets of 64 and, the first to travel, 32
    std::vector<float> total(160);
    sum.begin(total.data(), false);
    std::vector<std::size_t> begun;
    for (Index const from : {129, 128, 65, 64, 1, 0}) {
      sum.ready(from);
      begun.push_back(counting.begun);
    }
    // Each bucket's terms to and from two others, and as they are over at once, its total.
    CHECK(begun == std::vector<std::size_t>{0, 4, 4, 8, 8, 12});
    sum.wait();
    sum.store();
    CHECK(counting.begun == 12);
  });
}

TEST_CASE("a share is as large as the others, give or take one, and all shares follow each other") {
  for (int ranks = 1; ranks <= 9; ++ranks) {
    for (Index count = 0; count <= 30; ++count) {
      Index end = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        Range const share = share_of(count, rank, ranks);
        CHECK(share.begin == end);
        CHECK((share.count() == count / ranks || share.count() == (count + ranks - 1) / ranks));
        end = share.end;
      }
      CHECK(end == count);
    }
  }
  // 10 samples in parts of 3 on 3 ranks: two parts, one part, and the last part of one sample.
  CHECK(samples_of_rank(10, 3, 0, 3).end == 6);
  CHECK(samples_of_rank(10, 3, 1, 3).end == 9);
  CHECK(samples_of_rank(10, 3, 2, 3).end == 10);
  CHECK(samples_of_rank(2, 3, 2, 3).count() == 0);
}
