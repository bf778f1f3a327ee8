#include "host_backend.hpp"
#include "runtime_reference.hpp"

namespace coldpress::dynamic {

std::unique_ptr<AnyBackend> reference_backend() { return std::make_unique<HostBackend<RuntimeReference>>(); }

}  // namespace coldpress::dynamic
