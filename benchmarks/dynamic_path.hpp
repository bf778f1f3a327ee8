// Runs workloads as configs, through the dynamic API.
#pragma once

#include "paths.hpp"
#include "workloads.hpp"

#include <coldpress/dynamic.hpp>
#include <coldpress/dynamic/to_config.hpp>

#include <algorithm>
#include <optional>

namespace bench {

/// A solver's loss; reading it as a number waits for the step.
struct LossOf {
  dynamic::Solver const* solver;
  operator float() const { return solver->loss(); }
};
/// A minibatch of a workload as a tensor {batch, ...}.
template <class W>
dynamic::SharedTensor tensor_of(std::vector<float> const& values) {
  dynamic::SharedTensor tensor{{W::batch, static_cast<Index>(values.size()) / W::batch}};
  std::copy(values.begin(), values.end(), tensor.write_only().begin());
  return tensor;
}

/// Runs all workloads of some lists.
template <class... Lists>
void run_configs(Options const& options, Lists...) {
  auto const backend = dynamic::Backend{options.backend,
                                        {.threads = options.threads,
                                         .fused = options.path == "fused",
                                         .libraries = options.path == "libraries",
                                         .passes_a_launch = options.together}};
  auto const run = [&]<class W>() {
    auto const config = dynamic::to_config<typename W::Net, W::shape>();
    auto const x = inputs<W>();
    if constexpr (Trains<W>) {
      constexpr auto own = optimizer_of<W>();
      dynamic::SolverConfig solver_config{.network = config,
                                          .objective = dynamic::LayerConfig{"loss", W::loss},
                                          .solver = own,
                                          .base_lr = own.learning_rate};
      if constexpr (requires { own.momentum; }) solver_config.momentum = own.momentum;
      if (solver_options_of<W>().microbatch > 0) solver_config.microbatch = solver_options_of<W>().microbatch;
      auto solver = dynamic::Solver::from_config(backend, backend, solver_config, {}, 7);
      auto const y = targets<W>(W::loss.target_shape(solver.network().output_shape()).size());
      if (options.resident) {
        auto const x_there = solver.network().upload(tensor_of<W>(x)),
                   y_there = solver.network().upload(tensor_of<W>(y));
        time_training<W>(options, [&] { return solver.train_minibatch(x_there, y_there), LossOf{&solver}; });
      } else {
        time_training<W>(options,
                         [&] { return solver.train_minibatch(std::span<float const>{x}, std::span<float const>{y}); });
      }
    } else {
      auto layer = dynamic::Layer::from_config(backend, config, {}, 7);
      layer.set_mode(dynamic::Mode::inference);
      if constexpr (requires { W::block; }) {
        dynamic::Stream stream{layer, W::block};
        time_blocks<W>(options, stream);
      } else if constexpr (Streams<W>) {
        report(options, W::id, [&] { keep(layer.step(std::span<float const>{x}).data()); });
      } else if (options.on_gpu()) {
        auto const x_here = tensor_of<W>(x), given = options.resident ? layer.upload(x_here) : x_here;
        std::optional<dynamic::SharedTensor> y;
        report_gpu(
            options, W::id, [&] { y.reset(), y = layer.forward(given); }, [&] { keep(y->read().data()); });
      } else {
        report(options, W::id, [&] { keep(layer.forward(std::span<float const>{x}).data()); });
      }
    }
  };
  (run_each<Lists>(options, run), ...);
}

}  // namespace bench
