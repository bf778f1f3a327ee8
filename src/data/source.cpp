// Data sets as sources, and parts of a source: chosen rows, and samples that are held out.
#include <coldpress/data/source.hpp>

#include "held_out.hpp"
#include "parts.hpp"

#include <coldpress/core/counted.hpp>
#include <coldpress/core/layer.hpp>
#include <coldpress/core/to_string.hpp>
#include <coldpress/data/sample_stream.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace coldpress::data {
namespace {

float* at(float* values, Shape const& shape, Index i) { return values ? values + i * shape.size() : nullptr; }

Source::Description describe(Dataset const& dataset) {
  check(dataset);
  return {dataset.sample_shape, dataset.target_shape, dataset.size(), dataset.classes, {}, 0};
}

class MemoryReader final : public Source::Reader {
 public:
  explicit MemoryReader(Dataset const& dataset)
      : dataset_(dataset), sample_(dataset.sample_shape.size()), target_(dataset.target_shape.size()) {}
  void read(Index first, Index count, float* samples, float* targets) override {
    if (samples) std::copy_n(dataset_.samples.data() + first * sample_, count * sample_, samples);
    std::copy_n(dataset_.targets.data() + first * target_, count * target_, targets);
  }

 private:
  Dataset const& dataset_;
  Index sample_, target_;
};

class BorrowedSource final : public Source {
 public:
  explicit BorrowedSource(Dataset const& dataset) : Source(describe(dataset)), dataset_(dataset) {}
  std::unique_ptr<Reader> reader() const override { return std::make_unique<MemoryReader>(dataset_); }

 private:
  Dataset const& dataset_;
};

class OwningSource final : public Source {
 public:
  explicit OwningSource(Dataset dataset) : Source(describe(dataset)), dataset_(std::move(dataset)) {}
  std::unique_ptr<Reader> reader() const override { return std::make_unique<MemoryReader>(dataset_); }

 private:
  Dataset dataset_;
};

/// The blocks of a subset: what is left of each block of the whole, without those of which nothing is left.
std::vector<Index> blocks_of(std::vector<Index> const& whole, std::vector<Index> const& rows) {
  std::vector<Index> blocks;
  for (Index const begin : whole) {
    Index const first = std::ranges::lower_bound(rows, begin) - rows.begin();
    if (blocks.empty() || blocks.back() != first) blocks.push_back(first);
  }
  return blocks;
}

Source::Description describe(Source const& source, std::vector<Index> const& rows) {
  Source::Description description = source.description();
  bool const ascending = std::ranges::adjacent_find(rows, std::ranges::greater_equal{}) == rows.end();
  if (rows.empty() || !ascending || rows.front() < 0 || rows.back() >= description.size)
    throw ConfigError{"a subset of " + counted(description.size, "sample") + " is given by " +
                      std::to_string(rows.size()) + " numbers, expected at least one, in ascending order"};
  description.size = static_cast<Index>(rows.size());
  description.blocks = blocks_of(description.blocks, rows);
  return description;
}

class Subset final : public Source {
 public:
  Subset(Source const& source, std::vector<Index> rows)
      : Source(describe(source, rows)), source_(source), rows_(std::move(rows)) {}

  std::unique_ptr<Source::Reader> reader() const override { return std::make_unique<Picking>(source_, rows_); }

 private:
  class Picking final : public Source::Reader {
   public:
    Picking(Source const& source, std::vector<Index> const& rows)
        : source_(source), rows_(rows), reader_(source.reader()) {}

    void read(Index first, Index count, float* samples, float* targets) override {
      Shape const &sample = source_.sample_shape(), &target = source_.target_shape();
      auto const& blocks = source_.description().blocks;
      if (blocks.empty()) {
        for (Index i = 0; i < count; ++i)
          reader_->read(row(first + i), 1, at(samples, sample, i), at(targets, target, i));
        return;
      }
      for (Index done = 0; done < count;) {
        auto const end = std::ranges::upper_bound(blocks, row(first + done));
        Index const begin = end[-1], size = *end - begin;
        if (samples) samples_.resize(std::max(samples_.size(), static_cast<std::size_t>(size * sample.size())));
        targets_.resize(std::max(targets_.size(), static_cast<std::size_t>(size * target.size())));
        reader_->read(begin, size, samples ? samples_.data() : nullptr, targets_.data());
        for (; done < count && row(first + done) < *end; ++done) {
          Index const from = row(first + done) - begin;
          if (samples) std::copy_n(at(samples_.data(), sample, from), sample.size(), at(samples, sample, done));
          std::copy_n(at(targets_.data(), target, from), target.size(), at(targets, target, done));
        }
      }
    }

