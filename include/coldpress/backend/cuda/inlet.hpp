// Where minibatches come in.
#pragma once

#include <coldpress/backend/cuda/device.hpp>

#include <deque>
#include <span>

namespace coldpress::cuda {

/// What is brought for one pass waits while those before still read their own: two places by turns, or two for each of
/// the passes that are started together.
class Inlet {
 public:
  explicit Inlet(std::shared_ptr<Device> const& device) : device_(device) {}
  float const* bring(std::span<float const> values) {
    auto& [pinned, memory] = next(values);
    pinned.reserve(static_cast<Index>(values.size()));
    std::memcpy(pinned.data(), values.data(), values.size_bytes());
    device_->upload_ahead(memory.data(), pinned.data(), values.size_bytes());
    return memory.data();
  }
  /// Of another device on the same GPU.
  float const* bring(Device& from, std::span<float const> values) {
    auto const& memory = next(values).memory;
    device_->copy(memory.data(), from, values.data(), values.size_bytes());
    return memory.data();
  }
  float const* last() const { return last_ < places_.size() ? places_[last_].memory.data() : nullptr; }

 private:
  struct Place {
    explicit Place(std::shared_ptr<Device> const& device) : pinned(device), memory(device) {}
    PinnedMemory<float> pinned;
    UnsetMemory<float> memory;
  };
  Place& next(std::span<float const> values) {
    last_ = static_cast<std::size_t>(device_->turn());
    while (places_.size() <= last_) places_.emplace_back(device_);
    places_[last_].memory.reserve(static_cast<Index>(values.size()));
    return places_[last_];
  }
  std::shared_ptr<Device> device_;
  std::deque<Place> places_;
  std::size_t last_ = 0;
};

}  // namespace coldpress::cuda
