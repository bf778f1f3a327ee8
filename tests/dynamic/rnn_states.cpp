// Recurrent layers of a config that start from initial states: tests/golden/rnn_states.py made the values.
#include "golden_rnn.hpp"

namespace {

using namespace coldpress;
using namespace coldpress::test;

constexpr Index batch = 3, steps = 4, features = 2, hidden = 3;

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

GoldenRnn made_by(std::string const& backend, Rnn const& layer) {
  Index const units = layer.direction_mode == DirectionMode::bi_directional ? 2 * hidden : hidden,
              size = units * layer.num_layers;
  Floats const states = numbers(2 * batch * size, 31);  // h of all samples, then c
  std::vector<SharedTensor> inputs{tensor({batch, steps, features}, numbers(batch * steps * features, 29)),
                                   tensor({batch, 1}, {2, 4, 1}),
                                   tensor({batch, units, layer.num_layers}, part(states, 0, batch * size))};
  if (layer.rnn_type == RnnType::lstm)
    inputs.push_back(tensor({batch, units, layer.num_layers}, part(states, batch * size, batch * size)));
  return golden_pass(Net::from_config(Backend{backend}, from_states(layer, {units, layer.num_layers})), inputs);
}

}  // namespace

TEST_CASE("layers that start from initial states give PyTorch's values and gradients") {
  for_each_golden_rnn("rnn_states.txt", hidden,
                      [](std::string const& backend, Rnn layer, GoldenCase const& wanted, std::string const& suffix) {
                        layer.initial_state = true;
                        GoldenRnn const made = made_by(backend, layer);
                        check_golden(made.y, wanted.at(suffix.empty() ? "steps" : "layers"));
                        check_golden(made.weights, wanted.at("weights" + suffix));
                        check_golden(made.gradients[0], wanted.at("dx" + suffix));
                        check_golden(made.gradients[2], wanted.at("dh" + suffix));
                        if (layer.rnn_type == RnnType::lstm) check_golden(made.gradients[3], wanted.at("dc" + suffix));
                      });
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
