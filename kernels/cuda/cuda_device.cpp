// A device that is a GPU: memory, copies, and passes as CUDA graphs of kernels.
#include <coldpress/cuda/compiler.hpp>
#include <coldpress/cuda/device.hpp>
#include <coldpress/cuda/launch_times.hpp>

#include <cuda_runtime_api.h>

#include <charconv>
#include <map>
#include <unordered_map>
#include <utility>

namespace coldpress::cuda {

namespace {

/// Throws the error of a failed call of the CUDA runtime, with what it means to a user and what helps.
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

/// Calls of the CUDA runtime for the device of this number.
class Runtime {
 public:
  explicit Runtime(int number) : number_(number), name_("cuda:" + std::to_string(number)) {}
  std::string const& name() const { return name_; }
  int number() const { return number_; }
  void use() const noexcept { cudaSetDevice(number_); }
  void check(cudaError_t error, char const* action) const {
    if (error != cudaSuccess) refuse(name_, error, action);
  }

 private:
  int number_;
  std::string name_;
};

std::size_t shared_bytes(Call const& call) { return static_cast<std::size_t>(call.shared) * sizeof(float); }
constexpr int portable_cluster = 8;  // the largest cluster, in blocks, that every GPU with clusters supports

/// Whether the blocks of a kernel wait for each other and must therefore all run at the same time.
bool waits(Call const& call) { return call.in_cluster || (call.blocks > 1 && call.barriers > 0); }
/// The launch attribute that makes the blocks run at the same time: as a cluster, or as a cooperative launch.
cudaLaunchAttribute together(Call const& call) {
  cudaLaunchAttribute how{};
  if (call.in_cluster) {
    how.id = cudaLaunchAttributeClusterDimension;
    how.val.clusterDim.x = static_cast<unsigned>(call.blocks), how.val.clusterDim.y = how.val.clusterDim.z = 1;
  } else {
    how.id = cudaLaunchAttributeCooperative;
    how.val.cooperative = 1;
  }
  return how;
}
/// The addresses of a kernel's two arguments, in the form that CUDA takes.
struct Addresses {
  Addresses(Pass const& pass, Call const& call) {
    auto* const first = const_cast<std::byte*>(pass.arguments(call));
    both[0] = first, both[1] = first + call.body;
  }
  void* both[2];
};

/// A pass that is one kernel. It needs no graph; each start passes the arguments and the attributes anew.
class CudaKernel final : public TakenDown {
 public:
  CudaKernel(Runtime const& runtime, cudaStream_t stream, Pass const& from)
      : TakenDown(from), runtime_(runtime), stream_(stream) {}
  void change(std::size_t) override {}  // each start reads the arguments from `pass`
  void start() override {
    runtime_.use();
    Call const& call = pass.calls()[0];
    cudaLaunchAttribute how = waits(call) ? together(call) : cudaLaunchAttribute{};
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(call.blocks)), config.blockDim = dim3(grid::threads);
    config.dynamicSmemBytes = shared_bytes(call), config.stream = stream_;
    config.attrs = &how, config.numAttrs = waits(call);
    LaunchTime const timed{stream_};
    runtime_.check(cudaLaunchKernelExC(&config, call.kernel, Addresses{pass, call}.both), "starting a kernel");
  }

