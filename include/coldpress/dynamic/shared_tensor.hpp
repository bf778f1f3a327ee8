// A tensor that several owners share, as Juice's: it follows where it is read. A weight lives in its network, in a
// layout of the network's own; reading it here brings the canonical values over, writing it sends them back before the
// network runs next. What a pass on a device has made stays there until it is read here; a pass on the same device
// takes it from there.
#pragma once

#include <coldpress/core/shape.hpp>

#include <algorithm>
#include <exception>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace coldpress {
struct ValueFacts;
}

namespace coldpress::dynamic {

class SharedTensor {
 public:
  /// Where the values of a tensor are, too: in a network, whose own they are, or as a copy on a device.
  class Home {
   public:
    virtual ~Home() = default;
    /// Throws DeviceError where a device fails.
    virtual void pull(std::span<float> values) const = 0;
    virtual void push(std::span<float const> values) = 0;
    /// The device that has a copy; empty: the values are a network's.
    virtual std::string_view device() const { return {}; }
    /// Where it has it; empty: no longer.
    virtual std::span<float const> on_device() const { return {}; }
    /// Whether the copy is to be kept when the network that made it goes on.
    virtual void want(bool) {}
    /// What the host has seen of values that no pass writes to; null: it has not, or they may change.
    virtual ValueFacts const* facts() const { return nullptr; }
  };

  /// Zeros of this shape; the batch, where there is one, is its first extent.
  explicit SharedTensor(std::vector<Index> shape) : SharedTensor(std::move(shape), WithoutValues{}) { state_->here(); }

  std::vector<Index> const& shape() const { return state_->shape; }
  Index size() const { return state_->size; }
  /// Another shape for the same values. Throws ShapeError unless equally many.
  void reshape(std::vector<Index> shape) const {
    if (count(shape) != size()) refuse("reshape: got a shape of ", count(shape), " values for a tensor of ", size());
    state_->shape = std::move(shape);
  }
  /// Another shape and size: zeros again. Throws ShapeError for a weight or gradient, whose shape is its network's.
  void resize(std::vector<Index> shape) const {
    require(!state_->home || state_->has_copy(), "resize: a tensor of a network keeps its size");
    *state_ = State{std::move(shape)};
    state_->here();
  }
  /// Throws ShapeError unless this can be a minibatch of samples of `sample` values: whole ones, as many as the first
  /// extent says. A sample alone needs no such extent.
  void check_samples(Index sample) const {
    if (size() % sample != 0)
      refuse("network: the input must be a whole number of samples, at least one: got ", size(),
             " values, expected a multiple of ", sample);
    if (size() != sample && shape()[0] != size() / sample)
      refuse("network: a tensor's first extent must be the number of its samples, ", size() / sample, ", and is ",
             shape()[0]);
  }
  std::span<float const> read() const {
    std::span<float> const values = state_->here();
    if (state_->behind) {
      state_->home->pull(values);
      state_->behind = false, state_->home->want(false);
    }
    return values;
  }
  std::span<float> read_write() const {
    read();
    return write_only();
  }
  /// To be overwritten as a whole.
  std::span<float> write_only() const {
    if (state_->home && state_->has_copy()) state_->home = nullptr;  // which others could not know to be old
    state_->behind = false;
    state_->ahead = state_->home != nullptr;
    return state_->here();
  }

  // For the network that the values belong to, or that has made them.
  /// The host has no memory for them until it reads or writes them.
  static SharedTensor without_values(std::vector<Index> shape) { return {std::move(shape), WithoutValues{}}; }
  void move_in(std::shared_ptr<Home> home) const {
    state_->home = std::move(home), state_->behind = state_->home != nullptr, state_->ahead = false;
  }
  void home_changed() const { state_->behind = true, state_->ahead = false; }
  void send_home() const {
    if (state_->ahead) state_->home->push(state_->here()), state_->ahead = false;
  }
  /// The network goes away; who holds the tensor keeps its values, or is told when he reads them why not.
  void move_out() const noexcept {
    try {
      if (is_shared()) send_home(), read();
      state_->home = nullptr;
    } catch (...) {
      state_->home = std::make_shared<Lost>(std::current_exception());
    }
  }
  /// For what a layer makes anew in every call: another shape, in the same memory, or another tensor where somebody
  /// else holds this one.
  void remake(std::span<Index const> shape) {
    if (is_shared()) {
      *this = without_values({shape.begin(), shape.end()});
    } else if (!std::equal(shape.begin(), shape.end(), state_->shape.begin(), state_->shape.end())) {
      state_->size = count(shape);
      state_->shape.assign(shape.begin(), shape.end());
    }
  }
  /// Where a device has the values; null: nowhere.
  Home* copy() const { return state_->home && !state_->home->on_device().empty() ? state_->home.get() : nullptr; }
  /// Whether a copy is to be kept: unless it was read, or nobody holds the tensor but its layer, which makes another.
  void want_copy(bool makes_another) const {
    if (state_->home) state_->home->want(state_->behind && (is_shared() || !makes_another));
  }
  bool is_shared() const { return state_.use_count() > 1; }
  bool is(SharedTensor const& other) const { return state_ == other.state_; }

 private:
  struct WithoutValues {};
  SharedTensor(std::vector<Index> shape, WithoutValues) : state_(std::make_shared<State>(std::move(shape))) {}
  static Index count(std::span<Index const> shape) {
    Index n = 1;
    for (Index extent : shape) {
      require(extent > 0 && n <= (Index{1} << 40) / extent,
              "shared tensor: extents must be at least 1, and at most 2^40 values");
      n *= extent;
    }
    return n;
  }
  struct Lost final : Home {
    explicit Lost(std::exception_ptr why) : error(std::move(why)) {}
    void pull(std::span<float>) const override { std::rethrow_exception(error); }
    void push(std::span<float const>) override {}
    std::exception_ptr error;
  };
  struct State {
    explicit State(std::vector<Index> extents) : size(count(extents)), shape(std::move(extents)) {}
    /// The host's memory for them, from the first time that they are asked for here.
    std::span<float> here() {
      values.resize(static_cast<std::size_t>(size));
      return values;
    }
    bool has_copy() const { return !home->device().empty(); }
    Index size;
    std::vector<float> values = {};
    std::vector<Index> shape;
    std::shared_ptr<Home> home = nullptr;
    bool behind = false;  // the home has newer values
    bool ahead = false;   // so has the tensor
  };
  std::shared_ptr<State> state_;
};

/// Writes sample number i of a minibatch, whose batch is the first extent; the others keep their values. Throws
/// ShapeError unless there is such a sample, of as many values.
inline void write_batch_sample(SharedTensor const& tensor, std::span<float const> values, Index i) {
  Index const batch = tensor.shape().empty() ? 1 : tensor.shape()[0];
  auto const size = static_cast<std::size_t>(tensor.size() / batch);
  if (i < 0 || i >= batch) refuse("write_batch_sample: there is no sample ", i, "; the tensor has ", batch);
  if (values.size() != size)
    refuse("write_batch_sample: got ", values.size(), " values, expected ", size, ", one sample of the tensor");
  std::copy(values.begin(), values.end(), tensor.read_write().begin() + i * static_cast<Index>(size));
}

}  // namespace coldpress::dynamic
