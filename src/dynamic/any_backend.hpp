// The backends of networks that are known only at run time, with their types erased.
#pragma once

// Each backend is compiled in a file of its own: its engine contains every layer's forward and backward passes, which
// take long to compile.

#include "graph.hpp"

#include <coldpress/dynamic/backend.hpp>
#include <coldpress/dynamic/separate_loss.hpp>

namespace coldpress::dynamic {

/// A backend with its type erased: it makes engines, and computes losses.
class AnyBackend {
 public:
  virtual ~AnyBackend() = default;
  virtual std::unique_ptr<Executable> engine(std::unique_ptr<Graph> graph, std::uint64_t seed,
                                             WeightsStart start) const = 0;
  /// The mean loss, as SeparateObjective::operator() returns it.
  virtual float loss(SeparateObjective& objective, Values y, Shape shape, Values target, Index batch) const = 0;
};

/// The backend with the kernels of an instruction set level; the empty string means the best level.
std::unique_ptr<AnyBackend> cpu_backend(std::string const& level, BackendOptions const& options);

/// Whether this names a GPU, or the emulated one.
bool is_cuda(std::string const& backend);
/// Makes the backend that this names. A Backend may come from another shared library, which has components of its own.
/// Throws UnsupportedError as the constructor of Backend does.
std::unique_ptr<AnyBackend> any_backend(Backend const& backend);

/// The functions that make the backends of separate components. They are null if the component is not linked, and are
/// set before the program's own objects are constructed, because one of these may be a backend. They throw
/// UnsupportedError if this machine or its device lacks what they need.
using BackendMaker = std::unique_ptr<AnyBackend> (*)(std::string const& name, BackendOptions const& options);
BackendMaker& cuda_backends();       // coldpress::cuda
BackendMaker& reference_backends();  // coldpress::dynamic_reference

}  // namespace coldpress::dynamic
