// Samples and targets that stay on a device.
#pragma once

#include <coldpress/backend/cuda/device.hpp>
#include <coldpress/graph/labels.hpp>
#include <coldpress/graph/samples.hpp>

#include <memory>
#include <span>
#include <vector>

namespace coldpress::cuda {

/// What a network's upload() has brought to its device, for any number of passes there. Copies share the same values,
/// which stay as long as one of the copies is there.
template <class T>
class DeviceValues {
 public:
  DeviceValues() = default;
  DeviceValues(std::shared_ptr<Device> device, std::span<T const> values)
      : held_(std::make_shared<Held>(std::move(device), values)) {}
  std::size_t size() const { return held_ ? held_->size : 0; }

  // For the passes that read them.
  explicit operator bool() const { return held_ != nullptr; }
  /// What the host saw when they were brought: it need not look at them again.
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

/// What a pass is given: values of the host, or some that are on the device already.
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

/// As coldpress's own, which they call where it has something to refuse: it then says where that is.
template <class Reader, class T>
void check_targets(Reader const& reader, Shape const& in, Given<T> const& targets) {
  if constexpr (Labelled<Reader>) {
    if (!targets.there) return coldpress::check_targets(reader, in, targets.here);
    if (targets.there.facts().are_labels(reader.classes(in))) return;
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
