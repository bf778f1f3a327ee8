// Counts of what devices do.
#pragma once

#include <coldpress/cuda/device.hpp>

namespace coldpress::test {

/// What devices are asked for from here on.
struct Since {
  struct Numbers {
    Index allocations, uploads, downloads, copies, waits, graphs, launches, kernels, library_calls, blocks, patches;
  };
  static Numbers all() {
    auto const& c = cuda::counts();
    return {c.allocations, c.uploads, c.downloads,     c.copies, c.waits,  c.graphs,
            c.launches,    c.kernels, c.library_calls, c.blocks, c.patches};
  }
  Numbers operator()() const {
    Numbers const now = all();
    return {now.allocations - post_ops.allocations,
            now.uploads - post_ops.uploads,
            now.downloads - post_ops.downloads,
            now.copies - post_ops.copies,
            now.waits - post_ops.waits,
            now.graphs - post_ops.graphs,
            now.launches - post_ops.launches,
            now.kernels - post_ops.kernels,
            now.library_calls - post_ops.library_calls,
            now.blocks - post_ops.blocks,
            now.patches - post_ops.patches};
  }
  Numbers post_ops = all();
};

}  // namespace coldpress::test
