// Samples and targets that stay on a device.
#pragma once

#include <coldpress/cuda/device.hpp>
#include <coldpress/run/labels.hpp>
#include <coldpress/run/samples.hpp>

#include <memory>
#include <span>
#include <vector>

namespace coldpress::cuda {

/// Values that a network's upload() has copied to its device, for any number of passes. Copies of this object share the
/// same values, which live as long as one of the copies.
template <class T>
class DeviceValues {
 public:
  DeviceValues() = default;
  DeviceValues(std::shared_ptr<Device> device, std::span<T const> values)
      : held_(std::make_shared<Held>(std::move(device), values)) {}
  std::size_t size() const { return held_ ? held_->size : 0; }

  // For the passes that read them.
  explicit operator bool() const { return held_ != nullptr; }
  /// What was found out about the values when they were uploaded, so that the host need not look at them again.
  ValueFacts const& facts() const { return held_->facts; }
  Device& device() const { return *held_->device; }
  T const* address() const { return held_->memory.data(); }
  std::vector<T> fetched() const {
    std::vector<T> values(size());
    if (!values.empty()) held_->device->download(values.data(), address(), values.size() * sizeof(T));
    return values;
  }

 private:
  struct Held {
    Held(std::shared_ptr<Device> on, std::span<T const> values)
        : device(std::move(on)), memory(device), size(values.size()), facts(ValueFacts::of(values)) {
      memory.reserve(static_cast<Index>(size));
      if (size > 0) device->upload(memory.data(), values.data(), values.size_bytes());
    }
    std::shared_ptr<Device> device;
    DeviceMemory<T> memory;
    std::size_t size;
    ValueFacts facts;
  };
  std::shared_ptr<Held const> held_;
};

/// The values that a pass is given: either in the host's memory or already on the device.
template <class T>
struct Given {
  Given() = default;
  Given(std::span<T const> values) : here(values) {}
  Given(DeviceValues<T> values) : there(std::move(values)) {}
  std::size_t size() const { return there ? there.size() : here.size(); }
  bool empty() const { return size() == 0; }
  std::span<T const> here;
  DeviceValues<T> there;
};

/// Like coldpress's own check, which is called on downloaded values if the facts show that there is something to
/// reject: it reports the place.
template <class Reader, class T>
void check_targets(Reader const& reader, Shape const& in, Given<T> const& targets) {
  if constexpr (Labelled<Reader>) {
    if (!targets.there) return coldpress::check_targets(reader, in, targets.here);
    if (targets.there.facts().are_labels_of(reader, in)) return;
    auto const values = targets.there.fetched();
    coldpress::check_targets(reader, in, std::span<T const>{values});
  }
}
template <class T>
void check_finite(Given<T> const& samples, Index size, char const* what, int number = -1) {
  if (!samples.there) return coldpress::check_finite(samples.here, size, what, number);
  if (samples.there.facts().finite) return;
  auto const values = samples.there.fetched();
  coldpress::check_finite(std::span<T const>{values}, size, what, number);
}

}  // namespace coldpress::cuda

namespace coldpress {

template <class T>
struct SamplesOf<cuda::DeviceValues<T>, T> {
  cuda::DeviceValues<T> values;
  explicit SamplesOf(cuda::DeviceValues<T> const& x) : values(x) {}
};

}  // namespace coldpress
