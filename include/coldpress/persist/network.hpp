// Networks to files and back: static ones by their type, dynamic ones by what the file says. Link coldpress::persist.
#pragma once

#include <coldpress/dynamic/solver.hpp>
#include <coldpress/dynamic/to_config.hpp>
#include <coldpress/persist/checkpoint.hpp>

namespace coldpress {
namespace persist {

/// The weights of a model in the order of its config's layers, each as the network wants it. Throws FormatError where
/// one is missing (a missing bias is zero), is of another shape, or belongs to no layer.
std::vector<std::vector<float>> weights_in_order(Model const& model);

/// As above, after a check that the model's config is `expected`; throws MismatchError, which names the first
/// difference.
std::vector<std::vector<float>> weights_of_type(Model const& model, dynamic::LayerConfig const& expected);

/// What every network has: names and shapes of weights, and values to read.
template <class Net>
std::vector<NamedTensor> tensors_of(Net const& net, auto const& read) {
  std::vector<NamedTensor> tensors;
  for (int i = 0; i < Net::weight_count; ++i) {
    Shape const shape = Net::weight_shape(i);
    std::vector<Index> extents(shape.extents, shape.extents + shape.rank());
    if (shape.rank() == 1) extents.insert(extents.begin(), 1);  // as Juice writes a bias
    std::vector<typename Net::T> values(static_cast<std::size_t>(shape.size()));
    read(net, i, std::span{values});
    tensors.push_back({std::string{Net::weight_name(i).view()}, std::move(extents), {values.begin(), values.end()}});
  }
  return tensors;
}

/// `batch`: the first extent of shapes in the file, for Juice; 0: the network's own, or 1.
template <class Net>
Model model_of(Net const& net, Index batch = 0) requires requires {
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
Model model_of(dynamic::Layer const& layer, Index batch = 1);

/// The values of a model for networks of this type; throws as weights_of_type does.
template <class Net>
std::vector<std::vector<float>> weights_for(Model const& model) {
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
/// Loads a model into a network of the same config, all or nothing.
template <class Net>
void load_model(Net& net, Model const& model) {
  write_weights(net, weights_for<Net>(model));
}
/// Builds the network that a model describes, once all its weights are there. `input`: shape of one sample, where the
/// model does not say.
dynamic::Layer layer_of(dynamic::Backend const& backend, Model const& model, std::optional<Shape> input = {},
                        std::uint64_t seed = 0);

/// The name of a buffer's values of a weight in a checkpoint: of the optimizer's states, and after the last of them, of
/// the gradients that wait for their update.
inline std::string buffer_name(int buffer, int states, std::string const& weight) {
  return weight + (buffer < states ? "/state" + std::to_string(buffer) : "/gradient");
}

/// A static solver's state b, or after the last of them its gradients.
template <class Solver>
auto buffer_of(Solver& solver, int b) {
  if constexpr (!Solver::fused) {
    if (b == Solver::Optimizer::states) return solver.gradients();
  }
  return solver.state(b);
}

/// Weights, optimizer state and random state of a solver; its epoch, position and how it is configured are the caller's
/// to add. Throws DivergenceError if a weight is not finite, so that no ruined one takes the place of a good one.
template <class Solver>
Checkpoint checkpoint_of(Solver& solver) requires requires {
  Solver::objective;
}
{
  using Net = std::remove_cvref_t<decltype(solver.network())>;
  constexpr int states = Solver::Optimizer::states;
  solver.check_finite();
  Progress const progress = solver.progress();
  Checkpoint checkpoint{.model = model_of(solver.network()),
                        .random_state = {solver.network().seed()},
                        .iteration = progress.minibatches,
                        .waiting = static_cast<std::uint64_t>(progress.waiting)};
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
Checkpoint checkpoint_of(dynamic::Solver const& solver);

/// Throws MismatchError where the states in a checkpoint are not those of the optimizer with this name, which has so
/// many for each weight. Which optimizer they are of, the checkpoint's solver says; checkpoint_of a static solver
/// leaves that as it is by default, and then the numbers of states are compared alone.
void check_optimizer(Checkpoint const& checkpoint, std::string_view optimizer, int states);

/// The optimizer states of a checkpoint, and the gradients where samples wait: [buffer][weight]. Throws FormatError
/// where one is missing or of another shape, and MismatchError where samples wait, but the solver's updates are of one
/// minibatch (`accumulates` is not set).
std::vector<std::vector<std::vector<float>>> buffers_in_order(Checkpoint const& checkpoint, int states,
                                                              bool accumulates);

/// Puts a solver where the checkpoint left off: the next step is the one that would have been next. All or nothing.
template <class Solver>
void resume(Solver& solver, Checkpoint const& checkpoint) {
  using Net = std::remove_cvref_t<decltype(solver.network())>;
  if (checkpoint.random_state.size() > 1)
    throw MismatchError{"the checkpoint is of a network that also ran apart from its solver, which must be dynamic"};
  check_optimizer(checkpoint, Solver::Optimizer::name, Solver::Optimizer::states);
  auto const buffers = buffers_in_order(checkpoint, Solver::Optimizer::states, Solver::options.accumulate > 1);
  load_model(solver.network(), checkpoint.model);
  auto const order = dynamic::matching_weights(checkpoint.model.config, dynamic::to_config(solver.network()));
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
/// A solver as the checkpoint left it.
dynamic::Solver solver_of(dynamic::Backend const& backend, Checkpoint const& checkpoint);

}  // namespace persist

/// How a file is written. `batch`: the first extent of its shapes; 0: the network's own, or 1. `for_juice`: see
/// persist::for_juice.
struct SaveOptions {
  Index batch = 0;
  bool for_juice = false;
};

/// Writes config and weights to a file; where its layers are Juice's, Juice reads it with `for_juice`. Atomic. Throws
/// FileError.
template <class Net>
void save(Net const& net, std::string const& path, SaveOptions options = {}) {
  auto model = persist::model_of(net, options.batch);
  persist::write_model(path, options.for_juice ? persist::for_juice(std::move(model)) : std::move(model));
}
/// Reads a network of this type from a file of coldpress or Juice. Throws FileError, FormatError, or MismatchError
/// where the file's config is not the type.
template <class Net>
Net load(std::string const& path, persist::LoadOptions options = {}) {
  auto const weights = with_file(path, [&] { return persist::weights_for<Net>(persist::read_model(path, options)); });
  Net net{0, {}, WeightsStart::zero};
  persist::write_weights(net, weights);
  return net;
}
/// The same into a network that is there; unchanged if anything throws.
template <class Net>
void load_into(Net& net, std::string const& path, persist::LoadOptions options = {}) {
  with_file(path, [&] { persist::load_model(net, persist::read_model(path, options)); });
}

}  // namespace coldpress
