// A tensor that several owners share, as Juice's: it follows where it is read. A weight lives in its network, in a
// layout of the network's own; reading it here brings the canonical values over, writing it sends them back before the
// network runs next.
#pragma once

#include <coldpress/core/shape.hpp>

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

namespace coldpress::dynamic {

class SharedTensor {
 public:
  /// Where the values of a tensor really are.
  class Home {
   public:
    virtual void pull(std::span<float> values) const = 0;
    virtual void push(std::span<float const> values) = 0;

   protected:
    ~Home() = default;
  };

  /// Zeros of this shape; the batch, where there is one, is its first extent.
  explicit SharedTensor(std::vector<Index> shape) : state_(std::make_shared<State>(std::move(shape))) {}

  std::vector<Index> const& shape() const { return state_->shape; }
  Index size() const { return static_cast<Index>(state_->values.size()); }
  /// Another shape for the same values. Throws ShapeError unless equally many.
  void reshape(std::vector<Index> shape) const {
    require(count(shape) == size(), "reshape: the shapes must have equally many values");
    state_->shape = std::move(shape);
  }
  /// Another shape and size: zeros again. Throws ShapeError for a weight or gradient, whose shape is its network's.
  void resize(std::vector<Index> shape) const {
    require(!state_->home, "resize: a tensor of a network keeps its size");
    *state_ = State{std::move(shape)};
  }
  /// Throws ShapeError unless this can be a minibatch of samples of `sample` values: whole ones, as many as the first
  /// extent says. A sample alone needs no such extent.
  void check_samples(Index sample) const {
    require(size() % sample == 0, "network: the input must be a whole number of samples, at least one");
    require(size() == sample || shape()[0] == size() / sample,
            "network: a tensor's first extent must be the number of its samples");
  }
  std::span<float const> read() const {
    if (state_->behind) state_->home->pull(state_->values), state_->behind = false;
    return state_->values;
  }
  std::span<float> read_write() const {
    read();
    return write_only();
  }
  /// To be overwritten as a whole.
  std::span<float> write_only() const {
    state_->behind = false;
    state_->ahead = state_->home != nullptr;
    return state_->values;
  }

  // For the network that the values belong to.
  void move_in(Home* home) const { state_->home = home, state_->behind = home != nullptr; }
  void home_changed() const { state_->behind = true, state_->ahead = false; }
  /// The home goes on to other values: who else holds the tensor has these first.
  void home_goes_on() const {
    if (state_.use_count() > 1) read();
  }
  void send_home() const {
    if (state_->ahead) state_->home->push(state_->values), state_->ahead = false;
  }
  /// The network goes away; who holds the tensor keeps its values.
  void move_out() const {
    if (state_.use_count() > 1) send_home(), read();
    state_->home = nullptr;
  }
  /// For what a layer makes anew in every call: another shape, in the same memory unless somebody else holds the
  /// tensor.
  void remake(std::span<Index const> shape) {
    if (std::equal(shape.begin(), shape.end(), state_->shape.begin(), state_->shape.end())) return;
    if (state_.use_count() > 1) {
      *this = SharedTensor{{shape.begin(), shape.end()}};
    } else {
      state_->values.resize(static_cast<std::size_t>(count(shape)));
      state_->shape.assign(shape.begin(), shape.end());
    }
  }
  bool is(SharedTensor const& other) const { return state_ == other.state_; }

 private:
  static Index count(std::span<Index const> shape) {
    Index n = 1;
    for (Index extent : shape) {
      require(extent > 0 && n <= (Index{1} << 40) / extent,
              "shared tensor: extents must be at least 1, and at most 2^40 values");
      n *= extent;
    }
    return n;
  }
  struct State {
    explicit State(std::vector<Index> extents)
        : values(static_cast<std::size_t>(count(extents))), shape(std::move(extents)) {}
    std::vector<float> values;
    std::vector<Index> shape;
    Home* home = nullptr;
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
  require(i >= 0 && i < batch, "write_batch_sample: there is no sample of this number");
  require(values.size() == size, "write_batch_sample: a sample must have as many values as the tensor's shape says");
  std::copy(values.begin(), values.end(), tensor.read_write().begin() + i * static_cast<Index>(size));
}

}  // namespace coldpress::dynamic
