// Training that stops half-way and continues later, in this process or another, bit for bit as if it had never stopped.
// ctest:
#include <coldpress/data/batches.hpp>
#include <coldpress/dynamic.hpp>
#include <coldpress/persist.hpp>

#include <algorithm>
#include <cstdio>

using namespace coldpress;

namespace {

constexpr int stop = 70, end = 200;  // steps

/// Trains until so many steps are done.
void train(dynamic::Solver& solver, data::Batches& batches, std::uint64_t steps) {
  while (solver.iteration() < steps) {
    auto const batch = batches.next();
    solver.train_minibatch(batch.samples, batch.targets);
  }
}

}  // namespace

int main() {
  data::Dataset sums{.sample_shape = Shape{2}, .target_shape = Shape{1}};
  for (int i = 0; i < 100; ++i) {
    float const a = static_cast<float>(i % 10) / 10, b = static_cast<float>(i / 10) / 10;
    sums.samples.insert(sums.samples.end(), {a, b});
    sums.targets.push_back(a + b);
  }
  dynamic::SequentialConfig layers;
  layers.add_input("two", Shape{2});
  layers.add_layer({"linear1", Linear{16}}).add_layer({"tanh1", TanH{}}).add_layer({"linear2", Linear{1}});
  dynamic::SolverConfig const config{.network = dynamic::LayerConfig{"sum", layers},
                                     .objective = dynamic::LayerConfig{"loss", MeanSquaredError{}},
                                     .solver = Adam{},
                                     .base_lr = 0.01f};
  dynamic::Backend const cpu{"cpu"};

  {  // The first run ends with a checkpoint: the solver, and where its data stands.
    auto solver = dynamic::Solver::from_config(cpu, config, {}, 42);
    data::Batches batches{sums, 8, 1};
    train(solver, batches, stop);
    persist::Checkpoint checkpoint = persist::checkpoint_of(solver);
    checkpoint.epoch = batches.position().epoch;
    checkpoint.position = static_cast<std::uint64_t>(batches.position().offset);
    persist::write_checkpoint("sum.checkpoint", checkpoint);
  }

  // The second one knows the file and the data, and nothing else.
  persist::Checkpoint const checkpoint = persist::read_checkpoint("sum.checkpoint");
  auto resumed = persist::solver_of(cpu, checkpoint);
  data::Batches rest{sums, 8, 1};
  rest.seek({checkpoint.epoch, static_cast<Index>(checkpoint.position)});
  train(resumed, rest, end);

  // A run that never stopped has the same weights.
  auto whole = dynamic::Solver::from_config(cpu, config, {}, 42);
  data::Batches batches{sums, 8, 1};
  train(whole, batches, end);
  bool same = true;
  for (std::size_t i = 0; i < whole.network().learnable_weights_data().size(); ++i) {
    auto const a = resumed.network().learnable_weights_data()[i].read(),
               b = whole.network().learnable_weights_data()[i].read();
    same = same && std::equal(a.begin(), a.end(), b.begin(), b.end());
  }
  std::printf("stopped after %d of %d steps: loss %.1e, %s\n", stop, end, double{resumed.loss()},
              same ? "the weights of a run that never stopped" : "other weights than a run that never stopped");
  return same ? 0 : 1;
}
