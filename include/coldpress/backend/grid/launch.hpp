// How many blocks a kernel is started with, and how these wait for each other: what a host asks a pass for before it
// starts it, and the rule. Both are of shapes alone, and no result depends on them.
#pragma once

#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/shape.hpp>

namespace coldpress::grid {

constexpr Index parts(Index count, Index size) { return (count + size - 1) / size; }

/// What is assumed of a GPU, in clocks of a multiprocessor. None of it was measured for this: an H100 has by its data
/// sheet 132 multiprocessors at 1.75 GHz with 128 multiply-adds a clock each, of which half are counted on; barriers
/// are said to take 1 to 2 us where they go through memory, and 0.2 to 0.5 us in a cluster, of which these are the
/// middles; a value waits for memory twice, of which shared memory takes some 25 clocks.
namespace assumed {
inline constexpr Index multiprocessors = 132, multiply_adds = 64;
inline constexpr Index grid_barrier = 2600, cluster_barrier = 600;
inline constexpr Index value = 500;  // to read some of each thread, and to write one,
inline constexpr Index near = 50;    // or where all is in a block's shared memory
}  // namespace assumed

inline constexpr Index cluster_blocks = 16;        // of a cluster at most; more than 8 are not everywhere
inline constexpr Index shared_values = 10 * 1024;  // floats that the threads of a block share: 40 of 48 KiB

/// A product, and how many blocks have something to do in it.
struct ProductBlocks {
  Index count, rows, columns, terms;  // so many of {rows, terms} {terms, columns}
  Index parts;                        // that the terms of a sum are cut into
  Index blocks;
  bool apart;  // computed by each block that has samples of its own: `blocks` are its tiles, one after the other
  constexpr Index multiply_adds() const { return count * rows * columns * terms; }
  bool operator==(ProductBlocks const&) const = default;
};

/// What a pass asks for.
struct Demand {
  Index blocks = 1;  // that have something to do at the same time
  Index barriers = 0;
  Index by_cluster = 0, by_all = 0;  // clocks until all is done, by so many blocks, without barriers
  Index shared = shared_values;      // floats of a block
  Index apart = 0;                   // blocks that have samples of their own

  /// A primitive for so many blocks, each of which takes so long.
  constexpr void add(Index count, Index clocks) {
    blocks = freestanding::larger(blocks, count);
    by_cluster += parts(count, cluster_blocks) * clocks, by_all += parts(count, assumed::multiprocessors) * clocks;
  }
  /// Of one kernel, where the next has been another.
  constexpr Demand then(Demand const& next) const {
    return {freestanding::larger(blocks, next.blocks),
            barriers + 1 + next.barriers,
            by_cluster + next.by_cluster,
            by_all + next.by_all,
            freestanding::larger(shared, next.shared),
            freestanding::larger(apart, next.apart)};
  }
  constexpr bool fits_cluster() const { return blocks <= cluster_blocks; }
  /// Whether its blocks are to be one: where they wait for each other and are no more, or where so many are done sooner
  /// than all of a GPU, whose barriers take longer.
  constexpr bool in_cluster() const {
    return barriers > 0 && blocks > 1 &&
           (fits_cluster() ||
            by_cluster + barriers * assumed::cluster_barrier < by_all + barriers * assumed::grid_barrier);
  }
  bool operator==(Demand const&) const = default;
};

}  // namespace coldpress::grid
