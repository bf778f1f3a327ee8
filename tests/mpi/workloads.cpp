// Trains T1, T2, T3, T5 and a residual network, as types and from configs, alone or started by mpirun, and writes a
// checkpoint of each: FOLDER/ID.type and FOLDER/ID.config. All ranks must have the same bytes. compare_bits.py compares
// the files of different numbers of processes.
//
// Usage: [mpirun -n N] test_mpi_workloads FOLDER STEPS [FOLDER OF THE CHECKPOINTS TO GO ON FROM]
#include "benchmarks/workloads.hpp"

#include <coldpress/distributed.hpp>
#include <coldpress/persist.hpp>
#include <coldpress/testing/minibatch.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

using namespace coldpress;

constexpr auto residual = graph([](auto x) {
  constexpr Convolution same_size{.num_output = 8, .filter_shape = 3, .padding = 1};
  auto const first = x | same_size | BatchNormalization{} | ReLU{};
  auto const second = first | same_size | BatchNormalization{} | ReLU{} | same_size | BatchNormalization{};
  return (first + second) | ReLU{} | Dropout{.probability = 0.25f} | Linear{10} | LogSoftmax{};
});
struct Residual {
  static constexpr char const* id = "residual";
  using Net = Graph<residual>;
  static constexpr Shape shape{3, 12, 12};
  static constexpr NegativeLogLikelihood loss{10};
  static constexpr Adam optimizer{};
  static constexpr Index batch = 32;
};
using All = TypeList<bench::T1, bench::T2, bench::T3, bench::T5, Residual>;

constexpr Index parts = 8;  // of a minibatch

struct Task {
  std::string folder, from;
  std::uint64_t steps;
  Communicator* communicator;  // null: this process is alone
};

/// Trains until so many steps are taken, with minibatches that depend on the step alone.
template <class W>
persist::Checkpoint train(Task const& task, std::string const& name, auto& solver, auto step, Shape const& output) {
  if (!task.from.empty()) persist::resume(solver, persist::read_checkpoint(task.from + "/" + name));
  if (task.communicator) distributed::start(solver, *task.communicator);
  while (step() < task.steps) {
    testing::Random random{static_cast<std::uint32_t>(step()) + 1};
    auto const x = random.values<float>(W::batch * W::shape.size());
    auto const targets = testing::targets_of<W::loss, float>(random, W::batch, output);
    solver.train_minibatch(x, targets);
  }
  persist::Checkpoint checkpoint = persist::checkpoint_of(solver);
  if (task.communicator) {
    auto const bytes = persist::serialize(checkpoint);
    Fingerprint hash;
    hash.word(bytes.size());
    for (std::size_t i = 0; i < bytes.size(); i += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + i, std::min(sizeof word, bytes.size() - i));
      hash.word(word);
    }
    distributed::check_same(*task.communicator, {{"the checkpoint of " + name, std::to_string(hash.number)}});
  }
  if (!task.communicator || task.communicator->rank() == 0)
    persist::write_checkpoint(task.folder + "/" + name, checkpoint);
  return checkpoint;
}

/// All weights and optimizer states.
std::vector<std::vector<float>> values_of(persist::Checkpoint const& checkpoint) {
  std::vector<std::vector<float>> all;
  for (auto const* tensors : {&checkpoint.model.weights, &checkpoint.optimizer_state}) {
    for (auto const& tensor : *tensors) all.push_back(tensor.values);
  }
  return all;
}

template <class W>
void train_both(Task const& task) {
  using Net = Network<typename W::Net, W::shape>;
  constexpr bool synchronized = std::is_same_v<W, Residual>;  // the only one with layers that can
  constexpr SolverOptions options{.microbatch = W::batch / parts, .sync_batch_normalization = synchronized};
  auto const net = std::make_unique<Net>(7);
  auto const typed = std::make_unique<Solver<Net, W::loss, bench::optimizer_of<W>(), options>>(*net);
  auto from_config =
      dynamic::Solver::from_config(dynamic::Backend::like_static(), dynamic::to_solver_config(*typed), {}, 7);
  std::string const id = W::id;
  auto const a = train<W>(
      task, id + ".type", *typed, [&] { return typed->progress().minibatches; }, Net::output_shape);
  auto const b = train<W>(
      task, id + ".config", from_config, [&] { return from_config.iteration(); }, Net::output_shape);
  if (values_of(a) != values_of(b)) throw Error{id + ": a type and a config do not have the same bits"};
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) return std::fprintf(stderr, "usage: %s FOLDER STEPS [FOLDER TO GO ON FROM]\n", arguments[0]), 2;
  Task task{arguments[1], count > 3 ? arguments[3] : "", std::strtoull(arguments[2], nullptr, 10), nullptr};
  try {
    std::unique_ptr<distributed::Mpi> mpi;
    if (distributed::launched_ranks() > 1) mpi = std::make_unique<distributed::Mpi>();
    task.communicator = mpi.get();
    for_each_type(All{}, [&]<class W>() { train_both<W>(task); });
  } catch (std::exception const& error) {
    return std::fprintf(stderr, "%s\n", error.what()), 1;
  }
}
