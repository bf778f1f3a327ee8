// The copy of a tensor on a device: the result of a pass, or values that were uploaded to stay there.
#pragma once

#include <coldpress/cuda/device_values.hpp>
#include <coldpress/dynamic/shared_tensor.hpp>

#include <algorithm>
#include <list>

namespace coldpress::dynamic {

/// The base class of all homes on a device.
class DeviceHome : public SharedTensor::Home {
 public:
  explicit DeviceHome(std::shared_ptr<cuda::Device> device) : device_(std::move(device)) {}
  cuda::Device& owner() const { return *device_; }
  std::string_view device() const override { return device_->name(); }
  void push(std::span<float const>) override {}  // a tensor that is written releases its copy

 protected:
  std::shared_ptr<cuda::Device> device_;
};

/// Values that no pass writes to.
class UploadedHome final : public DeviceHome {
 public:
  UploadedHome(std::shared_ptr<cuda::Device> const& device, std::span<float const> values)
      : DeviceHome(device), values_(device, values) {}
  cuda::DeviceValues<float> const& values() const { return values_; }
  void pull(std::span<float> values) const override {
    device_->download(values.data(), values_.address(), values.size_bytes());
  }
  std::span<float const> on_device() const override { return {values_.address(), values_.size()}; }
  ValueFacts const* facts() const override { return &values_.facts(); }

 private:
  cuda::DeviceValues<float> values_;
};

/// The result of a pass. At first it is in the memory where the pass stored it. When its network runs again or is
/// destroyed, it is moved to memory of its own.
class DeviceCopy final : public DeviceHome {
 public:
  /// Memory that earlier copies have released.
  using Spares = std::list<cuda::DeviceMemory<float>>;

  DeviceCopy(std::shared_ptr<cuda::Device> device, std::shared_ptr<Spares> spares)
      : DeviceHome(std::move(device)), spares_(std::move(spares)) {}
  ~DeviceCopy() override {
    if (spares_->size() < most_spares) spares_->splice(spares_->end(), own_);
  }
  void lend(std::span<float const> values) {
    values_ = values, lent_ = wanted_ = true;
    made_by_ = device_->next_start();
  }
  /// Called when the borrowed memory is about to be overwritten.
  void settle() {
    if (!lent_) return;
    if (wanted_ && !is_lost()) {
      move_out();
    } else {
      values_ = {};
    }
    lent_ = false;
  }
  /// The same when the network is destroyed. If it fails, the error is thrown when the values are read.
  void settle_for_good() noexcept {
    try {
      settle();
    } catch (...) {
      values_ = {}, lent_ = false, error_ = std::current_exception();
    }
  }

  void pull(std::span<float> values) const override {
    if (error_) std::rethrow_exception(error_);
    if (values_.empty() || is_lost())
      throw DeviceError{"'" + device_->name() + "': this tensor was lost because the pass that computed it failed"};
    device_->download(values.data(), values_.data(), values_.size_bytes());
  }
  std::span<float const> on_device() const override { return values_; }
  void want(bool wanted) override { wanted_ = wanted; }

 private:
  static constexpr std::size_t most_spares = 8;
  bool is_lost() const { return lent_ && device_->has_failed(made_by_); }
  void move_out() {
    auto const size = static_cast<Index>(values_.size());
    auto const spare =
        std::find_if(spares_->begin(), spares_->end(), [&](auto const& memory) { return memory.size() >= size; });
    if (own_.empty() && spare != spares_->end()) own_.splice(own_.end(), *spares_, spare);
    if (own_.empty()) own_.emplace_back(device_);
    own_.front().reserve(size);
    device_->copy(own_.front().data(), *device_, values_.data(), values_.size_bytes());
    values_ = {own_.front().data(), values_.size()};
  }
  std::shared_ptr<Spares> spares_;
  Spares own_;  // at most one
  std::span<float const> values_;
  bool lent_ = false, wanted_ = true;
  Index made_by_ = 0;  // the number of the device's start that computes the values
  std::exception_ptr error_;
};

}  // namespace coldpress::dynamic