   private:
    Index row(Index i) const { return rows_[static_cast<std::size_t>(i)]; }

    Source const& source_;
    std::vector<Index> const& rows_;
    std::unique_ptr<Reader> reader_;
    std::vector<float> samples_, targets_;  // a block of the whole
  };

  Source const& source_;
  std::vector<Index> rows_;
};

/// The label of each sample.
std::vector<Index> labels_of(Source const& source) {
  if (source.target_shape().size() != 1)
    throw DataError{"the targets have shape " + to_string(source.target_shape()) + ", expected labels"};
  std::vector<float> const values = targets_of(source);
  std::vector<Index> labels;
  labels.reserve(values.size());
  for (float const value : values) {
    if (!is_label(value, most_classes))
      throw DataError{"the target of sample " + std::to_string(labels.size()) + " is " + std::to_string(value) +
                      ", expected a label: a whole number from 0 on"};
    labels.push_back(static_cast<Index>(value));
  }
  return labels;
}

/// How many samples of each label are held out, so that they are `wanted` in all: the exact shares rounded down, and
/// one more for those whose remainders are largest.
std::map<Index, Index> quotas(std::vector<Index> const& labels, Index wanted) {
  std::map<Index, Index> quota;
  for (Index const label : labels) ++quota[label];
  auto const all = static_cast<Index>(labels.size());
  std::vector<std::pair<double, Index>> remainders;  // negative, and the label
  Index given = 0;
  for (auto& [label, count] : quota) {
    double const exact = static_cast<double>(count) * static_cast<double>(wanted) / static_cast<double>(all);
    count = std::min(count, static_cast<Index>(exact));
    remainders.push_back({static_cast<double>(count) - exact, label});
    given += count;
  }
  std::ranges::sort(remainders);
  for (std::size_t i = 0; given < wanted; ++i, ++given) ++quota[remainders[i].second];
  return quota;
}

}  // namespace

Source::Source(Description description) : description_(std::move(description)) {
  if (description_.size < 1) throw ShapeError{"the data set has no samples"};
  auto const& blocks = description_.blocks;
  if (!blocks.empty() && (blocks.front() != 0 || blocks.back() != description_.size ||
                          std::ranges::adjacent_find(blocks, std::ranges::greater_equal{}) != blocks.end()))
    throw ConfigError{"the blocks of a source do not cover its " + std::to_string(description_.size) + " samples"};
}

std::unique_ptr<Source> borrow(Dataset const& dataset) { return std::make_unique<BorrowedSource>(dataset); }
std::unique_ptr<Source> own(Dataset dataset) { return std::make_unique<OwningSource>(std::move(dataset)); }

Dataset load(Source const& source) {
  Dataset dataset{source.sample_shape(), source.target_shape(), {}, {}, source.description().classes};
  dataset.samples.resize(static_cast<std::size_t>(source.size() * source.sample_shape().size()));
  dataset.targets.resize(static_cast<std::size_t>(source.size() * source.target_shape().size()));
  auto const reader = source.reader();
  for_each_part(source, [&](Index first, Index count) {
    reader->read(first, count, at(dataset.samples.data(), source.sample_shape(), first),
                 at(dataset.targets.data(), source.target_shape(), first));
  });
  return dataset;
}

std::vector<float> targets_of(Source const& source) {
  std::vector<float> targets(static_cast<std::size_t>(source.size() * source.target_shape().size()));
  auto const reader = source.reader();
  for_each_part(source, [&](Index first, Index count) {
    reader->read(first, count, nullptr, at(targets.data(), source.target_shape(), first));
  });
  return targets;
}

std::unique_ptr<Source> subset(Source const& source, std::vector<Index> rows) {
  return std::make_unique<Subset>(source, std::move(rows));
}

SourceSplit split(Source const& source, double fraction, std::uint64_t seed, bool stratified) {
  Index const size = source.size(), wanted = held_out_count(size, fraction);
  std::vector<Index> order(static_cast<std::size_t>(size));
  shuffle(order, seed, epoch_of_splits);
  std::vector<Index> held_out, training;
  if (stratified) {
    std::vector<Index> const labels = labels_of(source);
    auto quota = quotas(labels, wanted);
    for (Index const row : order) {
      Index& left = quota[labels[static_cast<std::size_t>(row)]];
      (left > 0 ? held_out : training).push_back(row);
      left -= left > 0;
    }
  } else {
    held_out.assign(order.begin(), order.begin() + wanted);
    training.assign(order.begin() + wanted, order.end());
  }
  std::ranges::sort(held_out);
  std::ranges::sort(training);
  return {subset(source, std::move(training)), subset(source, std::move(held_out))};
}

}  // namespace coldpress::data
