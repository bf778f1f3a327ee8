// Orders the samples of each epoch: as they are stored, all shuffled, or shuffled within windows of some blocks.
#include <coldpress/data/sample_stream.hpp>

#include <coldpress/core/random.hpp>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

namespace coldpress::data {
namespace {

constexpr Index usual_bytes_together = Index{32} << 20;

void shuffle_by(RandomStream const& stream, std::span<Index> order, std::uint64_t epoch) {
  std::iota(order.begin(), order.end(), Index{0});
  for (std::size_t i = order.size(); i > 1; --i) {
    auto const block = stream.block(i - 1, epoch);
    // The remainder of 64 bits favours no place by more than a factor of 1 + size / 2^64.
    std::uint64_t const draw = (std::uint64_t{block.words[1]} << 32 | block.words[0]) % i;
    std::swap(order[i - 1], order[draw]);
  }
}

class StreamOfSource : public SampleStream {
 public:
  StreamOfSource(Source const& source, std::optional<std::uint64_t> seed)
      : source_(source),
        reader_(source.reader()),
        seed_(seed),
        sample_(source.sample_shape().size()),
        target_(source.target_shape().size()) {}

  Shape sample_shape() const override { return source_.sample_shape(); }
  Shape target_shape() const override { return source_.target_shape(); }
  Index size() const override { return source_.size(); }

 protected:
  Source const& source_;
  std::unique_ptr<Source::Reader> reader_;
  std::optional<std::uint64_t> seed_;  // nothing: in order
  Index sample_, target_;              // numbers of values
};

/// Reads every sample on its own, where the source allows this.
class DirectStream final : public StreamOfSource {
 public:
  DirectStream(Source const& source, std::optional<std::uint64_t> seed) : StreamOfSource(source, seed) {
    if (!seed_) return;
    order_.resize(static_cast<std::size_t>(size()));
    shuffle(order_, *seed_, 0);
  }

  void seek(Position position) override { position_ = position; }

  void read(Index count, float* samples, float* targets) override {
    if (position_.offset == size()) position_ = {position_.epoch + 1, 0};
    if (!seed_) {
      reader_->read(position_.offset, count, samples, targets);
    } else {
      if (shuffled_epoch_ != position_.epoch) {
        shuffle(order_, *seed_, position_.epoch);
        shuffled_epoch_ = position_.epoch;
      }
      for (Index i = 0; i < count; ++i)
        reader_->read(order_[static_cast<std::size_t>(position_.offset + i)], 1, samples + i * sample_,
                      targets + i * target_);
    }
    position_.offset += count;
  }

 private:
  Position position_;
  std::uint64_t shuffled_epoch_ = 0;
  std::vector<Index> order_;
};

/// Reads blocks into a window whose samples are shuffled together, and meanwhile those of the next window.
class WindowStream final : public StreamOfSource {
 public:
  WindowStream(Source const& source, std::optional<std::uint64_t> seed)
      : StreamOfSource(source, seed), starts_(source.description().blocks) {
    Index largest = 1;
    for (Index i = 0; i < blocks(); ++i) largest = std::max(largest, block_size(i));
    Index const bytes = (sample_ + target_) * static_cast<Index>(sizeof(float));
    Index wanted = source.description().shuffled_together;
    if (wanted == 0) wanted = usual_bytes_together / bytes;
    blocks_together_ = seed ? std::clamp<Index>(wanted / largest, 1, blocks()) : 1;
    windows_ = (blocks() + blocks_together_ - 1) / blocks_together_;
    for (Window* const window : {&current_, &next_}) {
      window->blocks.reserve(static_cast<std::size_t>(blocks_together_));
      if (window == &next_ && windows_ == 1) break;  // the only window is kept and shuffled again
      auto const most = static_cast<std::size_t>(std::min(blocks_together_ * largest, size()));
      if (seed) window->order.reserve(most);
      window->samples.resize(most * static_cast<std::size_t>(sample_));
      window->targets.resize(most * static_cast<std::size_t>(target_));
    }
    block_order_.resize(static_cast<std::size_t>(blocks()));
    order_blocks(0);
    plan(current_, {}, 0, 0);
  }

  void seek(Position position) override {
    position_ = position;
    if (current_.covers(position)) return;
    if (next_.covers(position)) {
      std::swap(current_, next_);
      next_.planned = false;
      return;
    }
    order_blocks(position.epoch);
    Index index = 0, first = 0;
    for (; first + size_of_window(index) <= position.offset; ++index) first += size_of_window(index);
    plan(current_, position.epoch, index, first);
    next_.planned = false;
  }