 private:
  Runtime const& runtime_;
  cudaStream_t stream_;
};

/// Kernels and library calls that run one after another. CUDA's documentation does not say whether
/// cudaGraphExecKernelNodeSetParams, which takes no attributes, keeps those of a node, and without them a kernel whose
/// blocks wait for each other would hang. So if a kernel with attributes changes, its arguments and attributes are set
/// in the graph, and the executable graph is updated from it as a whole.
class CudaGraph final : public TakenDown {
 public:
  CudaGraph(Runtime const& runtime, cudaStream_t stream, Pass const& from)
      : TakenDown(from), runtime_(runtime), stream_(stream) {
    try {
      runtime_.check(cudaGraphCreate(&graph_, 0), "making a graph");
      nodes_.reserve(pass.calls().size());
      for (Call const& call : pass.calls()) {
        if (call.library) {
          nodes_.push_back(captured(call));
          continue;
        }
        Node const node{pass, call};
        cudaGraphNode_t made = nullptr;
        runtime_.check(cudaGraphAddKernelNode(&made, graph_, nodes_.empty() ? nullptr : &nodes_.back(),
                                              nodes_.empty() ? 0 : 1, &node.parameters),
                       "adding a kernel to a graph");
        nodes_.push_back(made);
        if (waits(call)) some_wait_ = true, set_together(nodes_.size() - 1);
      }
      instantiate();
    } catch (...) {
      close();
      throw;
    }
  }
  ~CudaGraph() override { close(); }
  void change(std::size_t number) override {
    runtime_.use();
    changed_.push_back(number);
    if (!some_wait_) return;  // the graph itself is not read again
    Call const& call = pass.calls()[number];
    Node const node{pass, call};
    runtime_.check(cudaGraphKernelNodeSetParams(nodes_[number], &node.parameters), "changing a kernel's arguments");
    if (waits(call)) set_together(number), update_ = true;
  }
  void start() override {
    runtime_.use();
    if (update_) {
      update();
    } else {
      for (std::size_t number : changed_) {
        Node const node{pass, pass.calls()[number]};
        runtime_.check(cudaGraphExecKernelNodeSetParams(executable_, nodes_[number], &node.parameters),
                       "changing a kernel's arguments");
      }
    }
    changed_.clear(), update_ = false;
    LaunchTime const timed{stream_};
    runtime_.check(cudaGraphLaunch(executable_, stream_), "starting kernels");
  }

