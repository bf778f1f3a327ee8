// Data sets whose samples are numbered, in memory and in blocks.
#pragma once

#include <coldpress/data/source.hpp>

#include <atomic>

/// Samples (3i, 3i + 1, 3i + 2) with the targets (2i, 2i + 1).
inline coldpress::data::Dataset numbered(coldpress::Index size) {
  coldpress::data::Dataset dataset{{{3}}, {{2}}, {}, {}};
  for (coldpress::Index i = 0; i < size; ++i) {
    for (coldpress::Index j = 0; j < 3; ++j) dataset.samples.push_back(static_cast<float>(3 * i + j));
    for (coldpress::Index j = 0; j < 2; ++j) dataset.targets.push_back(static_cast<float>(2 * i + j));
  }
  return dataset;
}

/// The same, which can only be read in whole blocks. It counts these, and fails where it is told to.
class InBlocks final : public coldpress::data::Source {
 public:
  InBlocks(coldpress::Index size, std::vector<coldpress::Index> blocks, coldpress::Index together)
      : Source({{3}, {2}, size, {}, std::move(blocks), together}), dataset_(numbered(size)) {}

  std::unique_ptr<Reader> reader() const override { return std::make_unique<Counting>(*this); }

  mutable std::atomic<int> reads = 0;
  std::atomic<coldpress::Index> fails_at = -1;  // the first sample of the block that cannot be read

 private:
  struct Counting final : Reader {
    explicit Counting(InBlocks const& of) : source(of), memory(borrow(of.dataset_)), inner(memory->reader()) {}
    void read(coldpress::Index first, coldpress::Index count, float* samples, float* targets) override {
      auto const& blocks = source.description().blocks;
      bool whole = false;
      for (std::size_t i = 1; i < blocks.size(); ++i)
        whole = whole || (blocks[i - 1] == first && blocks[i] == first + count);
      if (!whole) throw coldpress::ConfigError{"not a block"};
      if (first == source.fails_at) throw coldpress::DataError{"block " + std::to_string(first) + " is broken"};
      ++source.reads;
      inner->read(first, count, samples, targets);
    }
    InBlocks const& source;
    std::unique_ptr<Source> memory;
    std::unique_ptr<Reader> inner;
  };
  coldpress::data::Dataset dataset_;
};
