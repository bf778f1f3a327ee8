// The backends of networks that are known only at run time. Each is compiled in a file of its own: an engine is every
// layer's forward and backward, which takes a compiler long.
#pragma once

#include "graph.hpp"

#include <coldpress/dynamic/backend.hpp>
#include <coldpress/dynamic/separate_loss.hpp>

namespace coldpress::dynamic {

/// The primitives of a backend, with their type erased.
class AnyBackend {
 public:
  virtual ~AnyBackend() = default;
  virtual std::unique_ptr<Executable> engine(std::unique_ptr<Graph> graph, std::uint64_t seed,
                                             WeightsStart start) const = 0;
  /// The mean loss, as an objective's operator() has it.
  virtual float loss(SeparateObjective& objective, Values y, Shape shape, Values target, Index batch) const = 0;
};

/// The kernels of a level; empty: of the best.
std::unique_ptr<AnyBackend> cpu_backend(std::string const& level, BackendOptions const& options);

/// Backends that are components of their own are made by these, which are null where they are not linked, and set
/// before the program's own objects are made, since a backend may be one of them. They throw UnsupportedError where
/// this machine, or its device, has not what they need.
using BackendMaker = std::unique_ptr<AnyBackend> (*)(std::string const& name, BackendOptions const& options);
BackendMaker& cuda_backends();       // coldpress::cuda
BackendMaker& reference_backends();  // coldpress::dynamic_reference

}  // namespace coldpress::dynamic
