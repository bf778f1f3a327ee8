#include "cuda/barriers.hpp"

#include <coldpress/cuda.hpp>

#include <chrono>

namespace coldpress::test {

/// What value `at` is in a round.
constexpr float value_of(Index round, Index at) {
  return static_cast<float>((static_cast<std::uint32_t>(round) * 40503u + static_cast<std::uint32_t>(at)) % 8388593u);
}

struct Waiting {
  float* values;         // two rows of `width`: of the round before, and of this one
  std::uint32_t* wrong;  // of each place
  Index width, count, blocks;
  bool waits, checks;

  constexpr void operator()(Grid const& grid) const {
    auto const kind = waits ? grid::Kind::values : grid::Kind::updates;  // between updates there is no barrier
    if (!checks) {
      for (Index round = 1; round <= count; ++round) {
        grid.each(
            1, [](Index) {}, kind);
      }
      return;
    }
    grid.each(
        width, [&](Index i) { values[i] = value_of(0, i); }, kind);
    for (Index round = 1; round <= count; ++round) {
      float const* const before = values + (round + 1) % 2 * width;
      float* const now = values + round % 2 * width;
      grid.each(
          width,
          [&](Index i) {
            Index const other = grid::remainder(i + round * 257, width);
            if (before[other] != value_of(round - 1, other)) ++wrong[i];
            now[i] = value_of(round, i);
          },
          kind);
    }
  }
  /// It is not to be played for this: it takes a while.
  grid::LaunchEstimate estimate() const {
    grid::LaunchEstimate asked;
    asked.blocks = blocks, asked.barriers = waits ? count : 0;
    return asked;
  }
};

namespace {
struct ByNvcc {};
}  // namespace

Outcome play(std::string const& name, Rounds const& rounds) {
  auto const device = cuda::open_device(name);
  device->clusters = rounds.cluster;
  cuda::DeviceMemory<float> values{device};
  cuda::DeviceMemory<std::uint32_t> wrong{device};
  values.reserve(2 * rounds.width), wrong.reserve(rounds.width);
  auto const start = [&](Index count) {
    cuda::launch_by<ByNvcc>(
        *device, device->grid(),
        Waiting{values.data(), wrong.data(), rounds.width, count, rounds.blocks, rounds.waits, rounds.checks});
    std::vector<std::uint32_t> all(static_cast<std::size_t>(rounds.width));
    device->download(all.data(), wrong.data(), all.size() * sizeof(std::uint32_t));
    Index sum = 0;
    for (std::uint32_t number : all) sum += number;
    return sum;
  };
  Index const before = start(1);  // what is loaded when a kernel is first started
  Index const blocks = cuda::counts().blocks, clusters = cuda::counts().clusters;
  auto const begin = std::chrono::steady_clock::now();
  Index const after = start(rounds.count);
  std::chrono::duration<double, std::micro> const took = std::chrono::steady_clock::now() - begin;
  return {cuda::counts().blocks - blocks, cuda::counts().clusters > clusters, rounds.checks ? after - before : 0,
          took.count() / static_cast<double>(rounds.count)};
}

}  // namespace coldpress::test
