// Static networks on a GPU: their values stay there, and each pass is one kernel.
#pragma once

#include <coldpress/cuda/chunks.hpp>
#include <coldpress/cuda/device_transfer.hpp>
#include <coldpress/cuda/kernel.hpp>
#include <coldpress/cuda/named.hpp>
#include <coldpress/cuda/program.hpp>
#include <coldpress/run/host_transfer.hpp>

namespace coldpress {

// A program may contain both: networks compiled by nvcc have kernels, those of other compilers run only emulated.
#if defined __CUDACC__
inline namespace by_nvcc {
#else
inline namespace by_host {
#endif

/// The backend for Network<Sequential<...>, Shape{784}, Batch<64>, Cuda> in a file that nvcc compiles. CudaTf32 and
/// CudaBfloat16 round the factors of products for tensor cores (docs/gpu.md).
template <Precision precision>
struct BasicCuda {
  /// The device for a network, passed as the second argument of its constructor, for example "cuda:1"; without it the
  /// network uses the first GPU. On "cuda:emulated" the kernels are loops on the host, for tests. `passes_a_launch`
  /// passes are started together, or fewer if a result is read earlier. Throws UnsupportedError, with the reason, if
  /// there is no such device.
  static HostTransfer<BasicCuda> on(std::string const& name, int passes_a_launch = 1) {
    auto device = cuda::open_device(name);
    device->start_together(passes_a_launch);
    return HostTransfer<BasicCuda>{std::move(device)};
  }
};
using Cuda = BasicCuda<Precision::fp32>;
using CudaTf32 = BasicCuda<Precision::tf32>;
using CudaBfloat16 = BasicCuda<Precision::bf16>;

/// Distinguishes code that nvcc compiled from that of other compilers.
struct Compiler {};

}  // namespace by_nvcc or by_host

template <Precision precision>
struct ComputingOf<BasicCuda<precision>> {
  using type = Grid;
};

/// A network and its workspaces may be used by one thread at a time.
template <Precision precision>
struct HostTransfer<BasicCuda<precision>> : cuda::DeviceTransfer {
  using DeviceTransfer::DeviceTransfer;
  HostTransfer() : DeviceTransfer(cuda::open_device("cuda:0")) {}

  template <class What, class Run, class... More>
  void play(What, Run const& run, More const&... more) const {
    start<What, void>(nullptr, run, more...);
  }
  /// The number that the newest pass of this kind computed. It is downloaded when it is converted to T, which must
  /// happen while the solver lives.
  template <class T>
  struct Number {
    std::shared_ptr<cuda::Device> device;
    T const* at;
    operator T() const {
      T value;
      device->download(&value, at, sizeof value);
      return value;
    }
  };
  template <class T, class What, class Run, class... More>
  Number<T> play_for(T* result, What, Run const& run, More const&... more) const {
    start<What>(result, run, more...);
    return {device_, result};
  }

 private:
  template <class What, class Result, class Run, class... More>
  void start(Result* result, Run const& run, More const&... more) const {
    using Program = std::remove_cvref_t<decltype(run.program)>;
    using Count = std::remove_const_t<decltype(run.batch)>;
    constexpr int inputs = Program::inputs_capacity;
    Index largest = Program::plan().workspace;
    for (int k = 0; k < inputs; ++k) {
      int const node = k < Program::Net::inputs ? k : Program::targets;
      largest = freestanding::max(largest, Program::planned.nodes[static_cast<std::size_t>(node)].shape.size());
    }
    require(run.batch <= UINT32_MAX / freestanding::max<Index>(largest, 1),
            "network: on a GPU a minibatch has at most 2^32 values; take a smaller one");
    cuda::Addresses<inputs> at{run.parameters, run.workspace, {}, run.seed, run.step, run.state, run.sums};
    for (std::size_t k = 0; k < run.inputs.size(); ++k) at.inputs_[k] = run.inputs[k];
    Grid grid = device_->grid();
    grid.scratch = run.backend.scratch, grid.workers = run.backend.workers, grid.own_scratch = run.backend.own_scratch;
    using Body =
        cuda::PassBody<typename cuda::Name<Program>::type, What, Count, precision, inputs, Result, cuda::Pack<More...>>;
    cuda::launch_by<Compiler>(*device_, grid, Body{{at, run.batch, result, cuda::pack(more...)}});
    device_->submit();
  }
};

}  // namespace coldpress
