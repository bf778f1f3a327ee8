// The backends "cuda:0", "cuda:1", ... and "cuda:emulated" of dynamic networks.
#include "any_backend.hpp"
#include "device_engine_transfer.hpp"
#include "trainer.hpp"

namespace coldpress::dynamic {
namespace {

class CudaBackend final : public AnyBackend {
 public:
  CudaBackend(std::shared_ptr<cuda::Device> device, BackendOptions const& options) : primitives_(std::move(device)) {
    primitives_.precision = options.precision, primitives_.fused = options.fused;
    if (options.libraries) primitives_.libraries = cuda::libraries_maker()(primitives_.device, options.precision);
  }
  std::unique_ptr<Executable> engine(std::unique_ptr<Graph> graph, std::uint64_t seed,
                                     WeightsStart start) const override {
    return std::make_unique<Engine<cuda::RuntimeCuda>>(std::move(graph), primitives_, nullptr, seed, start);
  }
  /// Computes the loss of outputs that are already on the host.
  float loss(SeparateObjective& objective, Values y, Shape shape, Values target, Index batch) const override {
    return cpu_backend("", {})->loss(objective, y, shape, target, batch);
  }

 private:
  cuda::RuntimeCuda primitives_;
};

std::unique_ptr<AnyBackend> make(std::string const& name, BackendOptions const& options) {
  if (options.threads != 1 || options.executor)
    throw UnsupportedError{"'" + name + "': a GPU uses no threads of the host; do not set threads or an executor"};
  if (options.bfloat16) throw UnsupportedError{"'" + name + "' has no weights in bfloat16"};
  if (options.libraries && !cuda::libraries_maker())
    throw UnsupportedError{"'" + name +
                           "': cuDNN and cuBLASLt need a program that is linked with coldpress::cuda_libs"};
  if (options.libraries && options.fused)
    throw UnsupportedError{"'" + name + "': a fused pass cannot call cuDNN or cuBLASLt; choose `libraries` or `fused`"};
  auto device = cuda::open_device(name);
  device->start_together(options.passes_a_launch);
  return std::make_unique<CudaBackend>(std::move(device), options);
}

}  // namespace

/// Registers the backends before main(). The linker keeps this file because coldpress::cuda asks for this name.
extern "C" __attribute__((constructor(101))) void coldpress_cuda_backend() {
  trainer_maker<cuda::RuntimeCuda> = Trainer<cuda::RuntimeCuda>::make;
  cuda_backends() = make;
}

}  // namespace coldpress::dynamic
