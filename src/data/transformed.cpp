// A source whose samples are transformed as they are read, and a stream that also augments and mixes them.
#include "transform_chain.hpp"

#include <utility>

namespace coldpress::data {
namespace {

constexpr Index mixed_together = 64;  // samples, which a seek into their middle reads again

Source::Description describe(Source const& source, TransformChain const& chain) {
  Source::Description description = source.description();
  description.sample_shape = chain.sample_shape(), description.target_shape = chain.target_shape();
  return description;
}

class TransformedSource final : public Source {
 public:
  TransformedSource(Source const& source, TransformChain chain)
      : Source(describe(source, chain)), source_(source), chain_(std::move(chain)) {}

  std::unique_ptr<Reader> reader() const override { return std::make_unique<Transforming>(source_, chain_); }

 private:
  class Transforming final : public Reader {
   public:
    Transforming(Source const& source, TransformChain const& chain)
        : chain_(chain),
          reader_(source.reader()),
          sample_(source.sample_shape().size()),
          target_(source.target_shape().size()) {
      chain_.reserve(row_);
    }

    void read(Index first, Index count, float* samples, float* targets) override {
      if (chain_.empty()) return reader_->read(first, count, samples, targets);
      if (samples) samples_.resize(static_cast<std::size_t>(count * sample_));
      targets_.resize(static_cast<std::size_t>(count * target_));
      reader_->read(first, count, samples ? samples_.data() : nullptr, targets_.data());
      row_.sample.clear();
      for (Index i = 0; i < count; ++i) {
        if (samples) row_.sample.assign(samples_.begin() + i * sample_, samples_.begin() + (i + 1) * sample_);
        row_.target.assign(targets_.begin() + i * target_, targets_.begin() + (i + 1) * target_);
        chain_.evaluate(row_, first + i);
        if (samples) samples = std::ranges::copy(row_.sample, samples).out;
        targets = std::ranges::copy(row_.target, targets).out;
      }
    }

   private:
    TransformChain const& chain_;
    std::unique_ptr<Reader> reader_;
    Index sample_, target_;
    std::vector<float> samples_, targets_;  // before
    Row row_;
  };

  Source const& source_;
  TransformChain chain_;
};

/// Transforms the samples of a group, which are mixed with each other, at once; without mixing, a group is a sample.
class AugmentedStream final : public SampleStream {
 public:
  AugmentedStream(std::unique_ptr<SampleStream> stream, Transforms transforms, std::uint64_t seed)
      : stream_(std::move(stream)),
        chain_(std::move(transforms), stream_->sample_shape(), stream_->target_shape()),
        seed_(seed),
        group_(chain_.mixes() ? std::min(mixed_together, stream_->size()) : 1),
        rows_(static_cast<std::size_t>(group_)) {
    if (chain_.mixes()) others_.resize(rows_.size());
    for (auto* rows : {&rows_, &others_})
      for (Row& row : *rows) chain_.reserve(row);
    samples_.resize(static_cast<std::size_t>(group_ * stream_->sample_shape().size()));
    targets_.resize(static_cast<std::size_t>(group_ * stream_->target_shape().size()));
  }

  Shape sample_shape() const override { return chain_.sample_shape(); }
  Shape target_shape() const override { return chain_.target_shape(); }
  Index size() const override { return stream_->size(); }

  void seek(Position position) override { position_ = position; }

  void read(Index count, float* samples, float* targets) override {
    for (; count > 0; --count, ++position_.offset) {
      if (position_.offset == size()) position_ = {position_.epoch + 1, 0};
      Position const first{position_.epoch, position_.offset / group_ * group_};
      if (loaded_ != first) load(first);
      Row const& row = rows_[static_cast<std::size_t>(position_.offset - first.offset)];
      samples = std::ranges::copy(row.sample, samples).out;
      targets = std::ranges::copy(row.target, targets).out;
    }
  }

 private:
  void load(Position first) {
    Index const count = std::min(group_, size() - first.offset);
    Index const sample = stream_->sample_shape().size(), target = stream_->target_shape().size();
    loaded_.reset();
    if (std::exchange(next_, std::nullopt) != first) stream_->seek(first);
    stream_->read(count, samples_.data(), targets_.data());
    next_ = first.offset + count == size() ? Position{first.epoch + 1, 0} : Position{first.epoch, first.offset + count};
    auto const rows = std::span{rows_}.first(static_cast<std::size_t>(count));
    for (Index i = 0; i < count; ++i) {
      rows[static_cast<std::size_t>(i)].sample.assign(samples_.begin() + i * sample,
                                                      samples_.begin() + (i + 1) * sample);
      rows[static_cast<std::size_t>(i)].target.assign(targets_.begin() + i * target,
                                                      targets_.begin() + (i + 1) * target);
    }
    chain_.train(rows, seed_, first, others_);
    loaded_ = first;
  }

  std::unique_ptr<SampleStream> stream_;
  TransformChain chain_;
  std::uint64_t seed_;
  Index group_;
  std::vector<float> samples_, targets_;  // of a group, before
  std::vector<Row> rows_, others_;
  Position position_;
  std::optional<Position> loaded_, next_;  // the group in the rows, and what the stream reads next
};

}  // namespace

void check_arrays(Transforms const& transforms, Source const& source) {
  auto const& arrays = source.description().sample_arrays;
  if (arrays.empty()) return;
  for (std::size_t i = 0; i < transforms.size(); ++i) {
    if (std::holds_alternative<OneHot>(transforms[i])) continue;
    in_transform(i, transforms[i], [&] {
      throw UnsupportedError{"is for samples of one array, and these have " + std::to_string(arrays.size()) +
                             "; put the result into the file, or begin the network with a layer that computes it"};
    });
  }
}

std::unique_ptr<Source> transformed(Source const& source, Transforms transforms) {
  check_arrays(transforms, source);
  return std::make_unique<TransformedSource>(
      source, TransformChain{std::move(transforms), source.sample_shape(), source.target_shape()});
}

std::unique_ptr<SampleStream> augmented(std::unique_ptr<SampleStream> stream, Transforms transforms,
                                        std::uint64_t seed) {
  return std::make_unique<AugmentedStream>(std::move(stream), std::move(transforms), seed);
}

}  // namespace coldpress::data
