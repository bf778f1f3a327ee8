// Finds the backend that a name asks for, and says why it cannot be had.
#include "any_backend.hpp"

#include <coldpress/kernels/dispatch.hpp>
#include <coldpress/threads.hpp>

#include <system_error>

namespace coldpress::dynamic {
namespace {

constexpr std::string_view reference_name = "cpu:reference";

/// "cpu:v3" -> "v3"; "cpu" -> "".
std::string level_of(std::string const& backend) { return backend == "cpu" ? "" : backend.substr(4); }

/// Returns the function that makes a component's backends; throws UnsupportedError if the component is not linked.
BackendMaker linked(BackendMaker maker, std::string const& name, char const* component) {
  if (!maker) throw UnsupportedError{"'" + name + "': this program was not linked with coldpress::" + component};
  return maker;
}
BackendMaker cuda_of(std::string const& name) { return linked(cuda_backends(), name, "cuda"); }
BackendMaker reference_of(std::string const& name) { return linked(reference_backends(), name, "dynamic_reference"); }

}  // namespace

BackendMaker& cuda_backends() {
  static BackendMaker maker = nullptr;
  return maker;
}
BackendMaker& reference_backends() {
  static BackendMaker maker = nullptr;
  return maker;
}

bool is_cuda(std::string const& backend) { return backend == "cuda" || backend.rfind("cuda:", 0) == 0; }

std::unique_ptr<AnyBackend> any_backend(Backend const& backend) {
  std::string const& name = backend.name();
  if (is_cuda(name)) return cuda_of(name)(name, backend.options());
  if (name == reference_name) return reference_of(name)(name, backend.options());
  return cpu_backend(level_of(name), backend.options());
}

Backend::Backend(std::string name, BackendOptions options) : name_(std::move(name)), options_(std::move(options)) {
  if (is_cuda(name_)) {
    static_cast<void>(cuda_of(name_)(name_, options_));  // throws if the device cannot be used
    return;
  }
  if (options_.precision != Precision::fp32)
    throw UnsupportedError{"'" + name_ + "' computes in fp32; only the tensor cores of a GPU use less precision"};
  if (options_.passes_a_launch != 1)
    throw UnsupportedError{"'" + name_ + "': only on a GPU can passes be started together"};
  if (options_.fused) throw UnsupportedError{"'" + name_ + "': only on a GPU can a pass be fused into one kernel"};
  if (options_.libraries) throw UnsupportedError{"'" + name_ + "': cuDNN and cuBLASLt need a GPU"};
  if (options_.threads < 0 || options_.threads > most_threads) {
    throw UnsupportedError{"a backend computes on 1 to " + std::to_string(most_threads) +
                           " threads, or with 0 on one per core; got " + std::to_string(options_.threads)};
  }
  std::shared_ptr<Executor>& executor = options_.executor;
  if (!executor && options_.threads != 1) {
    try {
      executor = std::make_shared<ThreadPool>(options_.threads);
    } catch (std::system_error const& error) {
      throw UnsupportedError{"'" + name_ + "': " + std::to_string(options_.threads) +
                             " threads are more than the system can start: " + error.what()};
    }
  }
  if (executor && name_ == reference_name) throw UnsupportedError{"cpu:reference computes on the calling thread"};
  if (options_.bfloat16 && name_ == reference_name) throw UnsupportedError{"cpu:reference has no weights in bfloat16"};
  if (name_ == reference_name) {
    static_cast<void>(reference_of(name_));  // throws if the component is not linked
    return;
  }
  if (name_ != "cpu" && (name_.rfind("cpu:", 0) != 0 || level_of(name_).empty())) {
    throw UnsupportedError{"no backend '" + name_ +
                           "'; there are cpu, cpu:reference, and cpu:LEVEL for an instruction set level"};
  }
  cpu::table_for(level_of(name_));
}

}  // namespace coldpress::dynamic
