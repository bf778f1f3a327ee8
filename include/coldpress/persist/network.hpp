// Saves and loads networks, static ones by their type and dynamic ones by what the file says.
#pragma once

// Link coldpress::persist.

#include <coldpress/dynamic/solver.hpp>
#include <coldpress/dynamic/to_config.hpp>
#include <coldpress/persist/checkpoint.hpp>
#include <coldpress/persist/training.hpp>

namespace coldpress {
namespace persist {

/// The weights of a model in the order of its config's layers, each in the form that the network expects. Throws
/// FormatError if a weight is missing (a missing bias is zero), has another shape, or belongs to no layer, and
/// MismatchError if a weight that layers share has other values in one of them.
std::vector<std::vector<float>> weights_in_order(Model const& model);

/// The same, after checking that the model's config is `expected`. Throws MismatchError, which names the first
/// difference.
[[nodiscard]] std::vector<std::vector<float>> weights_of_type(Model const& model, dynamic::LayerConfig const& expected);

/// The names, shapes and values of all weights of any network.
template <class Net>
[[nodiscard]] std::vector<NamedTensor> tensors_of(Net const& net, auto const& read) {
  std::vector<NamedTensor> tensors;
  for (int i = 0; i < Net::weight_count; ++i) {
    Shape const shape = Net::weight_shape(i);
    std::vector<typename Net::T> values(static_cast<std::size_t>(shape.size()));
    read(net, i, std::span{values});
    tensors.push_back(
        {std::string{Net::weight_name(i).view()}, dynamic::juice_extents(shape), {values.begin(), values.end()}});
  }
  return tensors;
}

/// `batch` is the first extent of the shapes in the file, which Juice needs; 0 means the network's own batch size, or
/// 1.
template <class Net>
[[nodiscard]] Model model_of(Net const& net, Index batch = 0) requires requires {
  typename Net::Graph;
}
{
  return {.name = "network",
          .config = dynamic::to_config<typename Net::Type, Net::inputs>(),
          .weights = tensors_of(net, [](Net const& n, int i, auto values) { n.read_weight(i, values); }),
          .batch = batch > 0                  ? batch
                   : Net::Batch::capacity > 0 ? Net::Batch::capacity
                                              : 1};
}
[[nodiscard]] Model model_of(dynamic::Layer const& layer, Index batch = 1);

/// The values of a model for networks of this type. Throws as weights_of_type does.
template <class Net>
[[nodiscard]] std::vector<std::vector<float>> weights_for(Model const& model) {
  return weights_of_type(model, dynamic::to_config<typename Net::Type, Net::inputs>());
}
template <class Net>
void write_weights(Net& net, std::vector<std::vector<float>> const& weights) {
  for (int i = 0; i < Net::weight_count; ++i) {
    auto const& values = weights[static_cast<std::size_t>(i)];
    std::vector<typename Net::T> const converted(values.begin(), values.end());
    net.write_weight(i, converted);
  }
}
/// Loads a model into a network of the same config, completely or not at all. Throws as weights_of_type does.
template <class Net>
void load_model(Net& net, Model const& model) {
  write_weights(net, weights_for<Net>(model));
}
/// Builds the network that a model describes, with its weights. `input` is the shape of one sample, for models that do
/// not say it. Throws as weights_in_order and dynamic::Layer::from_config do.
[[nodiscard]] dynamic::Layer layer_of(dynamic::Backend const& backend, Model const& model,
                                      std::optional<Shape> input = {}, std::uint64_t seed = 0);

/// The name in a checkpoint of a buffer that belongs to a weight: a state of the optimizer or, after the last state,
/// the gradients that wait for their update.
inline std::string buffer_name(int buffer, int states, std::string const& weight) {
  return weight + (buffer < states ? "/state" + std::to_string(buffer) : "/gradient");
}

/// The name in a checkpoint of a static solver's optimizer. That of a program's own begins with "custom", since it may
/// have no name, or a built-in one's that it is derived from.
template <class Optimizer>
std::string optimizer_name() {
  if constexpr (dynamic::names_optimizer<Optimizer>) {
    return std::string{Optimizer::name};
  } else if constexpr (requires { Optimizer::name; }) {
    return "custom " + std::string{Optimizer::name};
  } else {
    return "custom";
  }
}

/// The loss of a static solver as a config has it; nothing for one that is not built in, or is in the network.
template <class Solver>
std::optional<dynamic::LayerConfig> built_in_loss() {
  if constexpr (std::is_constructible_v<dynamic::LayerType, decltype(Solver::objective)>) {
    return dynamic::LayerConfig{"loss", Solver::objective};
  } else {
    return {};
  }
}

/// Buffer b of a static solver: its state b or, after the last state, its gradients.
template <class Solver>
auto buffer_of(Solver& solver, int b) {
  if constexpr (!Solver::fused) {
    if (b == Solver::Optimizer::states) return solver.gradients();
  }
  return solver.state(b);
}

/// The weights, optimizer and random state of a solver, its options, and its loss if it is built in; the caller adds
/// the epoch, the position and the data. Throws DivergenceError if a weight is not finite, so that a ruined checkpoint
/// never replaces a good one, and UnsupportedError if ranks divide the optimizer's state and it is not gathered here
/// (Solver::gather_state).
template <class Solver>
[[nodiscard]] Checkpoint checkpoint_of(Solver& solver) requires requires {
  Solver::objective;
}
{
  using Net = std::remove_cvref_t<decltype(solver.network())>;
  constexpr int states = Solver::Optimizer::states;
  solver.check_finite();
  Progress const progress = solver.progress();
  Checkpoint checkpoint{.model = model_of(solver.network()),
                        .loss = built_in_loss<Solver>(),
                        .optimizer = optimizer_name<typename Solver::Optimizer>(),
                        .random_state = {solver.network().seed()},
                        .iteration = progress.minibatches,
                        .waiting = static_cast<std::uint64_t>(progress.waiting)};
  if constexpr (dynamic::names_optimizer<typename Solver::Optimizer>) {
    checkpoint.solver = dynamic::training_of(solver);
    checkpoint.solver.shard_optimizer = false;
  }
  for (int b = 0; b < states + (progress.waiting > 0); ++b) {
    auto tensors = tensors_of(solver.network(), [&](Net const& net, int i, auto values) {
      net.read(buffer_of(solver, b).data(), i, values);
    });
    for (NamedTensor& tensor : tensors) {
      tensor.name = buffer_name(b, states, tensor.name);
      checkpoint.optimizer_state.push_back(std::move(tensor));
    }
  }
  return checkpoint;
}
[[nodiscard]] Checkpoint checkpoint_of(dynamic::Solver const& solver);

/// Throws MismatchError if the states in a checkpoint are not those of the named optimizer, which has `states` of them
/// per weight. Of network types, older versions did not write the optimizer's name; then only the numbers of states are
/// compared.
void check_optimizer(Checkpoint const& checkpoint, std::string_view optimizer, int states);

/// Throws MismatchError if the checkpoint says a loss of another kind than `loss`, which is the solver's. It says none
/// where the network has its own losses or the loss is not built in; nor did older versions of network types.
void check_loss(Checkpoint const& checkpoint, std::optional<dynamic::LayerConfig> const& loss);

/// The optimizer states of a checkpoint, and the gradients if samples wait: [buffer][weight]. Throws FormatError if one
/// is missing or has another shape, and MismatchError if samples wait but the solver updates after each minibatch
/// (`accumulates` is false).
[[nodiscard]] std::vector<std::vector<std::vector<float>>> buffers_in_order(Checkpoint const& checkpoint, int states,
                                                                            bool accumulates);

/// Puts a solver where the checkpoint left off, so that its next step is the one that would have come next. Its options
/// and the numbers of its optimizer and loss, such as the learning rate, stay its own. Either everything is restored or
/// nothing. Throws as check_optimizer, check_loss, buffers_in_order and weights_of_type do.
template <class Solver>
void resume(Solver& solver, Checkpoint const& checkpoint) {
  using Net = std::remove_cvref_t<decltype(solver.network())>;
  if (checkpoint.random_state.size() > 1)
    throw MismatchError{
        "the checkpoint is of a network that also ran without its solver; only a dynamic solver can resume it"};
  check_optimizer(checkpoint, optimizer_name<typename Solver::Optimizer>(), Solver::Optimizer::states);
  check_loss(checkpoint, built_in_loss<Solver>());
  auto const buffers = buffers_in_order(checkpoint, Solver::Optimizer::states, Solver::options.accumulate > 1);
  load_model(solver.network(), checkpoint.model);
  auto const order = dynamic::matching_weights(checkpoint.model.config, dynamic::to_config(solver.network()));
  solver.set_progress({});  // no gradients wait any more
  solver.clear_state();
  for (std::size_t b = 0; b < buffers.size(); ++b) {
    for (int i = 0; i < Net::weight_count; ++i) {
      auto const& values = buffers[b][order[static_cast<std::size_t>(i)]];
      std::vector<typename Net::T> const converted(values.begin(), values.end());
      solver.network().write(buffer_of(solver, static_cast<int>(b)).data(), i, converted);
    }
  }
  if (!checkpoint.random_state.empty()) solver.network().set_seed(checkpoint.random_state[0]);
  solver.set_progress({checkpoint.iteration, static_cast<Index>(checkpoint.waiting)});
}
/// The same for a solver of a config. Throws MismatchError, too, if its network does not have the checkpoint's seed.
void resume(dynamic::Solver& solver, Checkpoint const& checkpoint);
/// A solver in the state that the checkpoint recorded, of a config or of a network type that has an optimizer and a
/// loss which are built in. Throws MismatchError if one is not, and as resume, dynamic::Layer::from_config and
/// dynamic::Solver's constructor do.
dynamic::Solver solver_of(dynamic::Backend const& backend, Checkpoint const& checkpoint);
/// A solver that begins the training: its network has new weights, made with the training's seed, and is trained for
/// the training's loss. `input` is the shape of a sample, for a network that does not state it. Data, transforms and
/// monitoring are left to the caller. Throws what dynamic::Solver::from_config throws.
dynamic::Solver solver_of(dynamic::Backend const& backend, Training const& training, std::optional<Shape> input = {});

}  // namespace persist

/// How a file is written. `batch` is the first extent of its shapes; 0 means the network's own batch size, or 1.
/// `for_juice` is described at persist::for_juice.
struct SaveOptions {
  Index batch = 0;
  bool for_juice = false;
};

/// Writes config and weights to a file, atomically; transforms of samples and names of classes are written by
/// persist::write_model. With `for_juice`, Juice can read the file if it has all the layers. Throws FileError.
template <class Net>
void save(Net const& net, std::string const& path, SaveOptions options = {}) {
  auto model = persist::model_of(net, options.batch);
  persist::write_model(path, options.for_juice ? persist::for_juice(std::move(model)) : std::move(model));
}
/// Reads a network of this type from a file of coldpress or Juice, without the transforms of samples, which
/// persist::read_model returns. Throws FileError, FormatError, or MismatchError if the file's config is not that of the
/// type.
template <class Net>
Net load(std::string const& path, persist::LoadOptions options = {}) {
  auto const weights = with_file(path, [&] { return persist::weights_for<Net>(persist::read_model(path, options)); });
  Net net{0, {}, WeightsStart::zero};
  persist::write_weights(net, weights);
  return net;
}
/// The same into an existing network, which is unchanged if anything throws.
template <class Net>
void load_into(Net& net, std::string const& path, persist::LoadOptions options = {}) {
  with_file(path, [&] { persist::load_model(net, persist::read_model(path, options)); });
}

}  // namespace coldpress
