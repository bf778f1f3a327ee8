// A hash of everything that a network computes, for a network type and for its config. Two builds of coldpress for one
// instruction set compute the same bits exactly if they print the same lines.
#pragma once

#include <coldpress/coldpress.hpp>
#include <coldpress/core/fingerprint.hpp>
#include <coldpress/dynamic/adapter.hpp>
#include <coldpress/dynamic/solver.hpp>
#include <coldpress/testing/minibatch.hpp>
#include <coldpress/typed/operations.hpp>

#include <array>
#include <cstdio>
#include <memory>
#include <span>
#include <vector>

namespace coldpress::equal_bits {

using Values = std::span<float const>;

inline void add(Fingerprint& hash, Values values) {
  for (float const value : values) hash.word(bits_of(value));
}
inline void add(Fingerprint& hash, float value) { hash.word(bits_of(value)); }

/// The inputs of a minibatch.
template <class Net>
auto minibatch(testing::Random& random, Index batch, Index classes) {
  return testing::Minibatch<Net::input_count>{random, batch, [](int k) { return Net::inputs[k]; }, classes};
}
/// The targets of `loss`, which some losses take as probabilities.
template <class Net, auto loss>
std::vector<float> targets(testing::Random& random, Index batch) {
  return testing::targets_of<loss, float>(random, batch, Net::output_shape, 0.1f, 1);
}

template <class Net>
void add_weights(Fingerprint& hash, Net const& net, float const* storage) {
  for (int i = 0; i < Net::weight_count; ++i) {
    std::vector<float> values(static_cast<std::size_t>(Net::weight_shape(i).size()));
    net.read(storage, i, values);
    add(hash, values);
  }
}
inline void add_weights(Fingerprint& hash, dynamic::Executable const& net, int buffer) {
  for (int i = 0; i < static_cast<int>(net.weights().size()); ++i) {
    std::vector<float> values(static_cast<std::size_t>(net.weights()[static_cast<std::size_t>(i)].shape.size()));
    net.read(buffer, i, values);
    add(hash, values);
  }
}

constexpr Index batches[] = {1, 2, 7, 17, 64};
constexpr int steps = 20;

/// Of a network type: outputs in inference and in training, gradients of inputs and weights, losses and weights of 20
/// steps.
template <class Net, auto loss, auto optimizer, SolverOptions options, Index classes>
std::uint64_t typed_hash() {
  auto const net = std::make_unique<Net>(3);
  Fingerprint hash;
  testing::Random random{5};
  std::uint64_t step = 0;
  for (Index const batch : batches) {
    auto const x = minibatch<Net>(random, batch, classes);
    typename Net::Workspace inference;
    net->forward(x.spans, inference);
    typename Net::TrainingWorkspace workspace;
    net->forward_training(x.spans, workspace, ++step);
    std::array<std::vector<float>, Net::output_count> dy;
    std::array<Values, Net::output_count> dy_spans;
    for (int k = 0; k < Net::output_count; ++k) {
      add(hash, inference.output(k)), add(hash, workspace.output(k));
      auto& values = dy[static_cast<std::size_t>(k)];
      values = random.values<float>(batch * Net::shape_of_output(k).size());
      dy_spans[static_cast<std::size_t>(k)] = values;
    }
    net->backward(dy_spans, workspace);
    for (int k = 0; k < Net::input_count; ++k) {
      Values const dx = workspace.input_gradient(k);
      add(hash, dx);  // empty where no gradient arrives, for which a config has zeros
      if (dx.empty()) add(hash, std::vector<float>(x.values[static_cast<std::size_t>(k)].size()));
    }
    add_weights(hash, *net, workspace.gradients().data());
  }
  Solver<Net, loss, optimizer, options> solver{*net};
  solver.set_progress({step});  // as many steps as the config's layer has taken
  for (int i = 0; i < steps; ++i) {
    Index const batch = i % 3 == 2 ? 5 : 16;
    auto const x = minibatch<Net>(random, batch, classes);
    if constexpr (Loss<std::remove_cvref_t<decltype(loss)>>) {
      add(hash, solver.train_minibatch(x.spans[0], targets<Net, loss>(random, batch)));
    } else {
      add(hash, solver.train_minibatch(x.spans));
    }
  }
  add_weights(hash, *net, net->parameters().data());
  return hash.number;
}

/// Of its config: the same, by the run-time API.
template <class Net, auto loss, auto optimizer, SolverOptions options, Index classes>
std::uint64_t config_hash() {
  using dynamic::Executable;
  auto const backend = dynamic::Backend::like_static();
  auto net = std::make_unique<Net>(3);
  Solver<Net, loss, optimizer, options> const typed{*net};
  auto const training = dynamic::to_solver_config(typed);
  auto layer = dynamic::Layer::from_config(backend, dynamic::to_config(*net), {}, 3);
  Executable& executable = layer.executable();
  Fingerprint hash;
  testing::Random random{5};
  for (Index const batch : batches) {
    auto const x = minibatch<Net>(random, batch, classes);
    for (Values const y : executable.forward(x.spans, dynamic::Mode::inference)) add(hash, y);
    std::vector<std::vector<float>> dy;
    for (Values const y : executable.forward(x.spans, dynamic::Mode::training)) {
      add(hash, y);
      dy.push_back(random.values<float>(static_cast<Index>(y.size())));
    }
    std::vector<Values> const spans(dy.begin(), dy.end());
    for (Values const dx : executable.backward_input(spans)) add(hash, dx);
    executable.backward_parameters();
    add_weights(hash, executable, Executable::gradient);
  }
  dynamic::Solver solver{std::move(layer), training};
  for (int i = 0; i < steps; ++i) {
    Index const batch = i % 3 == 2 ? 5 : 16;
    auto const x = minibatch<Net>(random, batch, classes);
    if constexpr (Loss<std::remove_cvref_t<decltype(loss)>>) {
      auto const t = targets<Net, loss>(random, batch);
      add(hash, solver.train_minibatch(x.spans[0], Values{t}));
    } else {
      add(hash, solver.train_minibatch(x.spans));
    }
  }
  add_weights(hash, solver.network().executable(), Executable::data);
  return hash.number;
}

/// Prints a line for a network type and one for its config.
template <class Type, Inputs in, auto loss = MeanSquaredError{}, auto optimizer = Sgd{.learning_rate = 0.01f},
          SolverOptions options = SolverOptions{}, Index classes = 0>
void print(char const* name) {
  using Net = Network<Type, in>;
  std::printf("%-28s type   %016llx\n", name,
              static_cast<unsigned long long>(typed_hash<Net, loss, optimizer, options, classes>()));
  std::printf("%-28s config %016llx\n", name,
              static_cast<unsigned long long>(config_hash<Net, loss, optimizer, options, classes>()));
}

void print_dense();
void print_images();
void print_sequences();
void print_graphs();

}  // namespace coldpress::equal_bits
