#include <coldpress/backend/cuda/device.hpp>

#include <cuda_runtime_api.h>

#include <charconv>
#include <mutex>
#include <unordered_map>

namespace coldpress::cuda {

namespace {

/// What a failed call of the runtime means to a user, and what helps.
[[noreturn]] void refuse(std::string const& device, cudaError_t error, std::string const& action) {
  std::string const why = std::string{cudaGetErrorName(error)} + ": " + cudaGetErrorString(error);
  switch (error) {
    case cudaErrorInsufficientDriver:
    case cudaErrorNoDevice:
    case cudaErrorDevicesUnavailable:
    case cudaErrorInitializationError:
    case cudaErrorStubLibrary:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorInvalidDevice:
      throw UnsupportedError{"'" + device + "': " + why};
    default:
      throw DeviceError{"'" + device + "': " + action + ": " + why};
  }
}

std::string version(int number) { return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10); }

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(int number) : number_(number), name_("cuda:" + std::to_string(number)) {
    int count = 0, driver = 0, runtime = 0;
    // Any error means that there is no device: the count is left as it was.
    cudaError_t const found = cudaGetDeviceCount(&count);
    cudaDriverGetVersion(&driver), cudaRuntimeGetVersion(&runtime);
    if (driver == 0)
      throw UnsupportedError{"'" + name_ + "': no NVIDIA driver is loaded; install the one for CUDA " +
                             version(runtime) + ", or choose the backend 'cpu'"};
    if (driver < runtime && found != cudaSuccess)
      throw UnsupportedError{"'" + name_ + "': the NVIDIA driver supports CUDA " + version(driver) +
                             ", this program needs " + version(runtime) + "; update the driver"};
    if (found != cudaSuccess) refuse(name_, found, "looking for devices");
    if (number >= count)
      throw UnsupportedError{"'" + name_ + "': there are " + std::to_string(count) + " GPUs, numbered from 0"};
    use();
    auto const read = [&](cudaDeviceAttr attribute) {
      int value = 0;
      check(cudaDeviceGetAttribute(&value, attribute, number_), "reading properties");
      return value;
    };
    multiprocessors_ = read(cudaDevAttrMultiProcessorCount);
    int const major = read(cudaDevAttrComputeCapabilityMajor), minor = read(cudaDevAttrComputeCapabilityMinor);
    if (major < 8)
      throw UnsupportedError{"'" + name_ + "': its compute capability is " + std::to_string(major) + "." +
                             std::to_string(minor) + ", and 8.0 or later is needed; choose the backend 'cpu'"};
    if (read(cudaDevAttrCooperativeLaunch) == 0)
      throw UnsupportedError{"'" + name_ + "': its blocks cannot wait for each other; choose the backend 'cpu'"};
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
    stream_ = stream;
    try {
      sums_ = static_cast<double*>(allocate(grid::Team::sum_parts * sizeof(double)));
      tickets_ = static_cast<std::uint32_t*>(allocate(2 * sizeof(std::uint32_t)));
    } catch (...) {
      close();
      throw;
    }
  }
  ~CudaDevice() override { close(); }
  std::string const& name() const override { return name_; }
  void* allocate(std::size_t bytes) override {
    use();
    void* memory = nullptr;
    if (cudaError_t const error = cudaMalloc(&memory, bytes); error == cudaErrorMemoryAllocation) {
      cudaGetLastError();  // so that later calls do not report it again
      std::size_t free = 0, total = 0;
      cudaMemGetInfo(&free, &total);
      throw DeviceError{"'" + name_ + "': " + mebibytes(bytes) + " are needed, " + mebibytes(free) + " of " +
                        mebibytes(total) + " are free; take a smaller minibatch"};
    } else {
      check(error, "allocating memory");
    }
    if (cudaError_t const error = cudaMemsetAsync(memory, 0, bytes, stream()); error != cudaSuccess) {
      cudaFree(memory);
      check(error, "clearing memory");
    }
    return memory;
  }
  void release(void* memory) noexcept override {
    use();
    cudaStreamSynchronize(stream());  // kernels may still use it
    cudaFree(memory);
  }
  void upload(void* to, void const* from, std::size_t bytes) override {
    use(), ++copies_.up;
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream()), "copying to the device");
  }
  void download(void* to, void const* from, std::size_t bytes) override {
    use(), ++copies_.down;
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream()), "copying from the device");
    check(cudaStreamSynchronize(stream()), "running kernels");
  }
  void clear(void* to, std::size_t bytes) override {
    use();
    check(cudaMemsetAsync(to, 0, bytes, stream()), "clearing memory");
  }
  /// As many blocks as are on the device at the same time: they wait for each other.
  void start(void const* kernel, void** arguments) {
    use();
    cudaLaunchAttribute cooperative{};
    cooperative.id = cudaLaunchAttributeCooperative;
    cooperative.val.cooperative = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(blocks_of(kernel)));
    config.blockDim = dim3(grid::threads);
    config.dynamicSmemBytes = shared_bytes;
    config.stream = stream();
    config.attrs = &cooperative, config.numAttrs = 1;
    check(cudaLaunchKernelExC(&config, kernel, arguments), "starting a kernel");
  }

 private:
  static constexpr std::size_t shared_bytes = grid::shared_values * sizeof(float);
  static std::string mebibytes(std::size_t bytes) { return std::to_string((bytes >> 20) + 1) + " MiB"; }
  cudaStream_t stream() const { return static_cast<cudaStream_t>(Device::stream()); }
  void use() const noexcept { cudaSetDevice(number_); }
  void check(cudaError_t error, char const* action) const {
    if (error != cudaSuccess) refuse(name_, error, action);
  }
  void close() noexcept {
    use();
    cudaStreamSynchronize(stream());
    cudaFree(sums_), cudaFree(tickets_);
    cudaStreamDestroy(stream());
  }
  int blocks_of(void const* kernel) {
    std::lock_guard const lock{mutex_};  // networks in several threads share a device
    if (auto const at = blocks_of_.find(kernel); at != blocks_of_.end()) return at->second;
    int each = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, grid::threads, shared_bytes),
          "looking at a kernel");
    return blocks_of_[kernel] = each * multiprocessors_;
  }
  int number_, multiprocessors_ = 0;
  std::string name_;
  std::mutex mutex_;
  std::unordered_map<void const*, int> blocks_of_;
};

}  // namespace

void start(Device& device, void const* kernel, void** arguments) {
  static_cast<CudaDevice&>(device).start(kernel, arguments);
}

std::shared_ptr<Device> open_gpu(int number) {
  static std::mutex mutex;
  static std::unordered_map<int, std::weak_ptr<Device>> open;
  std::lock_guard const lock{mutex};
  std::shared_ptr<Device> device = open[number].lock();
  if (!device) open[number] = device = std::make_shared<CudaDevice>(number);
  return device;
}

std::shared_ptr<Device> open_device(std::string const& name) {
  if (name == "cuda:emulated") return emulated_device();
  std::string const number = name == "cuda" ? "0" : name.starts_with("cuda:") ? name.substr(5) : "";
  int device = -1;
  auto const [end, error] = std::from_chars(number.data(), number.data() + number.size(), device);
  if (error != std::errc{} || end != number.data() + number.size() || device < 0)
    throw UnsupportedError{"no backend '" + name + "'; there are cuda, cuda:NUMBER and cuda:emulated"};
  return open_gpu(device);
}

}  // namespace coldpress::cuda
