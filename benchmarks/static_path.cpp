// The workloads as network types.
#include "paths.hpp"
#include "workloads.hpp"

#include <memory>

namespace bench {
namespace {

template <class W>
void run(Options const& options) {
  if (!options.workload.empty() && options.workload != W::id) return;
  using Net = Network<typename W::Net, W::shape, Batch<W::batch>>;
  auto const net = std::make_unique<Net>(7);
  auto const x = inputs<W>();
  if constexpr (Trains<W>) {
    using Trainer = Solver<Net, W::loss, optimizer>;
    auto const solver = std::make_unique<Trainer>(*net);
    auto const y = targets<W>(Trainer::target_shape.size());
    time_training<W>(options, [&] { return solver->train_minibatch(x, y); });
  } else {
    report(options, W::id, [&] { keep(net->forward(x).data()); });
  }
}

}  // namespace

void run_static(Options const& options) {
  run<T1>(options), run<T2>(options), run<T4>(options), run<I1>(options), run<I2>(options), run<I6>(options);
}

}  // namespace bench
