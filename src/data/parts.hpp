// The parts of a source that its readers take.
#pragma once

#include <coldpress/data/source.hpp>

#include <algorithm>

namespace coldpress::data {

/// Calls visit(first, count) for all samples in order: whole blocks, or some samples at a time if there are no blocks.
template <class Visit>
void for_each_part(Source const& source, Visit visit, Index at_once = 1024) {
  auto const& blocks = source.description().blocks;
  if (blocks.empty())
    for (Index first = 0; first < source.size(); first += at_once)
      visit(first, std::min(at_once, source.size() - first));
  for (std::size_t i = 1; i < blocks.size(); ++i) visit(blocks[i - 1], blocks[i] - blocks[i - 1]);
}

}  // namespace coldpress::data
