// The backend "cpu:reference" of dynamic networks.
#include "engine_stream.hpp"
#include "host_backend.hpp"
#include "runtime_reference.hpp"
#include "trainer.hpp"

namespace coldpress::dynamic {
namespace {

std::unique_ptr<AnyBackend> make(std::string const&, BackendOptions const&) {
  return std::make_unique<HostBackend<RuntimeReference<float>>>();
}

}  // namespace

/// Registers the backend before main(). The linker keeps this file because coldpress::dynamic_reference asks for this
/// name.
extern "C" __attribute__((constructor(101))) void coldpress_reference_backend() {
  trainer_maker<RuntimeReference<float>> = Trainer<RuntimeReference<float>>::make;
  stream_maker<RuntimeReference<float>> = EngineStream<RuntimeReference<float>>::make;
  reference_backends() = make;
}

}  // namespace coldpress::dynamic
