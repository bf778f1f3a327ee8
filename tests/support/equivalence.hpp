// Equivalence: a layer as a type, from a config and read from a file gives the same bits.
#pragma once

// This holds for forward, backward and training.

#include "support/catch.hpp"
#include "support/random.hpp"

#include <coldpress/coldpress.hpp>
#include <coldpress/persist.hpp>
#include <coldpress/typed/describe.hpp>

#include <cstdio>
#include <cstring>
#include <filesystem>

#include <unistd.h>

namespace coldpress::test {

inline bool same_bits(std::span<float const> a, std::span<float const> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}
/// The weights of a network of either kind, one after another.
template <class Net>
std::vector<float> all_weights(Net const& net) {
  std::vector<float> all;
  for (auto const& weight : persist::model_of(net).weights)
    all.insert(all.end(), weight.values.begin(), weight.values.end());
  return all;
}

template <class Layers, Shape in>
void check_equivalence() {
  using Net = Network<Layers, in>;
  auto const backend = dynamic::Backend::like_static();
  std::string const path =
      (std::filesystem::temp_directory_path() / ("coldpress-equivalence-" + std::to_string(::getpid()))).string();
  Net net{3};
  INFO(describe(net));
  save(net, path);
  Net typed = load<Net>(path);
  typed.set_seed(3);  // of the masks of Dropout, which a network's file does not contain
  auto const config = dynamic::to_config(net);
  auto built = dynamic::Layer::from_config(backend, config, {}, 3);
  auto const model = persist::read_model(path);
  REQUIRE(model.config == config);
  auto loaded = persist::layer_of(backend, model, {}, 3);
  std::filesystem::remove(path);
  auto const weights = all_weights(net);
  REQUIRE(same_bits(weights, all_weights(typed)));
  REQUIRE(same_bits(weights, all_weights(built)));
  REQUIRE(same_bits(weights, all_weights(loaded)));

  Random random{5};
  std::uint64_t step = 0;
  for (Index const batch : {1, 2, 3, 17}) {
    INFO("batch " << batch);
    auto const x = random.values<float>(batch * in.size()), dy = random.values<float>(batch * Net::output_shape.size());
    typename Net::TrainingWorkspace workspace;
    auto const inferred = net.forward(x);
    REQUIRE(same_bits(inferred, typed.forward(x)));
    for (auto* layer : {&built, &loaded}) REQUIRE(same_bits(inferred, layer->predict(x)));
    auto const trained = net.forward_training(x, workspace, ++step);
    std::vector<float> const y{trained.begin(), trained.end()};
    auto const dx = net.backward(dy, workspace);
    for (auto* layer : {&built, &loaded}) {
      REQUIRE(same_bits(y, layer->forward(x)));
      auto const down = layer->executable().backward_input(dy);
      // If no gradient reaches the input, a static network has none.
      REQUIRE((dx.size() > 0 ? same_bits(dx, down) : same_bits(std::vector<float>(x.size()), down)));
      layer->executable().backward_parameters();
      for (int i = 0; i < Net::weight_count; ++i) {
        std::vector<float> ours(static_cast<std::size_t>(Net::weight_shape(i).size())), theirs = ours;
        net.read(workspace.gradients().data(), i, ours);
        layer->executable().read(dynamic::Executable::gradient, i, theirs);
        REQUIRE(same_bits(ours, theirs));
      }
    }
  }

  Solver<Net, MeanSquaredError{}, Sgd{.learning_rate = 1e-3f, .momentum = 0.9f}> solver{net};  // small, so that no
                                                                                               // training diverges
  solver.set_progress({step});
  dynamic::Solver other{std::move(loaded), dynamic::to_solver_config(solver)};
  for (Index const batch : {5, 1, 16, 16}) {
    auto const x = random.values<float>(batch * in.size()), t = random.values<float>(batch * Net::output_shape.size());
    REQUIRE(solver.train_minibatch(x, t) == other.train_minibatch(x, t));
  }
  REQUIRE(same_bits(all_weights(net), all_weights(other.network())));
}

/// A layer between two others, so that it is fused, on samples of more than a tile's values and of rank 3; and of one
/// value, if laws are tested on several shapes.
template <Layer auto layer>
void check_equivalence_of() {
  if constexpr (COLDPRESS_LAW_SHAPES > 1) check_equivalence<Sequential<Linear{1}, layer, Linear{4}>, Shape{3}>();
  check_equivalence<Sequential<Linear{71}, layer, Linear{2}>, Shape{6}>();
  check_equivalence<Sequential<Linear{30}, Reshape{Shape{2, 3, 5}}, layer, TanH{}, Linear{3}>, Shape{7, 2}>();
}

}  // namespace coldpress::test