 private:
  struct Node {
    Node(Pass const& pass, Call const& call) : arguments(pass, call) {
      parameters.func = const_cast<void*>(call.kernel);
      parameters.gridDim = dim3(static_cast<unsigned>(call.blocks));
      parameters.blockDim = dim3(grid::threads);
      parameters.sharedMemBytes = static_cast<unsigned>(shared_bytes(call));
      parameters.kernelParams = arguments.both;
    }
    Node(Node const&) = delete;
    Addresses arguments;
    cudaKernelNodeParams parameters{};
  };
  void set_together(std::size_t number) {
    cudaLaunchAttribute const how = together(pass.calls()[number]);
    runtime_.check(cudaGraphKernelNodeSetAttribute(nodes_[number], how.id, &how.val),
                   "taking down how a kernel is started");
  }
  void instantiate() { runtime_.check(cudaGraphInstantiate(&executable_, graph_, 0), "making a graph of kernels"); }
  /// Updates the executable graph, or makes a new one if CUDA cannot update it.
  void update() {
    cudaGraphExecUpdateResultInfo info{};
    if (cudaGraphExecUpdate(executable_, graph_, &info) == cudaSuccess) return;
    cudaGetLastError();                                         // so that later calls do not report it again
    cudaGraphExecDestroy(std::exchange(executable_, nullptr));  // CUDA frees it after it has run
    instantiate();
  }
  /// Captures a library's call as a child graph. The call has been made before (Device::call_once); should the library
  /// load kernels nevertheless, only the relaxed capture mode allows it.
  cudaGraphNode_t captured(Call const& call) {
    runtime_.check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeRelaxed), "capturing a library's call");
    cudaGraph_t heard = nullptr;
    try {
      call.library->put(stream_, pass.operands(call));
    } catch (...) {
      cudaStreamEndCapture(stream_, &heard);
      if (heard) cudaGraphDestroy(heard);
      cudaGetLastError();  // so that later calls do not report it again
      throw;
    }
    cudaGraphNode_t made = nullptr;
    cudaError_t error = cudaStreamEndCapture(stream_, &heard);
    if (error == cudaSuccess) {
      // The child graph is moved, because a copy may lack the memory that the library allocates for the call.
      cudaGraphNodeParams child{};
      child.type = cudaGraphNodeTypeGraph;
      child.graph.graph = heard, child.graph.ownership = cudaGraphChildGraphOwnershipMove;
      error =
          cudaGraphAddNode(&made, graph_, nodes_.empty() ? nullptr : &nodes_.back(), nullptr, !nodes_.empty(), &child);
    }
    if (heard && !made) cudaGraphDestroy(heard);
    runtime_.check(error, "taking down a library's call");
    return made;
  }
  void close() noexcept {
    if (executable_) cudaGraphExecDestroy(executable_);  // CUDA frees it after it has run
    if (graph_) cudaGraphDestroy(graph_);
  }
  Runtime const& runtime_;
  cudaStream_t stream_;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
  std::vector<cudaGraphNode_t> nodes_;
  std::vector<std::size_t> changed_;  // kernels whose arguments have changed since the last start
  bool some_wait_ = false;            // whether there are kernels with attributes
  bool update_ = false;               // whether one of these has changed
};

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(int number) : runtime_(number) {
    int count = 0, driver = 0, runtime = 0;
    // Any error means that there is no device, and leaves the count at 0.
    cudaError_t const found = cudaGetDeviceCount(&count);
    cudaDriverGetVersion(&driver), cudaRuntimeGetVersion(&runtime);
    if (driver == 0)
      throw UnsupportedError{"'" + name() + "': no NVIDIA driver is loaded; install the one for CUDA " +
                             version(runtime) + ", or choose the backend 'cpu'"};
    if (driver < runtime && found != cudaSuccess)
      throw UnsupportedError{"'" + name() + "': the NVIDIA driver supports CUDA " + version(driver) +
                             ", this program needs " + version(runtime) + "; update the driver"};
    if (found != cudaSuccess) refuse(name(), found, "looking for devices");
    if (number >= count)
      throw UnsupportedError{"'" + name() + "': there are " + std::to_string(count) + " GPUs, numbered from 0"};
    runtime_.use();
    auto const read = [&](cudaDeviceAttr attribute) {
      int value = 0;
      check(cudaDeviceGetAttribute(&value, attribute, number), "reading properties");
      return value;
    };
    multiprocessors_ = read(cudaDevAttrMultiProcessorCount);
    has_clusters_ = read(cudaDevAttrClusterLaunch) != 0;
    int const major = read(cudaDevAttrComputeCapabilityMajor), minor = read(cudaDevAttrComputeCapabilityMinor);
    architecture_ = 10 * major + minor;
    if (major < 8)
      throw UnsupportedError{"'" + name() + "': its compute capability is " + std::to_string(major) + "." +
                             std::to_string(minor) + ", and 8.0 or later is needed; choose the backend 'cpu'"};
    if (read(cudaDevAttrCooperativeLaunch) == 0)
      throw UnsupportedError{"'" + name() + "': it has no cooperative launches; choose the backend 'cpu'"};
    try {
      for (cudaStream_t* stream : {&stream_, &copies_})
        check(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking), "making a stream");
      for (cudaEvent_t* event : {&copied_, &done_[0], &done_[1]})
        check(cudaEventCreateWithFlags(event, cudaEventDisableTiming), "making an event");
      make_common();
    } catch (...) {
      close();
      throw;
    }
  }
  ~CudaDevice() override { close(); }
  std::string const& name() const override { return runtime_.name(); }
  bool emulated() const override { return false; }
  void make_current() const override { runtime_.use(); }
  Compiled compile(std::string const& source) override {
    auto const code = cuda::compile(source, architecture_);
    runtime_.use();
    cudaLibrary_t library = nullptr;
    check(cudaLibraryLoadData(&library, code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0), "loading a kernel");
    libraries_.push_back(library);
    cudaKernel_t kernel = nullptr;
    check(cudaLibraryGetKernel(&kernel, library, "pass"), "loading a kernel");
    return {.kernel = kernel};
  }
  void* stream() const override { return stream_; }
  void call_once(LibraryCall const& library, LibraryCall::Operands const& operands) override {
    runtime_.use();
    library.put(stream_, operands);
    check(cudaStreamSynchronize(stream_), "calling a library");
  }
  void release_pinned(void* memory) noexcept override {
    runtime_.use();
    cudaStreamSynchronize(copies_);  // a copy may still read it
    cudaFreeHost(memory);
  }

 private:
  void* make_unset(std::size_t bytes) override {
    runtime_.use();
    void* memory = nullptr;
    if (cudaError_t const error = cudaMalloc(&memory, bytes); error == cudaErrorMemoryAllocation) {
      cudaGetLastError();  // so that later calls do not report it again
      std::size_t free = 0, total = 0;
      cudaMemGetInfo(&free, &total);
      throw DeviceError{"'" + name() + "': " + mebibytes(bytes) + " are needed, " + mebibytes(free) + " of " +
                        mebibytes(total) + " are free; take a smaller minibatch"};
    } else {
      check(error, "allocating memory");
    }
    return memory;
  }
  void* make(std::size_t bytes) override {
    void* const memory = make_unset(bytes);
    // Either stream may write to the memory next, so this waits.
    cudaError_t error = cudaMemsetAsync(memory, 0, bytes, stream_);
    if (error == cudaSuccess) error = cudaStreamSynchronize(stream_);
    if (error != cudaSuccess) {
      cudaFree(memory);
      check(error, "clearing memory");
    }
    return memory;
  }
  void* make_pinned(std::size_t bytes) override {
    runtime_.use();
    void* memory = nullptr;
    if (cudaError_t const error = cudaMallocHost(&memory, bytes); error == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      throw DeviceError{"'" + name() + "': the host has no " + mebibytes(bytes) +
                        " of pinned memory; take a smaller minibatch"};
    } else {
      check(error, "allocating memory of the host");
    }
    return memory;
  }
  void destroy(void* memory) noexcept override {
    runtime_.use();
    cudaStreamSynchronize(stream_), cudaStreamSynchronize(copies_);  // they may still use the memory
    cudaFree(memory);
  }
  void copy_up(void* to, void const* from, std::size_t bytes) override {
    runtime_.use();
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_), "copying to the device");
    check(cudaStreamSynchronize(stream_), "copying to the device");  // because the caller may change the source next
  }
  void copy_down(void* to, void const* from, std::size_t bytes) override {
    runtime_.use();
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_), "copying from the device");
    check(cudaStreamSynchronize(stream_), "running kernels");
  }
  void copy_ahead(void* to, void const* pinned, std::size_t bytes) override {
    runtime_.use();
    check(cudaMemcpyAsync(to, pinned, bytes, cudaMemcpyHostToDevice, copies_), "copying to the device");
    check(cudaEventRecord(copied_, copies_), "copying to the device");
    check(cudaStreamWaitEvent(stream_, copied_, 0), "copying to the device");
  }
  void copy_over(void* to, Device& other, void const* from, std::size_t bytes) override {
    auto const& source = static_cast<CudaDevice const&>(other);  // the devices have the same name, so this is one
    runtime_.use();
    if (&other == this)  // the order in the stream is enough
      return check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream_), "copying on the device");
    check(cudaEventRecord(source.copied_, source.stream_), "copying on the device");
    check(cudaStreamWaitEvent(copies_, source.copied_, 0), "copying on the device");
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, copies_), "copying on the device");
    check(cudaEventRecord(copied_, copies_), "copying on the device");
    for (cudaStream_t stream : {stream_, source.stream_})
      check(cudaStreamWaitEvent(stream, copied_, 0), "copying on the device");
  }
  void set_zero(void* to, std::size_t bytes) override {
    runtime_.use();
    check(cudaMemsetAsync(to, 0, bytes, stream_), "clearing memory");
  }
  int most_blocks(Call const& call) override {
    if (auto const at = most_blocks_.find(call.kernel); at != most_blocks_.end()) return at->second;
    give_room(call);
    int each = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, call.kernel, grid::threads, shared_bytes(call)),
          "looking at a kernel");
    return most_blocks_[call.kernel] = each * multiprocessors_;
  }
  bool has_cluster(Call const& asked, int blocks) override {
    if (!has_clusters_) return false;
    auto const [at, fresh] = clusters_.try_emplace({asked.kernel, blocks});
    if (!fresh) return at->second;
    give_room(asked);
    // A GPU may lack 16 adjacent multiprocessors, and code for an older architecture has no cluster barrier.
    cudaFuncAttributes code{};
    check(cudaFuncGetAttributes(&code, asked.kernel), "looking at a kernel");
    Call call = asked;
    call.blocks = blocks, call.in_cluster = true;
    cudaLaunchAttribute how = together(call);
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(blocks)), config.blockDim = dim3(grid::threads);
    config.dynamicSmemBytes = shared_bytes(call), config.attrs = &how, config.numAttrs = 1;
    int count = 0;
    bool const can =
        code.ptxVersion >= 90 &&
        (blocks <= portable_cluster ||
         cudaFuncSetAttribute(call.kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1) == cudaSuccess) &&
        cudaOccupancyMaxActiveClusters(&count, call.kernel, &config) == cudaSuccess;
    if (!can) cudaGetLastError();  // so that later calls do not report it again
    return at->second = can && count > 0;
  }
  std::unique_ptr<TakenDown> take_down(Pass const& pass) override {
    runtime_.use();
    bool const one_kernel = pass.calls().size() == 1 && !pass.calls()[0].library;
    if (one_kernel) return std::make_unique<CudaKernel>(runtime_, stream_, pass);
    return std::make_unique<CudaGraph>(runtime_, stream_, pass);
  }
  void mark(int group) override {
    runtime_.use();
    check(cudaEventRecord(done_[group], stream_), "running kernels");
  }
  void wait(int group) override {
    runtime_.use();
    check(cudaEventSynchronize(done_[group]), "running kernels");
  }

  /// Requests the shared memory of a kernel if that is more than the default limit.
  void give_room(Call const& call) const {
    runtime_.use();
    if (call.shared > grid::shared_values)
      check(cudaFuncSetAttribute(call.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(shared_bytes(call))),
            "making room for a kernel");
  }
  static std::string mebibytes(std::size_t bytes) { return std::to_string((bytes >> 20) + 1) + " MiB"; }
  void check(cudaError_t error, char const* action) const { runtime_.check(error, action); }
  void close() noexcept {
    runtime_.use();
    for (cudaStream_t stream : {stream_, copies_}) {
      if (stream) cudaStreamSynchronize(stream);
    }
    taken_down_.clear();
    for (cudaLibrary_t library : libraries_) cudaLibraryUnload(library);
    destroy_common();
    for (cudaEvent_t event : {copied_, done_[0], done_[1]}) {
      if (event) cudaEventDestroy(event);
    }
    for (cudaStream_t stream : {stream_, copies_}) {
      if (stream) cudaStreamDestroy(stream);
    }
  }
  Runtime runtime_;
  int multiprocessors_ = 0, architecture_ = 0;
  std::vector<cudaLibrary_t> libraries_;
  cudaStream_t stream_ = nullptr, copies_ = nullptr;
  cudaEvent_t copied_ = nullptr, done_[2] = {};
  bool has_clusters_ = false;
  std::unordered_map<void const*, int> most_blocks_;
  std::map<std::pair<void const*, int>, bool> clusters_;
};

}  // namespace

std::shared_ptr<Device> open_device(std::string const& name) {
  if (name == "cuda:emulated") return emulated_device();
  std::string const number = name == "cuda" ? "0" : name.starts_with("cuda:") ? name.substr(5) : "";
  int device = -1;
  auto const [end, error] = std::from_chars(number.data(), number.data() + number.size(), device);
  if (error != std::errc{} || end != number.data() + number.size() || device < 0)
    throw UnsupportedError{"no backend '" + name + "'; there are cuda, cuda:NUMBER and cuda:emulated"};
  return std::make_shared<CudaDevice>(device);
}

}  // namespace coldpress::cuda
