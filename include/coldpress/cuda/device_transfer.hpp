// Transfers values between the host's memory and a GPU's.
#pragma once

#include <coldpress/cuda/device_values.hpp>

#include <cstring>
#include <deque>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

namespace coldpress::cuda {

/// Memory on the device for the inputs of passes. While earlier passes still read their inputs, the next are written to
/// another place: there are two places, used alternately, for each of the passes that are started together.
class StagingBuffer {
 public:
  explicit StagingBuffer(std::shared_ptr<Device> const& device) : device_(device) {}
  float const* bring(std::span<float const> values) {
    auto& [pinned, memory] = next(values);
    pinned.reserve(static_cast<Index>(values.size()));
    std::memcpy(pinned.data(), values.data(), values.size_bytes());
    device_->upload_ahead(memory.data(), pinned.data(), values.size_bytes());
    return memory.data();
  }
  /// Brings values from another device object on the same GPU.
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
    last_ = static_cast<std::size_t>(device_->launch_slot());
    while (places_.size() <= last_) places_.emplace_back(device_);
    places_[last_].memory.reserve(static_cast<Index>(values.size()));
    return places_[last_];
  }
  std::shared_ptr<Device> device_;
  std::deque<Place> places_;
  std::size_t last_ = 0;
};

/// The counterpart of HostTransfer (run/host_transfer.hpp) for a GPU, except for the way that passes are started.
class DeviceTransfer {
 public:
  explicit DeviceTransfer(std::shared_ptr<Device> device) : device_(std::move(device)) {}
  Device& device() const { return *device_; }

  template <class T, class Batch, Index>
  using Memory = DeviceMemory<T>;
  template <class T, class Batch, Index, bool zeroed>
  using Workspace = std::conditional_t<zeroed, DeviceMemory<T>, UnsetMemory<T>>;
  template <class T, int count>
  struct Numbers : DeviceMemory<T> {
    explicit Numbers(std::shared_ptr<Device> const& device) : DeviceMemory<T>(device) {
      if (count > 0) this->reserve(count);
    }
  };
  template <class M>
  M memory() const {
    return M{device_};
  }
  template <class M>
  void clear(M& memory) const {
    if (memory.size() > 0)
      device_->clear(memory.data(), static_cast<std::size_t>(memory.size()) * sizeof(*memory.data()));
  }
  template <class T, class F>
  void read(T const* values, Index size, F f) const {
    f(static_cast<T const*>(downloaded(values, size).data()));
  }
  template <class T, class F>
  void change(T* values, Index size, F f) const {
    std::vector<T> copy = downloaded(values, size);
    f(copy.data());
    if (size > 0) device_->upload(values, copy.data(), copy.size() * sizeof(T));
  }

  template <class T>
  using Given = cuda::Given<T>;
  template <class T>
  DeviceValues<T> upload(std::span<T const> values) const {
    return {device_, values};
  }
  /// Inputs are uploaded before each pass unless they are on the device already; outputs are downloaded when first
  /// read.
  template <class T>
  class Buffers {
    static_assert(std::is_same_v<T, float>);

   public:
    explicit Buffers(DeviceTransfer const& transfer) : device_(transfer.device_) {}
    float const* bring(cuda::Given<float> const& values, std::size_t place) {
      if (values.empty()) return nullptr;
      Place& at = at_place(place);
      at.uploaded = values.there;
      if (!values.there) return at.staging.bring(values.here);
      if (&values.there.device() != device_.get())
        throw UnsupportedError{"'" + device_->name() +
                               "': these values were uploaded for another network; upload them with this one"};
      return values.there.address();
    }
    /// Brings values from another device object on the same GPU.
    float const* bring(Device& from, std::span<float const> values, std::size_t place) {
      Place& at = at_place(place);
      at.uploaded = {};
      return at.staging.bring(from, values);
    }
    float const* brought(std::span<float const>, std::size_t place) const {
      if (place >= places_.size()) return nullptr;
      if (places_[place].uploaded) return places_[place].uploaded.address();
      device_->read_again();
      return places_[place].staging.last();
    }
    std::span<float const> fetch(std::span<float const> values, std::size_t place) const {
      if (values.empty()) return {};
      Place& at = at_place(place);
      if (!at.is_fetched) {
        at.fetched.resize(values.size());
        device_->download(at.fetched.data(), values.data(), values.size_bytes());
        at.is_fetched = true;
      }
      return at.fetched;
    }
    void forget() {
      for (Place& at : places_) at.is_fetched = false;
    }
    void forget(std::size_t place) {
      if (place < places_.size()) places_[place].is_fetched = false;
    }

   private:
    struct Place {
      explicit Place(std::shared_ptr<Device> const& device) : staging(device) {}
      StagingBuffer staging;
      DeviceValues<float> uploaded;  // used instead of `staging` if not empty
      std::vector<float> fetched;
      bool is_fetched = false;
    };
    Place& at_place(std::size_t place) const {
      while (places_.size() <= place) places_.emplace_back(device_);
      return places_[place];
    }
    std::shared_ptr<Device> device_;
    mutable std::deque<Place> places_;
  };

 protected:
  template <class T>
  std::vector<T> downloaded(T const* values, Index size) const {
    std::vector<T> copy(static_cast<std::size_t>(size));
    if (size > 0) device_->download(copy.data(), values, copy.size() * sizeof(T));
    return copy;
  }
  std::shared_ptr<Device> device_;
};

}  // namespace coldpress::cuda
