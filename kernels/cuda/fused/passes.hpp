// Compiles each pass of a network from a config to one kernel when the pass first runs.
#pragma once

#include "source.hpp"

#include <coldpress/cuda/device.hpp>
#include <coldpress/cuda/program.hpp>
#include <coldpress/run/run.hpp>

#include <map>
#include <utility>

namespace coldpress::cuda {

class FusedPasses {
 public:
  /// The program is borrowed.
  explicit FusedPasses(dynamic::Program const& program) : program_(program) {}
  dynamic::Program const& program() const { return program_; }

  /// Gathers the kernel of what(run, more...). `by_layers` gathers the same work as one kernel per layer; it is used
  /// only to get the launch estimate.
  template <class What, class Run, class ByLayers, class... More>
  void play(Device& device, Run const& run, ByLayers by_layers, More const&... more) {
    using Body = PassArguments<Index, dynamic::Program::inputs_capacity, void, Pack<More...>>;
    Made& made = made_[name_of_type<Pack<What, More...>>()];
    if (!made.compiled.kernel && !made.compiled.loops) {
      made.compiled = device.compile(
          source_of(program_, run.backend.precision, name_of_type<What>(), name_of_type<Pack<More...>>()));
    }
    auto const size = std::pair{run.batch, run.state != nullptr};
    if (made.estimates.count(size) == 0) {
      grid::LaunchEstimate estimate = device.launch_estimate_of(by_layers);
      if (estimate.blocks > 1)
        estimate.barriers = std::max<Index>(estimate.barriers, 1);  // there may be barriers between layers
      made.estimates.emplace(size, estimate);
    }

    Body body{{run.parameters, run.workspace, {}, run.seed, run.step, run.state, run.sums},
              run.batch,
              nullptr,
              pack(more...)};
    Grid grid = device.grid();
    grid.scratch = run.backend.scratch, grid.workers = run.backend.workers, grid.own_scratch = run.backend.own_scratch;
    for (std::size_t k = 0; k < run.inputs.size(); ++k) body.at.inputs_[k] = run.inputs[k];
    Call call{};
    call.kernel = made.compiled.kernel, call.loops = made.compiled.loops;
    device.gather(call, made.estimates.at(size), grid, body);
  }

 private:
  struct Made {
    Compiled compiled;
    std::map<std::pair<Index, bool>, grid::LaunchEstimate> estimates;  // by batch size, and whether it is a stream
  };
  dynamic::Program const& program_;
  std::map<std::string_view, Made> made_;  // by What and the types of its arguments
};

}  // namespace coldpress::cuda
