// Counts of what devices do.
#pragma once

#include <coldpress/backend/cuda/device.hpp>

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
    return {now.allocations - then.allocations, now.uploads - then.uploads, now.downloads - then.downloads,
            now.copies - then.copies,           now.waits - then.waits,     now.graphs - then.graphs,
            now.launches - then.launches,       now.kernels - then.kernels, now.library_calls - then.library_calls,
            now.blocks - then.blocks,           now.patches - then.patches};
  }
  Numbers then = all();
};

}  // namespace coldpress::test
