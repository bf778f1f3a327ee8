// Where minibatches come in.
#pragma once

#include <coldpress/backend/cuda/device.hpp>

#include <span>

namespace coldpress::cuda {

/// What is brought for one pass waits while the pass before still reads its own: two places, by turns.
class Inlet {
 public:
  explicit Inlet(std::shared_ptr<Device> const& device)
      : device_(device),
        pinned_{PinnedMemory<float>{device}, PinnedMemory<float>{device}},
        memory_{DeviceMemory<float>{device}, DeviceMemory<float>{device}} {}
  float const* bring(std::span<float const> values) {
    last_ = device_->turn();
    auto const size = static_cast<Index>(values.size());
    pinned_[last_].reserve(size), memory_[last_].reserve(size);
    std::memcpy(pinned_[last_].data(), values.data(), values.size_bytes());
    device_->upload_ahead(memory_[last_].data(), pinned_[last_].data(), values.size_bytes());
    return memory_[last_].data();
  }
  float const* last() const { return memory_[last_].data(); }

 private:
  std::shared_ptr<Device> device_;
  PinnedMemory<float> pinned_[2];
  DeviceMemory<float> memory_[2];
  int last_ = 0;
};

}  // namespace coldpress::cuda
