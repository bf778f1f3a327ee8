// The same workloads as configs, through the dynamic API.
#include "paths.hpp"
#include "workloads.hpp"

#include <coldpress/dynamic.hpp>
#include <coldpress/dynamic/to_config.hpp>

namespace bench {
namespace {

template <class W>
void run(Options const& options) {
  if (!options.workload.empty() && options.workload != W::id) return;
  auto const backend = dynamic::Backend{"cpu"};
  auto const config = dynamic::to_config<typename W::Net, W::shape>();
  auto const x = inputs<W>();
  if constexpr (Trains<W>) {
    dynamic::SolverConfig solver_config{.network = config,
                                        .objective = dynamic::LayerConfig{"loss", W::loss},
                                        .base_lr = optimizer.learning_rate,
                                        .momentum = optimizer.momentum};
    auto solver = dynamic::Solver::from_config(backend, backend, solver_config, {}, 7);
    auto const y = targets<W>(W::loss.target_shape(solver.network().output_shape()).size());
    time_training<W>(options,
                     [&] { return solver.train_minibatch(std::span<float const>{x}, std::span<float const>{y}); });
  } else {
    auto layer = dynamic::Layer::from_config(backend, config, {}, 7);
    layer.set_mode(dynamic::Mode::inference);
    report(options, W::id, [&] { keep(layer.forward(std::span<float const>{x}).data()); });
  }
}

}  // namespace

void run_dynamic(Options const& options) {
  run<T1>(options), run<T2>(options), run<T4>(options), run<I1>(options), run<I2>(options), run<I6>(options);
}

}  // namespace bench
