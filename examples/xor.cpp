// The smallest whole program: reads a training and its data from files, saves the network, and prints its outputs.
//
//   xor [CONFIG [DATA]]
//
// ctest: @SOURCE@/examples/configs/xor.capnp.txt
#include <coldpress/data/batches.hpp>
#include <coldpress/persist.hpp>

#include <cstdio>
#include <filesystem>

using namespace coldpress;

int main(int argc, char** argv) try {
  std::filesystem::path const config = argc > 1 ? argv[1] : "examples/configs/xor.capnp.txt";
  auto const training = persist::read_training(config.string());
  auto const table = data::open(argc > 2 ? argv[2] : data::from_folder(config.parent_path().string(), training.data));

  auto solver = persist::solver_of({}, training, table.sample_shape);
  data::Batches batches{table, training.batch, training.seed};
  for (Index epoch = 0; epoch < training.epochs; ++epoch) {
    for (auto const& batch : batches.epoch()) solver.train_minibatch(batch.samples, batch.targets);
  }
  solver.network().save("trained.juice");

  auto const y = dynamic::Layer::load({}, "trained.juice").predict(table.samples);
  for (std::size_t i = 0; i < y.size(); ++i) std::printf("%g expected, %.3f said\n", table.targets[i], y[i]);
  return solver.loss() < 1e-3f ? 0 : 1;
} catch (Error const& error) {
  std::fprintf(stderr, "xor: %s\n", error.what());
  return 1;
}
