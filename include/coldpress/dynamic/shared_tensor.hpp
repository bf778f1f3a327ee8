// A tensor that several owners share, as in Juice, and that is copied only where it is read.
#pragma once

// A weight is stored in its network, in the network's own layout. Reading it here copies the canonical values from the
// network; after a write here, they are copied back before the network runs next. The results of a pass on a device
// stay there until they are read here; a pass on the same device uses them directly.

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

/// The extents of a weight as Juice has them, in files and in a layer's tensors: a bias is a row, {1, values}.
inline std::vector<Index> juice_extents(Shape const& weight) {
  std::vector<Index> extents(weight.extents, weight.extents + weight.rank());
  if (extents.size() == 1) extents.insert(extents.begin(), 1);
  return extents;
}

class SharedTensor {
 public:
  /// The other place where the values of a tensor are: in the network that they belong to, or as a copy on a device.
  class Home {
   public:
    virtual ~Home() = default;
    /// Copies the values from here. Throws DeviceError if a device fails.
    virtual void pull(std::span<float> values) const = 0;
    virtual void push(std::span<float const> values) = 0;
    /// The device that has a copy; empty if the values belong to a network.
    virtual std::string_view device() const { return {}; }
    /// The copy on that device; empty if it no longer exists.
    virtual std::span<float const> on_device() const { return {}; }
    /// Says whether to keep the copy when the network that made it runs again.
    virtual void want(bool) {}
    /// What the host knows about values that no pass writes; null if it has not checked them, or if they may change.
    virtual ValueFacts const* facts() const { return nullptr; }
  };

  /// Makes a tensor of zeros with this shape. The batch size, if there is one, is the first extent.
  explicit SharedTensor(std::vector<Index> shape) : SharedTensor(std::move(shape), WithoutValues{}) { state_->here(); }
  // Copies share the values, and moving is copying, so that no tensor is ever without values.
  SharedTensor(SharedTensor const&) = default;
  SharedTensor& operator=(SharedTensor const&) = default;

  std::vector<Index> const& shape() const { return state_->shape; }
  Index size() const { return state_->size; }
  /// Changes the shape and keeps the values. Throws ShapeError unless the new shape has as many values.
  void reshape(std::vector<Index> shape) const {
    if (count(shape) != size()) refuse("reshape: got a shape of ", count(shape), " values for a tensor of ", size());
    state_->shape = std::move(shape);
  }
  /// Changes the shape and sets all values to zero. Throws ShapeError for a weight or a gradient, whose shape is that
  /// of its network.
  void resize(std::vector<Index> shape) const {
    require(!state_->home || state_->has_copy(), "resize: a tensor that belongs to a network cannot change its size");
    *state_ = State{std::move(shape)};
    state_->here();
  }
  /// Throws ShapeError unless this is a minibatch of samples of `sample` values: a whole number of them, which must be
  /// the first extent. A single sample does not need that extent.
  void check_samples(Index sample) const {
    if (size() % sample != 0)
      refuse("network: the input must be a whole number of samples, at least one: got ", size(),
             " values, expected a multiple of ", sample);
    if (size() != sample && shape()[0] != size() / sample)
      refuse("network: a tensor's first extent must be the number of its samples, ", size() / sample, ", but is ",
             shape()[0]);
  }
  /// The values, which are copied from their home first if that has newer ones. Throws DeviceError if a device fails.
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
  /// Memory that must be overwritten completely.
  std::span<float> write_only() const {
    if (state_->home && state_->has_copy()) state_->home = nullptr;  // others could not know that it is outdated
    state_->behind = false;
    state_->ahead = state_->home != nullptr;
    return state_->here();
  }

  // For the network that the values belong to or that has computed them.
  /// A tensor for which the host allocates no memory until it reads or writes it.
  static SharedTensor without_values(std::vector<Index> shape) { return {std::move(shape), WithoutValues{}}; }
  void move_in(std::shared_ptr<Home> home) const {
    state_->home = std::move(home), state_->behind = state_->home != nullptr, state_->ahead = false;
  }
  void home_changed() const { state_->behind = true, state_->ahead = false; }
  void send_home() const {
    if (state_->ahead) state_->home->push(state_->here()), state_->ahead = false;
  }
  /// The network is being destroyed. A tensor that is still held retains its values; if they cannot be copied, reading
  /// it throws the reason.
  void move_out() const noexcept {
    try {
      if (is_shared()) send_home(), read();
      state_->home = nullptr;
    } catch (...) {
      state_->home = std::make_shared<Lost>(std::current_exception());
    }
  }
  /// Prepares the tensor for the results of the next call: it gets the new shape in the same memory, or is replaced by
  /// another tensor if the caller still holds it.
  void remake(std::span<Index const> shape) {
    if (is_shared()) {
      *this = without_values({shape.begin(), shape.end()});
    } else if (!std::equal(shape.begin(), shape.end(), state_->shape.begin(), state_->shape.end())) {
      state_->size = count(shape);
      state_->shape.assign(shape.begin(), shape.end());
    }
  }
  /// The home of a copy on a device; null if there is none.
  Home* copy() const { return state_->home && !state_->home->on_device().empty() ? state_->home.get() : nullptr; }
  /// Tells the home whether to keep the copy: yes, unless it was read, or only the layer holds the tensor and makes
  /// another.
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
    /// The values in the host's memory, which is allocated at the first call.
    std::span<float> here() {
      values.resize(static_cast<std::size_t>(size));
      return values;
    }
    bool has_copy() const { return !home->device().empty(); }
    Index size;
    std::vector<float> values = {};
    std::vector<Index> shape;
    std::shared_ptr<Home> home = nullptr;
    bool behind = false;  // the home has newer values than the host
    bool ahead = false;   // the host has newer values than the home
  };
  std::shared_ptr<State> state_;
};

/// Writes sample i of a minibatch, whose batch size is the first extent. The other samples keep their values. Throws
/// ShapeError unless there is such a sample, with as many values.
inline void write_batch_sample(SharedTensor const& tensor, std::span<float const> values, Index i) {
  Index const batch = tensor.shape().empty() ? 1 : tensor.shape()[0];
  auto const size = static_cast<std::size_t>(tensor.size() / batch);
  if (i < 0 || i >= batch) refuse("write_batch_sample: there is no sample ", i, "; the tensor has ", batch);
  if (values.size() != size)
    refuse("write_batch_sample: got ", values.size(), " values, expected ", size, ", one sample of the tensor");
  std::copy(values.begin(), values.end(), tensor.read_write().begin() + i * static_cast<Index>(size));
}

}  // namespace coldpress::dynamic
