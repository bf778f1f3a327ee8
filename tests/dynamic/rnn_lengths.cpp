// Recurrent layers of a config whose samples have numbers of steps: tests/golden/rnn_lengths.py made the values.
#include "support/golden_file.hpp"
#include "tensors.hpp"

namespace {

using namespace coldpress;
using namespace coldpress::test;

constexpr Index batch = 3, steps = 4, features = 2;
constexpr float lengths[] = {2, 4, 1};

/// The multiples of 1/128 that the script takes, too.
Floats numbers(Index count, Index factor) {
  Floats values;
  for (Index i = 0; i < count; ++i) values.push_back(static_cast<float>(i * factor % 101 - 50) / 128);
  return values;
}

LayerConfig counted_steps(Rnn const& layer, Shape const& in = {steps, features}) {
  SequentialConfig container;
  container.add_input("x", in).add_input("lengths", {1});
  container.add_layer(wired({"rnn", layer}, {"x", "lengths"}, {"y"}));
  return {"network", std::move(container)};
}

struct Made {
  Floats y, dx, weights;
};
Made made_by(std::string const& backend, Rnn const& layer) {
  Net net = Net::from_config(Backend{backend}, counted_steps(layer));
  Floats const weights = numbers(net.learnable_weights_data()[0].size(), 37);
  std::copy(weights.begin(), weights.end(), net.learnable_weights_data()[0].write_only().begin());
  SharedTensor const y = net.forward({tensor({batch, steps, features}, numbers(batch * steps * features, 29)),
                                      tensor({batch, 1}, {lengths[0], lengths[1], lengths[2]})})[0];
  Made made{values_of(y), {}, {}};
  SharedTensor dy{y.shape()};
  Floats const given = numbers(y.size(), 23);
  std::copy(given.begin(), given.end(), dy.write_only().begin());
  made.dx = values_of(net.backward(dy));
  made.weights = gradients_of(net);
  return made;
}

void check(Floats const& found, std::vector<double> const& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == Approx(expected[i]).margin(2e-7).epsilon(2e-6));
}

}  // namespace

TEST_CASE("samples with numbers of steps give the values and gradients of packed sequences") {
  struct Kind {
    std::string name;
    RnnType type;
    bool reset_after = true;
  };
  auto const golden = golden_cases("rnn_lengths.txt");
  for (Kind const& kind : {Kind{"lstm", RnnType::lstm},
                           {"gru", RnnType::gru},
                           {"gru_reset_before", RnnType::gru, false},
                           {"tanh", RnnType::tanh}}) {
    for (auto const& [layers, directions] : {std::pair<Index, int>{2, 1}, {1, 2}, {2, 2}}) {
      std::string const name = kind.name + "_" + std::to_string(layers) + "_" + std::to_string(directions);
      GoldenCase const& wanted = golden.at(name);
      for (std::string const backend : {"cpu", "cpu:reference"}) {
        INFO(name << " on " << backend);
        Rnn layer{.hidden_size = 3, .num_layers = layers, .rnn_type = kind.type, .reset_after = kind.reset_after};
        if (directions == 2) layer.direction_mode = DirectionMode::bi_directional;
        Made const all = made_by(backend, layer);
        check(all.y, wanted.at("steps")), check(all.dx, wanted.at("dx")), check(all.weights, wanted.at("weights"));
        layer.output = RnnOutput::layers;
        Made const last = made_by(backend, layer);
        check(last.y, wanted.at("layers")), check(last.dx, wanted.at("dx_of_layers"));
        check(last.weights, wanted.at("weights_of_layers"));
      }
    }
  }
}

TEST_CASE("one sample has the number of steps of its own call, and the bits of a shorter sequence") {
  for (auto const output : {RnnOutput::sequence, RnnOutput::last_step}) {
    Rnn const layer{.hidden_size = 9, .output = output};
    Net net = Net::from_config(Backend{"cpu"}, counted_steps(layer), {}, 5);
    net.set_mode(Mode::inference);
    Net alone = Net::from_config(Backend{"cpu"}, sequential({{"rnn", layer}}, Shape{3, features}), {}, 5);
    Floats const x = numbers(steps * features, 29);
    Floats const expected = copy_of<float>(alone.predict(std::span{x}.first(3 * features)));
    for (int turn = 0; turn < 3; ++turn) {
      Floats const moved = x;  // at another address in each call
      for (float const length : {4.f, 3.f}) {
        SharedTensor const y = net.forward({tensor({1, steps, features}, moved), tensor({1, 1}, {length})})[0];
        auto const found = y.read().first(expected.size());
        CHECK(same_bits(found, expected) == (length == 3 || output == RnnOutput::sequence));
      }
    }
  }
}

TEST_CASE("a network of a layer with numbers of steps does not stream") {
  Net net = Net::from_config(Backend{"cpu"}, counted_steps(Rnn{}, {1, features}));
  CHECK(says(error_of<ShapeError>([&] { net.step(Floats(features)); }), "step: "));
}
