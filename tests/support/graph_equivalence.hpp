// Equivalence of static, dynamic and loaded networks that are functions, and of fused and unfused ones.
#pragma once

// The functions have any number of inputs and outputs, with or without losses. A function in which all values are
// outputs, so that nothing is fused, must compute the same as one that is fused.

#include "persist/files.hpp"
#include "support/equivalence.hpp"

#include <coldpress/testing/minibatch.hpp>

#include <array>

namespace coldpress::test {

/// The outputs, and the gradients of inputs (zeros if none arrives) and of weights.
struct GraphPass {
  std::vector<std::vector<float>> outputs = {}, inputs = {}, weights = {};
};
template <class Net, std::size_t n, std::size_t m>
GraphPass graph_pass(Net const& net, std::array<std::span<float const>, n> const& x,
                     std::array<std::span<float const>, m> const& dy, std::uint64_t step) {
  typename Net::TrainingWorkspace workspace;
  net.forward_training(x, workspace, step);
  GraphPass made;
  for (int k = 0; k < Net::output_count; ++k)
    made.outputs.emplace_back(workspace.output(k).begin(), workspace.output(k).end());
  net.backward(dy, workspace);
  for (int k = 0; k < Net::input_count; ++k) {
    auto const dx = workspace.input_gradient(k);
    made.inputs.emplace_back(dx.begin(), dx.end());
    made.inputs.back().resize(x[static_cast<std::size_t>(k)].size());
  }
  for (int i = 0; i < Net::weight_count; ++i) {
    made.weights.emplace_back(static_cast<std::size_t>(Net::weight_shape(i).size()));
    net.read(workspace.gradients().data(), i, made.weights.back());
  }
  return made;
}

template <class Type, Inputs in, Index classes = 0>
void check_graph_equivalence() {
  using Net = Network<Type, in>;
  using dynamic::Executable;
  auto const backend = dynamic::Backend::like_static();
  Net net{3}, typed;
  INFO(describe(net));
  auto const config = dynamic::to_config(net);
  auto const model = persist::parse(persist::text_of(persist::serialize(persist::model_of(net))));
  REQUIRE(model.config == config);
  persist::load_model(typed, model);
  typed.set_seed(3);
  auto built = dynamic::Layer::from_config(backend, config, {}, 3), loaded = persist::layer_of(backend, model, {}, 3);
  REQUIRE(same_bits(all_weights(net), all_weights(built)));
  REQUIRE(same_bits(all_weights(net), all_weights(loaded)));

  Random random{5};
  std::uint64_t step = 0;
  for (Index const batch : {1, 2, 3, 17}) {
    INFO("batch " << batch);
    Minibatch<static_cast<std::size_t>(in.count)> const x{random, batch, [](int k) { return in[k]; }, classes};
    Minibatch<static_cast<std::size_t>(Net::output_count)> const dy{random, batch, Net::shape_of_output};
    typename Net::Workspace workspace;
    net.forward(x.spans, workspace);
    for (auto* layer : {&built, &loaded}) {
      auto const outputs = layer->executable().forward(x.spans, dynamic::Mode::inference);
      for (int k = 0; k < Net::output_count; ++k)
        REQUIRE(same_bits(workspace.output(k), outputs[static_cast<std::size_t>(k)]));
    }
    GraphPass const made = graph_pass(net, x.spans, dy.spans, ++step),
                    again = graph_pass(typed, x.spans, dy.spans, step);
    REQUIRE((made.outputs == again.outputs && made.inputs == again.inputs && made.weights == again.weights));
    for (auto* layer : {&built, &loaded}) {
      Executable& executable = layer->executable();
      auto const outputs = executable.forward(x.spans, dynamic::Mode::training);
      for (std::size_t k = 0; k < outputs.size(); ++k) REQUIRE(same_bits(made.outputs[k], outputs[k]));
      auto const inputs = executable.backward_input(dy.spans);
      for (std::size_t k = 0; k < inputs.size(); ++k) REQUIRE(same_bits(made.inputs[k], inputs[k]));
      executable.backward_parameters();
      for (std::size_t i = 0; i < made.weights.size(); ++i) {
        std::vector<float> theirs(made.weights[i].size());
        executable.read(Executable::gradient, static_cast<int>(i), theirs);
        REQUIRE(same_bits(made.weights[i], theirs));
      }
    }
  }

  static constexpr bool own = Net::Graph::has_losses;
  static constexpr auto loss = [] {
    if constexpr (own) {
      return OwnLosses{};
    } else {
      return MeanSquaredError{};
    }
  }();
  Solver<Net, loss, Sgd{.learning_rate = 0.05f, .momentum = 0.9f}> solver{net};
  solver.set_progress({step});
  dynamic::Solver other{std::move(loaded), dynamic::to_solver_config(solver)};
  for (Index const batch : {5, 1, 16}) {
    Minibatch<static_cast<std::size_t>(in.count)> const x{random, batch, [](int k) { return in[k]; }, classes};
    if constexpr (own) {
      REQUIRE(solver.train_minibatch(x.spans) == other.train_minibatch(x.spans));
    } else if constexpr (in.count == 1) {
      auto const t = random.values<float>(batch * Net::output_shape.size());
      REQUIRE(solver.train_minibatch(x.values[0], t) == other.train_minibatch(x.spans[0], dynamic::Values{t}));
    }
  }
  REQUIRE(same_bits(all_weights(net), all_weights(other.network())));
}

/// `whole` and `parts` have the same layers and first output; in `parts`, every layer's output is an output.
template <auto whole, auto parts, Inputs in>
void check_fusion() {
  using Fused = Network<Graph<whole>, in>;
  using Apart = Network<Graph<parts>, in>;
  static_assert(Fused::Inference::plan().groups < Apart::Inference::plan().groups);
  Fused const fused{3};
  Apart const apart{3};
  REQUIRE(same_bits(all_weights(fused), all_weights(apart)));
  Random random{7};
  auto const number = [](std::vector<std::vector<float>> values) {  // 0 and -0 are the same number
    for (auto& all : values) {
      for (float& value : all) value += 0.0f;
    }
    return values;
  };
  for (Index const batch : {1, 2, 17}) {
    Minibatch<static_cast<std::size_t>(in.count)> const x{random, batch, [](int k) { return in[k]; }};
    Minibatch<static_cast<std::size_t>(Fused::output_count)> const dy{random, batch, Fused::shape_of_output};
    Minibatch<static_cast<std::size_t>(Apart::output_count)> none{random, batch, Apart::shape_of_output};
    for (auto& values : none.values) std::fill(values.begin(), values.end(), 0.0f);
    none.spans[0] = dy.spans[0];
    typename Fused::Workspace a;
    typename Apart::Workspace b;
    REQUIRE(same_bits(fused.forward(x.spans, a), apart.forward(x.spans, b)));
    GraphPass const one = graph_pass(fused, x.spans, dy.spans, 1), other = graph_pass(apart, x.spans, none.spans, 1);
    REQUIRE(same_bits(one.outputs[0], other.outputs[0]));
    REQUIRE(number(one.inputs) == number(other.inputs));
    REQUIRE(number(one.weights) == number(other.weights));
  }
}

}  // namespace coldpress::test
