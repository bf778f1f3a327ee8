// The class Solver: trains networks.
#include "bindings.hpp"

#include <coldpress/persist.hpp>

#include <cmath>

namespace coldpress::python {
namespace {

using nb::literals::operator""_a;

/// A network and what trains it.
struct Solver {
  Network network;
};

float train(Solver const& solver, nb::handle input, nb::handle wanted) {
  Input const x = numbers_of(input), targets = numbers_of(wanted);
  return solver.network->train([&](dynamic::Solver& s) {
    Samples const samples = samples_of(x, s.network().input_shape(), 0);
    return static_cast<float>(s.train_minibatch(samples.values, dynamic::Values{targets.data(), targets.size()}));
  });
}

std::unique_ptr<Solver> made(std::filesystem::path const& config, Network network,
                             std::optional<std::vector<Index>> const& input_shape, std::optional<std::uint64_t> seed,
                             std::vector<std::string> const& changes, int threads) {
  auto training = persist::read_training(config.string(), changes);
  training.solver.objective = training.loss;
  if (network && (input_shape || seed))
    throw ConfigError{"input_shape and seed are those of the network, which is given"};
  if (!network) {
    auto const input = input_shape ? std::optional{shape_of(*input_shape)} : std::nullopt;
    network = std::make_shared<Held>(dynamic::Layer::from_config(
        dynamic::Backend{"cpu", {.threads = threads}}, training.network, input, seed.value_or(training.seed)));
  }
  network->train_with(std::move(training.solver));
  return std::make_unique<Solver>(std::move(network));
}

}  // namespace

void add_solver(nb::module_& module) {
  nb::class_<Solver>(module, "Solver", nb::is_final(),
                     "Trains a network as a config says, the file that `coldpress train` takes: its network, loss and "
                     "solver. A `network` that is given is trained instead of the config's, and may go on being used. "
                     "`changes` set fields of the config: [\"solver.baseLr=0.01\"].")
      .def(nb::new_(&made), "config"_a, "network"_a = nb::none(), nb::kw_only(), "input_shape"_a = nb::none(),
           "seed"_a = nb::none(), "changes"_a = std::vector<std::string>{}, "threads"_a = 1)
      .def("train_minibatch", train, "x"_a, "targets"_a,
           "Takes one step with a minibatch (samples, ...) and its targets, and returns the mean loss before the step. "
           "Labels are numbers of classes, one for each sample. Raises DataError for labels that are not a class and "
           "for "
           "values that are not finite, and DivergenceError if the loss is not finite; then no weight has changed.")
      .def_prop_ro(
          "network", [](Solver const& solver) { return solver.network; }, "The network that is trained.")
      .def_prop_ro(
          "iteration",
          [](Solver const& solver) { return solver.network->train([](dynamic::Solver& s) { return s.iteration(); }); },
          "The number of minibatches so far.")
      .def_prop_rw(
          "learning_rate",
          [](Solver const& solver) {
            return solver.network->train([](dynamic::Solver& s) {
              return std::visit([](auto const& optimizer) { return optimizer.learning_rate; }, s.options().optimizer);
            });
          },
          [](Solver const& solver, float rate) {
            if (!(rate >= 0) || !std::isfinite(rate)) {
              ConfigError error{"must be a finite number of at least 0, is " + std::to_string(rate)};
              error.in_field("learning_rate");
              throw error;
            }
            solver.network->train([&](dynamic::Solver& s) {
              std::visit([&](auto& optimizer) { optimizer.learning_rate = rate; }, s.options().optimizer);
            });
          },
          "The learning rate that the policy of the config starts from.")
      .def(
          "save_checkpoint",
          [](Solver const& solver, std::filesystem::path const& path) {
            solver.network->train(
                [&](dynamic::Solver& s) { persist::write_checkpoint(path.string(), persist::checkpoint_of(s)); });
          },
          "path"_a, "Writes all that a training needs to go on as if it had never stopped, atomically.")
      .def(
          "load_checkpoint",
          [](Solver const& solver, std::filesystem::path const& path) {
            solver.network->train([&](dynamic::Solver& s) {
              with_file(path.string(), [&] { persist::resume(s, persist::read_checkpoint(path.string())); });
            });
          },
          "path"_a, "Goes on where the checkpoint was written. Raises MismatchError if it is of another network.");
}

}  // namespace coldpress::python
