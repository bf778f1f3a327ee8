// The class Solver: trains networks.
#include "bindings.hpp"

#include <coldpress/data/network_transforms.hpp>
#include <coldpress/persist.hpp>

#include <algorithm>
#include <limits>

namespace coldpress::python {
namespace {

using nb::literals::operator""_a;

/// A network and what trains it, as long as this lives.
struct Solver {
  explicit Solver(Network trained) : network(std::move(trained)) {}
  Solver(Solver const&) = delete;
  ~Solver() { network->end_training(); }

  Network network;
};

/// The arrays of x: one, or a tuple or list of them. For a network with one input, a list may also be that of its
/// samples, which are as good as the array if there is one.
std::vector<Input> arrays_of(nb::handle x, std::size_t inputs) {
  std::vector<Input> arrays;
  if (nb::isinstance<nb::tuple>(x) || nb::isinstance<nb::list>(x)) {
    if (inputs > 1 || nb::len(x) == 1)
      for (nb::handle const one : x) arrays.push_back(numbers_of(one));
    if (inputs > 1 || (arrays.size() == 1 && arrays[0].ndim() > 0)) return arrays;
    arrays.clear();  // a number is no array
  }
  arrays.push_back(numbers_of(x));
  return arrays;
}

float train(Solver const& solver, nb::handle x, nb::handle wanted) {
  Held& network = *solver.network;
  auto const arrays = arrays_of(x, network.inputs().size());
  std::optional<Input> const targets = wanted.is_none() ? std::nullopt : std::optional{numbers_of(wanted)};
  return network.train([&](dynamic::Solver& s) {
    bool const has_own_losses = !s.config().objective;
    if (!has_own_losses && !targets) refuse("the loss of the config needs targets: train_minibatch(x, targets)");
    if (has_own_losses && targets && arrays.size() == network.inputs().size())
      refuse("the network has its own losses, so it takes targets as inputs, or none: train_minibatch(x)");
    auto const inputs =
        has_own_losses && targets ? train::network_inputs(s.network(), train::InputsFor::own_losses) : network.inputs();
    Given const given{inputs, arrays, network.about().transforms, targets ? &*targets : nullptr};
    if (has_own_losses && !targets && arrays.size() < inputs.size())
      refuse("the losses of the network need targets: train_minibatch(x, targets)");
    return static_cast<float>(has_own_losses ? s.train_minibatch(given.inputs())
                                             : s.train_minibatch(given.inputs(), given.targets()));
  });
}

float& rate_of(dynamic::Solver& solver) {
  return std::visit([](auto& optimizer) -> float& { return optimizer.learning_rate; }, solver.options().optimizer);
}

/// Which of a checkpoint's states is a learning rate that differs from the config's.
constexpr char const* rate_state = "learning_rate";
void save_rate(dynamic::Solver& solver, persist::Checkpoint& checkpoint) {
  if (float const rate = rate_of(solver); rate != solver.config().base_lr)
    checkpoint.states.push_back({rate_state, {.numbers = {static_cast<double>(rate)}}});
}
void check_rate(double rate) {
  if (rate >= 0 && rate <= static_cast<double>(std::numeric_limits<float>::max())) return;
  ConfigError error{"must be a finite number of at least 0, is " + std::to_string(rate)};
  error.in_field("learning_rate");
  throw error;
}
/// The rate that the checkpoint has, of a trainer or of a solver, or else that of the config.
float rate_in(persist::Checkpoint const& checkpoint, dynamic::Solver const& solver) {
  for (char const* const name : {"trainer", rate_state}) {
    auto const state = std::ranges::find(checkpoint.states, name, &persist::NamedState::name);
    if (state == checkpoint.states.end() || state->state.numbers.empty()) continue;
    check_rate(state->state.numbers[0]);
    return static_cast<float>(state->state.numbers[0]);
  }
  return solver.config().base_lr;
}

std::unique_ptr<Solver> made(std::filesystem::path const& config, Network network,
                             std::optional<std::vector<Index>> const& input_shape, std::optional<std::uint64_t> seed,
                             std::vector<std::string> const& changes, std::optional<int> threads) {
  auto training = persist::read_training(config.string(), changes);
  training.solver.objective = training.loss;
  if (network && (input_shape || seed || threads))
    throw ConfigError{"input_shape, seed and threads are those of the network, which is given"};
  if (!network) {
    About about = about_config(training.transforms);
    auto const input = input_shape ? std::optional{shape_of(*input_shape)} : std::nullopt;
    network =
        std::make_shared<Held>(dynamic::Layer::from_config(dynamic::Backend{"cpu", {.threads = threads.value_or(1)}},
                                                           training.network, input, seed.value_or(training.seed)),
                               std::move(about));
  } else if (!training.transforms.empty() && !data::are_fitted_of(network->about().transforms, training.transforms)) {
    MismatchError error{"are not those of the network, which keeps its own"};
    error.in_field("transforms");
    throw error;
  }
  network->train_with(std::move(training.solver));
  return std::make_unique<Solver>(std::move(network));
}

}  // namespace

void add_solver(nb::module_& module) {
  nb::class_<Solver>(
      module, "Solver", nb::is_final(),
      "Trains a network as a config says, the file that `coldpress train` takes: its network, loss and "
      "solver. A `network` that is given is trained instead of the config's, and may go on being used. "
      "`changes` set fields of the config: [\"solver.baseLr=0.01\"]. Raises UnsupportedError for transforms "
      "that draw random numbers, or whose numbers are still to be found in data.")
      .def(nb::new_(&made), "config"_a, "network"_a = nb::none(), nb::kw_only(), "input_shape"_a = nb::none(),
           "seed"_a = nb::none(), "changes"_a = std::vector<std::string>{}, "threads"_a = nb::none())
      .def(
          "train_minibatch", train, "x"_a, "targets"_a = nb::none(),
          "Takes one step with a minibatch (samples, ...) and its targets, and returns the mean loss before the step. "
          "For a network with several inputs, `x` is a tuple of arrays; for one input it may be a tuple of one. A "
          "network with its own losses takes targets as inputs, train_minibatch((x, y)) or train_minibatch(x, y), or "
          "none. Samples and targets first go through the network's transforms. Labels are numbers of classes, one for "
          "each sample. Raises DataError for labels that are not a class and for values that are not finite, and "
          "DivergenceError if the loss is not finite; then no weight has changed.")
      .def_prop_ro(
          "network", [](Solver const& solver) { return solver.network; }, "The network that is trained.")
      .def_prop_ro(
          "iteration",
          [](Solver const& solver) { return solver.network->train([](dynamic::Solver& s) { return s.iteration(); }); },
          "The number of minibatches so far.")
      .def_prop_rw(
          "learning_rate",
          [](Solver const& solver) { return solver.network->train([](dynamic::Solver& s) { return rate_of(s); }); },
          [](Solver const& solver, float rate) {
            check_rate(static_cast<double>(rate));
            solver.network->train([&](dynamic::Solver& s) { rate_of(s) = rate; });
          },
          "The learning rate that the policy of the config starts from.")
      .def(
          "save_checkpoint",
          [](Solver const& solver, std::filesystem::path const& path) {
            solver.network->train([&](dynamic::Solver& s) {
              persist::Checkpoint checkpoint = persist::checkpoint_of(s);
              solver.network->about().write_to(checkpoint.model);
              save_rate(s, checkpoint);
              persist::write_checkpoint(path.string(), checkpoint);
            });
          },
          "path"_a, "Writes all that a training needs to go on as if it had never stopped, atomically.")
      .def(
          "load_checkpoint",
          [](Solver const& solver, std::filesystem::path const& path) {
            solver.network->train([&](dynamic::Solver& s) {
              with_file(path.string(), [&] {
                persist::Checkpoint const checkpoint = persist::read_checkpoint(path.string());
                if (checkpoint.model.transforms != solver.network->about().transforms)
                  throw MismatchError{"the checkpoint was made with other transforms of the samples"};
                float const rate = rate_in(checkpoint, s);
                persist::resume(s, checkpoint);
                rate_of(s) = rate;
              });
            });
          },
          "path"_a, "Goes on where the checkpoint was written. Raises MismatchError if it is of another network.");
}

}  // namespace coldpress::python
