// A GPU, or the host in the place of one, which runs the same kernels as loops: for tests where there is no GPU.
#pragma once

#include <coldpress/backend/grid.hpp>

#include <atomic>
#include <memory>
#include <string>
#include <utility>

namespace coldpress::cuda {

class Device {
 public:
  virtual ~Device() = default;
  virtual std::string const& name() const = 0;
  /// Zeroed. Throws DeviceError where there is not enough; then nothing has changed.
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* memory) noexcept = 0;
  // In the order in which they are called, among each other and with kernels. Only download waits.
  virtual void upload(void* to, void const* from, std::size_t bytes) = 0;
  virtual void download(void* to, void const* from, std::size_t bytes) = 0;
  virtual void clear(void* to, std::size_t bytes) = 0;

  /// How often values went from the host to the device, and back.
  struct Copies {
    std::atomic<Index> up = 0, down = 0;
  };
  Copies const& copies() const { return copies_; }

  /// The host runs the kernels.
  bool emulated() const { return !stream_; }
  void* stream() const { return stream_; }
  /// The grid of a kernel, whose threads share some memory of the device.
  Grid grid() const {
    Grid grid;
    grid.sums = sums_, grid.tickets = tickets_;
    return grid;
  }

 protected:
  Copies copies_;
  void* stream_ = nullptr;
  double* sums_ = nullptr;
  std::uint32_t* tickets_ = nullptr;
};

/// "cuda", which is the first GPU, "cuda:NUMBER", or "cuda:emulated". Throws UnsupportedError where there is no such
/// device, or none that can be used, and says what to do.
std::shared_ptr<Device> open_device(std::string const& name);
std::shared_ptr<Device> open_gpu(int number);
std::shared_ptr<Device> emulated_device();

/// Memory of a device, as HeapMemory is the host's: zeroed; grows, losing what it held; never shrinks.
template <class T>
class DeviceMemory {
 public:
  explicit DeviceMemory(std::shared_ptr<Device> device) : device_(std::move(device)) {}
  DeviceMemory(DeviceMemory&& other) noexcept
      : device_(other.device_), data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  DeviceMemory& operator=(DeviceMemory&&) = delete;
  ~DeviceMemory() {
    if (data_) device_->release(data_);
  }
  void reserve(Index size) {
    if (size <= size_) return;
    auto* const fresh = static_cast<T*>(device_->allocate(static_cast<std::size_t>(size) * sizeof(T)));
    if (data_) device_->release(data_);
    data_ = fresh, size_ = size;
  }
  T* data() const { return data_; }
  Index size() const { return size_; }

 private:
  std::shared_ptr<Device> device_;
  T* data_ = nullptr;
  Index size_ = 0;
};

/// Has a kernel of a GPU done, with as many blocks as can be on it at once. `arguments`: addresses of a Grid, whose
/// shared memory the kernel itself knows, and of the body.
void start(Device& device, void const* kernel, void** arguments);

/// Has all threads of the device's grid call the body. Defined for the bodies of bodies.hpp, in .cu files.
template <class Body>
void launch(Device& device, Grid const& grid, Body const& body);

}  // namespace coldpress::cuda
