// The workloads of a list as network types: included by one source for each list.
#pragma once

#include "paths.hpp"
#include "workloads.hpp"

#include <coldpress/stream.hpp>
#include <coldpress/threads.hpp>

#include <memory>

namespace bench {

template <class Backend>
HostTransfer<Backend> storage_of(Options const& options) {
  if constexpr (requires { Backend::on(options.backend); }) {
    return Backend::on(options.backend, options.together);
  } else {
    return {};
  }
}

template <class Workloads, class Backend>
void run_static(Options const& options) {
  ThreadPool threads{options.threads};
  auto const storage = storage_of<Backend>(options);
  run_each<Workloads>(options, [&]<class W>() {
    using Net = Network<typename W::Net, W::shape, Batch<W::batch>, Backend>;
    auto const net = std::make_unique<Net>(7, storage);
    if (options.threads > 1) net->run_on(&threads);
    auto const x = inputs<W>();
    if constexpr (Trains<W>) {
      using Trainer = Solver<Net, W::loss, optimizer_of<W>(), solver_options_of<W>()>;
      auto const solver = std::make_unique<Trainer>(*net);
      auto const y = targets<W>(Trainer::target_shape.size());
      if constexpr (requires { net->upload(x); }) {
        if (options.resident) {
          auto const x_there = net->upload(x), y_there = net->upload(y);
          return time_training<W>(options, [&] { return solver->train_minibatch(x_there, y_there); });
        }
      }
      time_training<W>(options, [&] { return solver->train_minibatch(x, y); });
    } else if constexpr (requires { W::block; }) {
      coldpress::Stream stream{std::as_const(*net), W::block};
      time_blocks<W>(options, stream);
    } else if constexpr (Streams<W>) {
      report(options, W::id, [&] { keep(net->step(x).data()); });
    } else if constexpr (requires { net->upload(x); }) {  // on a GPU; forward downloads the output
      auto const there = net->upload(x);
      auto waited = options;
      waited.waited = true;
      report_gpu(
          waited, W::id, [&] { keep(options.resident ? net->forward(there).data() : net->forward(x).data()); }, [] {});
    } else {
      report(options, W::id, [&] { keep(net->forward(x).data()); });
    }
  });
}

}  // namespace bench
