#include <coldpress/core/random.hpp>

#include "support/catch.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

using namespace coldpress;

namespace {
bool gives(PhiloxBlock<std::uint32_t> counter, std::uint64_t key, std::vector<std::uint32_t> const& wanted) {
  auto const block = philox(counter, key);
  return std::equal(wanted.begin(), wanted.end(), block.words);
}
}  // namespace

// The known-answer vectors of Random123 (tests/kat_vectors, philox4x32 with 10 rounds).
TEST_CASE("philox gives the known answers of Random123") {
  CHECK(gives({{0, 0, 0, 0}}, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  CHECK(gives({{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}}, 0xffffffffffffffff,
              {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  CHECK(gives({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0x299f31d0a4093822,
              {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST_CASE("philox is computed by the compiler too") {
  static constexpr auto block = philox(PhiloxBlock<std::uint32_t>{{0, 0, 0, 0}}, 0);
  STATIC_REQUIRE(block.words[0] == 0x6627e8d5);
}

TEST_CASE("a stream depends on network seed, layer seed and name") {
  std::set<std::uint64_t> keys;
  for (std::uint64_t network : {0, 1, 2}) {
    for (std::uint64_t layer : {0, 1, 42}) {
      for (char const* name : {"", "linear1-0", "linear1-0-bias", "linear2-0"})
        keys.insert(RandomStream{network, layer, name}.key);
    }
  }
  CHECK(keys.size() == 36);
  STATIC_REQUIRE(RandomStream{1, 2, "a"}.key == RandomStream{1, 2, "a"}.key);
}

TEST_CASE("uniform numbers are in [0, 1), and differ by element and step") {
  RandomStream const stream{7, 0, "uniform"};
  double sum = 0, squares = 0;
  int const count = 100000;
  for (int i = 0; i < count; ++i) {
    float const u = stream.uniform(static_cast<std::uint64_t>(i));
    REQUIRE((u >= 0 && u < 1));
    sum += static_cast<double>(u);
    squares += static_cast<double>(u) * static_cast<double>(u);
  }
  CHECK(std::abs(sum / count - 0.5) < 5 / std::sqrt(12.0 * count));
  CHECK(squares / count == Approx(1.0 / 3).epsilon(0.01));
  CHECK(stream.uniform(1) != stream.uniform(2));
  CHECK(stream.uniform(1, 0) != stream.uniform(1, 1));
  CHECK(stream.uniform(1, 1) != stream.uniform(1, (std::uint64_t{1} << 32) + 1));
  CHECK(stream.uniform(1) != stream.uniform((std::uint64_t{1} << 32) + 1));
}
