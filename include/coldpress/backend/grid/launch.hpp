// The estimate of how many blocks a kernel is started with, and of how these wait for each other.
#pragma once

// A host estimates a pass before it starts the pass, and decides by the rule below. Both depend on shapes alone, and no
// result depends on them.

#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/shape.hpp>

namespace coldpress::grid {

constexpr Index parts(Index count, Index size) { return (count + size - 1) / size; }

/// What a GPU takes, in clocks of a multiprocessor. Barriers were measured on an H100 at 1.98 GHz (docs/gpu.md): 1.4 to
/// 1.5 us through global memory, and 0.5 us in a cluster. Of the 128 multiply-adds per clock in its data sheet, a
/// product of two blocks reached 40. The others are assumptions: each value costs two memory latencies, and a shared
/// memory latency is about 25 clocks.
namespace assumed {
inline constexpr Index multiprocessors = 132, multiply_adds = 40;
inline constexpr Index grid_barrier = 3000, cluster_barrier = 1050;
inline constexpr Index value = 500;  // to read some values per thread, and to write one,
inline constexpr Index near = 50;    // or the same in a block's shared memory
}  // namespace assumed

inline constexpr Index cluster_blocks = 16;        // per cluster at most; more than 8 are not supported everywhere
inline constexpr Index shared_values = 10 * 1024;  // floats that the threads of a block share: 40 of 48 KiB

/// A matrix product, and how many blocks have work in it.
struct ProductBlocks {
  Index count, rows, columns, terms;  // this many products {rows, terms} {terms, columns}
  Index parts;                        // number of parts that the terms of a sum are split into
  Index blocks;
  bool block_local;  // whether every block computes it for samples of its own; `blocks` is then the number of tiles
                     // that a block computes one after another
  constexpr Index multiply_adds() const { return count * rows * columns * terms; }
  bool operator==(ProductBlocks const&) const = default;
};

/// The estimate for a pass.
struct LaunchEstimate {
  Index blocks = 1;  // blocks that have work at the same time
  Index barriers = 0;
  Index by_cluster = 0, by_all = 0;  // clocks until all is done, by the blocks of a cluster or of a GPU, without
                                     // barriers
  Index shared = shared_values;      // floats per block
  Index block_local = 0;             // number of blocks that have samples of their own

  /// Adds a primitive for `count` blocks, each of which takes `clocks`.
  constexpr void add(Index count, Index clocks) {
    blocks = freestanding::max(blocks, count);
    by_cluster += parts(count, cluster_blocks) * clocks, by_all += parts(count, assumed::multiprocessors) * clocks;
  }
  /// The estimate for one kernel that does the work of this one and of the next.
  constexpr LaunchEstimate followed_by(LaunchEstimate const& next) const {
    return {freestanding::max(blocks, next.blocks), barriers + 1 + next.barriers,
            by_cluster + next.by_cluster,           by_all + next.by_all,
            freestanding::max(shared, next.shared), freestanding::max(block_local, next.block_local)};
  }
  constexpr bool fits_cluster() const { return blocks <= cluster_blocks; }
  /// Whether the blocks should form one cluster: if they wait for each other and fit into one, or if a cluster is done
  /// sooner than the whole GPU, whose barriers take longer.
  constexpr bool in_cluster() const {
    return barriers > 0 && blocks > 1 &&
           (fits_cluster() ||
            by_cluster + barriers * assumed::cluster_barrier < by_all + barriers * assumed::grid_barrier);
  }
  bool operator==(LaunchEstimate const&) const = default;
};

}  // namespace coldpress::grid