  void read(Index count, float* samples, float* targets) override {
    while (count > 0) {
      if (!current_.covers(position_)) advance();
      while (current_.loaded < current_.blocks.size()) load(current_);
      Index const inside = position_.offset - current_.first;
      Index const part = std::min(count, current_.size - inside);
      for (Index i = 0; i < part; ++i) {
        Index const from = seed_ ? current_.order[static_cast<std::size_t>(inside + i)] : inside + i;
        samples = std::copy_n(current_.samples.data() + from * sample_, sample_, samples);
        targets = std::copy_n(current_.targets.data() + from * target_, target_, targets);
      }
      position_.offset += part;
      count -= part;
      read_ahead();
    }
  }

 private:
  struct Window {
    std::uint64_t epoch = 0;
    Index index = 0, first = 0, size = 0;  // of its samples in the epoch
    bool planned = false;
    std::vector<Index> blocks, order;
    std::size_t loaded = 0;    // the number of its blocks that were read
    Index loaded_samples = 0;  // their samples
    std::vector<float> samples, targets;

    bool covers(Position position) const {
      return planned && position.epoch == epoch && position.offset >= first && position.offset < first + size;
    }
  };

  Index blocks() const { return static_cast<Index>(starts_.size()) - 1; }
  Index start(Index block) const { return starts_[static_cast<std::size_t>(block)]; }
  Index block_size(Index block) const { return start(block + 1) - start(block); }

  void order_blocks(std::uint64_t epoch) {
    if (seed_ && windows_ > 1) {
      shuffle_by(RandomStream{*seed_, 0, "blocks"}, block_order_, epoch);
    } else {
      std::iota(block_order_.begin(), block_order_.end(), Index{0});
    }
  }
  std::span<Index const> blocks_of_window(Index index) const {
    Index const first = index * blocks_together_;
    return std::span{block_order_}.subspan(static_cast<std::size_t>(first),
                                           static_cast<std::size_t>(std::min(blocks_together_, blocks() - first)));
  }
  Index size_of_window(Index index) const {
    Index size = 0;
    for (Index const block : blocks_of_window(index)) size += block_size(block);
    return size;
  }

  /// The order of blocks must be that of the epoch.
  void plan(Window& window, std::uint64_t epoch, Index index, Index first) {
    bool const kept = window.planned && windows_ == 1;
    window.epoch = epoch, window.index = index, window.first = first;
    window.planned = true;
    if (!kept) {
      auto const all = blocks_of_window(index);
      window.blocks.assign(all.begin(), all.end());
      window.size = size_of_window(index);
      window.loaded = 0, window.loaded_samples = 0;
    }
    if (!seed_) return;
    window.order.resize(static_cast<std::size_t>(window.size));
    if (windows_ == 1) {
      shuffle(window.order, *seed_, epoch);
    } else {
      shuffle_by(RandomStream{*seed_, static_cast<std::uint64_t>(index), "window"}, window.order, epoch);
    }
  }

  void plan_next() {
    if (current_.index + 1 < windows_)
      return plan(next_, current_.epoch, current_.index + 1, current_.first + current_.size);
    order_blocks(current_.epoch + 1);
    plan(next_, current_.epoch + 1, 0, 0);
  }

  void advance() {
    if (position_.offset == size()) position_ = {position_.epoch + 1, 0};
    if (current_.covers(position_)) return;
    if (windows_ == 1) return plan(current_, position_.epoch, 0, 0);
    if (!next_.planned) plan_next();
    std::swap(current_, next_);
    next_.planned = false;
  }

  void load(Window& window) {
    Index const block = window.blocks[window.loaded], count = block_size(block);
    reader_->read(start(block), count, window.samples.data() + window.loaded_samples * sample_,
                  window.targets.data() + window.loaded_samples * target_);
    ++window.loaded, window.loaded_samples += count;
  }

  /// Reads as large a part of the next window as was returned of the current one, so that no call reads much at once.
  void read_ahead() {
    if (windows_ == 1) return;
    if (!next_.planned) plan_next();
    auto const all = static_cast<Index>(next_.blocks.size());
    Index const wanted = (all * (position_.offset - current_.first) + current_.size - 1) / current_.size;
    while (static_cast<Index>(next_.loaded) < wanted) load(next_);
  }

  std::span<Index const> starts_;
  Index blocks_together_ = 1, windows_ = 1;
  std::vector<Index> block_order_;  // of the epoch of the window that was planned last
  Position position_;
  Window current_, next_;
};

std::unique_ptr<SampleStream> make(Source const& source, std::optional<std::uint64_t> seed) {
  if (source.description().blocks.empty()) return std::make_unique<DirectStream>(source, seed);
  return std::make_unique<WindowStream>(source, seed);
}

}  // namespace

void shuffle(std::span<Index> order, std::uint64_t seed, std::uint64_t epoch) {
  shuffle_by(RandomStream{seed, 0, "batches"}, order, epoch);
}

std::unique_ptr<SampleStream> in_order(Source const& source) { return make(source, {}); }
std::unique_ptr<SampleStream> shuffled(Source const& source, std::uint64_t seed) { return make(source, seed); }

}  // namespace coldpress::data
