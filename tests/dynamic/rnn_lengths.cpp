// Recurrent layers of a config whose samples have numbers of steps: tests/golden/rnn_lengths.py made the values.
#include "golden_rnn.hpp"

namespace {

using namespace coldpress;
using namespace coldpress::test;

constexpr Index batch = 3, steps = 4, features = 2;

LayerConfig counted_steps(Rnn const& layer, Shape const& in = {steps, features}) {
  SequentialConfig container;
  container.add_input("x", in).add_input("lengths", {1});
  container.add_layer(wired({"rnn", layer}, {"x", "lengths"}, {"y"}));
  return {"network", std::move(container)};
}

}  // namespace

TEST_CASE("samples with numbers of steps give the values and gradients of packed sequences") {
  std::vector<SharedTensor> const inputs{tensor({batch, steps, features}, numbers(batch * steps * features, 29)),
                                         tensor({batch, 1}, {2, 4, 1})};
  for_each_golden_rnn(
      "rnn_lengths.txt", 3,
      [&](std::string const& backend, Rnn const& layer, GoldenCase const& wanted, std::string const& suffix) {
        GoldenRnn const made = golden_pass(Net::from_config(Backend{backend}, counted_steps(layer)), inputs);
        check_golden(made.y, wanted.at(suffix.empty() ? "steps" : "layers"));
        check_golden(made.gradients[0], wanted.at("dx" + suffix));
        check_golden(made.weights, wanted.at("weights" + suffix));
      });
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
