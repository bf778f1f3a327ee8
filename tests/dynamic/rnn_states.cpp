// Recurrent layers of a config that start from initial states: tests/golden/rnn_states.py made the values.
#include "support/golden_file.hpp"
#include "tensors.hpp"

namespace {

using namespace coldpress;
using namespace coldpress::test;

constexpr Index batch = 3, steps = 4, features = 2, hidden = 3;

/// The multiples of 1/128 that the script takes, too.
Floats numbers(Index count, Index factor) {
  Floats values;
  for (Index i = 0; i < count; ++i) values.push_back(static_cast<float>(i * factor % 101 - 50) / 128);
  return values;
}
Floats part(Floats const& all, Index first, Index count) { return {all.begin() + first, all.begin() + first + count}; }

/// A layer of x, numbers of steps, h, and c of an LSTM.
LayerConfig from_states(Rnn const& layer, Shape const& state, Shape const& in = {steps, features}) {
  SequentialConfig container;
  std::vector<std::string> inputs{"x", "lengths", "h"};
  container.add_input("x", in).add_input("lengths", {1}).add_input("h", state);
  if (layer.rnn_type == RnnType::lstm) container.add_input("c", state), inputs.push_back("c");
  container.add_layer(wired({"rnn", layer}, inputs, {"y"}));
  return {"network", std::move(container)};
}

struct Made {
  Floats y, weights;
  std::vector<Floats> gradients;  // of all inputs
};
Made made_by(std::string const& backend, Rnn const& layer) {
  Index const units = layer.direction_mode == DirectionMode::bi_directional ? 2 * hidden : hidden,
              size = units * layer.num_layers;
  Net net = Net::from_config(Backend{backend}, from_states(layer, {units, layer.num_layers}));
  Floats const weights = numbers(net.learnable_weights_data()[0].size(), 37);
  std::copy(weights.begin(), weights.end(), net.learnable_weights_data()[0].write_only().begin());
  Floats const states = numbers(2 * batch * size, 31);  // h of all samples, then c
  std::vector<SharedTensor> inputs{tensor({batch, steps, features}, numbers(batch * steps * features, 29)),
                                   tensor({batch, 1}, {2, 4, 1}),
                                   tensor({batch, units, layer.num_layers}, part(states, 0, batch * size))};
  if (layer.rnn_type == RnnType::lstm)
    inputs.push_back(tensor({batch, units, layer.num_layers}, part(states, batch * size, batch * size)));
  SharedTensor const y = net.forward(inputs)[0];
  Made made{values_of(y), {}, {}};
  SharedTensor dy{y.shape()};
  Floats const given = numbers(y.size(), 23);
  std::copy(given.begin(), given.end(), dy.write_only().begin());
  net.backward(dy);
  for (SharedTensor const& gradient : net.input_gradients()) made.gradients.push_back(values_of(gradient));
  made.weights = gradients_of(net);
  return made;
}

void check(Floats const& found, std::vector<double> const& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == Approx(expected[i]).margin(2e-7).epsilon(2e-6));
}

}  // namespace

TEST_CASE("layers that start from initial states give PyTorch's values and gradients") {
  struct Kind {
    std::string name;
    RnnType type;
    bool reset_after = true;
  };
  auto const golden = golden_cases("rnn_states.txt");
  for (Kind const& kind : {Kind{"lstm", RnnType::lstm},
                           {"gru", RnnType::gru},
                           {"gru_reset_before", RnnType::gru, false},
                           {"tanh", RnnType::tanh}}) {
    for (auto const& [layers, directions] : {std::pair<Index, int>{2, 1}, {1, 2}, {2, 2}}) {
      std::string const name = kind.name + "_" + std::to_string(layers) + "_" + std::to_string(directions);
      GoldenCase const& wanted = golden.at(name);
      for (std::string const backend : {"cpu", "cpu:reference"}) {
        Rnn layer{.hidden_size = hidden, .num_layers = layers, .rnn_type = kind.type, .reset_after = kind.reset_after};
        layer.initial_state = true;
        if (directions == 2) layer.direction_mode = DirectionMode::bi_directional;
        for (std::string const of : {"", "_of_layers"}) {
          INFO(name << of << " on " << backend);
          layer.output = of.empty() ? RnnOutput::sequence : RnnOutput::layers;
          Made const made = made_by(backend, layer);
          check(made.y, wanted.at(of.empty() ? "steps" : "layers"));
          check(made.weights, wanted.at("weights" + of)), check(made.gradients[0], wanted.at("dx" + of));
          check(made.gradients[2], wanted.at("dh" + of));
          if (kind.type == RnnType::lstm) check(made.gradients[3], wanted.at("dc" + of));
        }
      }
    }
  }
}

TEST_CASE("one sample starts from the initial state of its own call, also in one step") {
  for (auto const output : {RnnOutput::sequence, RnnOutput::last_step, RnnOutput::layers}) {
    Rnn layer{.hidden_size = 9, .rnn_type = RnnType::gru, .output = output, .initial_state = true};
    SequentialConfig container;
    container.add_input("x", {1, features}).add_input("h", {9});
    container.add_layer(wired({"rnn", layer}, {"x", "h"}, {"y"}));
    Net net = Net::from_config(Backend{"cpu"}, {"network", container}, {}, 5);
    net.set_mode(Mode::inference);
    layer.initial_state = false;
    Net plain = Net::from_config(Backend{"cpu"}, sequential({{"rnn", layer}}, Shape{features}), {}, 5);
    Floats const x = numbers(3 * features, 29);
    Floats h(9);
    for (Index step = 0; step < 3; ++step) {
      Floats const now = part(x, step * features, features), expected = copy_of<float>(plain.step(now));
      h = values_of(net.forward({tensor({1, 1, features}, now), tensor({1, 9}, h)})[0]);
      CHECK(same_bits(h, expected));
    }
  }
}

TEST_CASE("a network with initial states does not stream") {
  Net net = Net::from_config(Backend{"cpu"}, from_states({.initial_state = true}, {10}, {1, features}));
  CHECK(says(error_of<ShapeError>([&] { net.step(Floats(features)); }), "step: "));
}
