// Recurrent layers of a config: state from call to call, and backward as often as one likes.
#include "tensors.hpp"

namespace {

using namespace coldpress;
using namespace coldpress::test;

LayerConfig recurrent(Rnn const& layer, Shape in) { return sequential({{"rnn", layer}, {"out", Linear{2}}}, in); }

}  // namespace

TEST_CASE("a config streams: its steps are those of the whole sequence, until reset") {
  Rnn const layer{.hidden_size = 7, .num_layers = 2, .rnn_type = RnnType::gru, .output = RnnOutput::last_step};
  for (std::string const name : {"cpu", "cpu:reference"}) {
    Net whole = Net::from_config(Backend{name}, recurrent(layer, {4, 3}), {}, 5);
    Net live = Net::from_config(Backend{name}, recurrent(layer, {3}), {}, 5);
    Floats const x = values_of(noise({4, 3}, 1));
    for (int turn = 0; turn < 2; ++turn) {
      Floats y;
      for (std::size_t t = 0; t < 4; ++t) y = copy_of<float>(live.step(std::span<float const>{x.data() + 3 * t, 3}));
      CHECK(same_bits(y, whole.predict(x)));
      CHECK(says(error_of<ShapeError>([&] { live.step(Floats(6)); }),
                 "step: got 2 samples, while 1 sequences are under way"));
      live.reset();
    }
    CHECK(live.step(Floats(6)).size() == 4);  // two sequences, of two values each
  }
}

TEST_CASE("convolutions of a config stream, prepared for one sample and not for several") {
  Convolution const layers[] = {{.num_output = 19, .filter_shape = 11, .dilation = 3},
                                {.num_output = 6, .filter_shape = 2, .groups = 3, .has_bias = false}};
  for (Convolution const& layer : layers) {
    auto const config = [&](Shape in) { return sequential({{"c", layer}, {"t", TanH{}}, {"out", Linear{1}}}, in); };
    Net whole = Net::from_config(Backend{"cpu"}, sequential({{"c", layer}, {"t", TanH{}}}, Shape{40, 6}), {}, 5);
    Net live = Net::from_config(Backend{"cpu"}, sequential({{"c", layer}, {"t", TanH{}}}, Shape{6}), {}, 5);
    Net one = Net::from_config(Backend{"cpu"}, config({6}), {}, 5),
        two = Net::from_config(Backend{"cpu"}, config({6}), {}, 5);
    Floats const x = values_of(noise({40, 6}, 1));
    Floats all;
    for (std::size_t t = 0; t < 40; ++t) {
      Floats const step{x.begin() + static_cast<std::ptrdiff_t>(6 * t),
                        x.begin() + static_cast<std::ptrdiff_t>(6 * t + 6)};
      Floats const y = copy_of<float>(live.step(step));
      all.insert(all.end(), y.begin(), y.end());
      Floats twice = step;
      twice.insert(twice.end(), step.begin(), step.end());
      float const alone = one.step(step)[0];
      Floats const both = copy_of<float>(two.step(twice));
      CHECK(same_bits(both, Floats{alone, alone}));
    }
    CHECK(same_bits(all, copy_of<float>(whole.predict(x))));
  }
}

TEST_CASE("layers that act on each step alone stream: parts of any length have the bits of the whole sequence") {
  Rnn const sequence{.hidden_size = 9, .output = RnnOutput::sequence};
  auto const net = [&](std::vector<LayerConfig> after, Index steps, char const* backend) {
    after.insert(after.begin(), {"rnn", sequence});
    return Net::from_config(Backend{backend}, sequential(std::move(after), Shape{steps, 3}), {}, 5);
  };
  std::vector<std::vector<LayerConfig>> const each_step{
      {{"n", LayerNormalization{}}},
      {{"s", SoftmaxOver{.axis = -1}}},
      {{"s", SoftmaxOver{.axis = 1, .logarithm = true}}},
      {{"s", Slice{.axis = -1, .begin = 2, .end = 7}}},
      {{"p", Permute{}}},
      {{"p", Permute{Axes{0, 1}}}},
      {{"a", Argmax{.axis = -1}}, {"o", Onehot{.num_classes = 9, .axis = -1}}},
      {wired({"n", LayerNormalization{}}, {}, {"n"}), wired({"s", SoftmaxOver{.axis = -1}}, {"n"}, {"s"}),
       wired({"c", Concat{.axis = -1}}, {"n", "s"}, {"c"})},
      {{"n", LayerNormalization{}}, {"t", TanH{}}, {"s", Slice{.axis = -1, .begin = -4}}, {"again", sequence}}};
  Floats const x = values_of(noise({12, 3}, 1));
  for (char const* backend : {"cpu", "cpu:reference"}) {
    for (auto const& layers : each_step) {
      INFO(backend << ", " << layers[0].name);
      Net whole = net(layers, 12, backend);
      Floats const wanted = copy_of<float>(whole.predict(x));
      for (Index part : {1, 3, 4}) {
        Net live = net(layers, part, backend);
        Floats y;
        auto const size = static_cast<std::size_t>(3 * part);
        for (std::size_t at = 0; at < x.size(); at += size) {
          auto const some = live.step(std::span{x.data() + at, size});
          y.insert(y.end(), some.begin(), some.end());
        }
        CHECK(same_bits(y, wanted));
      }
    }
    auto const refused = [&](LayerConfig layer) {
      Net whole = net({std::move(layer)}, 4, backend);
      return says(error_of<ShapeError>([&] { whole.step(Floats(12)); }),
                  "layer 'l' takes its input, samples of {4, 9}, whole, so a sequence cannot come in parts");
    };
    CHECK(refused({"l", SoftmaxOver{.axis = 0}}));
    CHECK(refused({"l", Slice{.axis = 0, .begin = 1}}));
    CHECK(refused({"l", Permute{Axes{1, 0}}}));
    CHECK(refused({"l", BatchNormalization{}}));  // whose channels are the steps
    CHECK(refused({"l", Linear{2}}));
  }
}

TEST_CASE("two directions do not stream") {
  Net net = Net::from_config(Backend{}, recurrent({.direction_mode = DirectionMode::bi_directional}, {4, 3}));
  Floats const x(12, 1.0f);
  CHECK(says(error_of<ShapeError>([&] { net.step(x); }),
             "layer 'rnn' takes its input, samples of {4, 3}, whole, so a sequence cannot come in parts"));
}

TEST_CASE("a network streams only where all of its layers do, whichever comes last") {
  LayerConfig const forward{"forward", Rnn{.hidden_size = 3}},
      both{"both", Rnn{.hidden_size = 3, .direction_mode = DirectionMode::bi_directional}};
  auto const streams = [](std::vector<LayerConfig> layers) {
    Net net = Net::from_config(Backend{}, sequential(std::move(layers), Shape{4, 3}));
    Floats const x(12, 1.0f);
    try {
      net.step(x);
      return true;
    } catch (ShapeError const& error) {
      CHECK(says(error, "layer 'both' takes its input, samples of {4, 3}, whole, so a sequence cannot come in parts"));
      return false;
    }
  };
  CHECK(streams({forward, {"again", Rnn{.hidden_size = 2}}}));
  CHECK_FALSE(streams({both, forward}));
  CHECK_FALSE(streams({forward, both}));
}

TEST_CASE("backward leaves what forward kept: it gives the same again") {
  for (auto const& [type, reset_after] : {std::pair{RnnType::lstm, true}, std::pair{RnnType::gru, true},
                                          std::pair{RnnType::gru, false}, std::pair{RnnType::tanh, true}}) {
    Rnn const layer{.hidden_size = 5,
                    .num_layers = 2,
                    .rnn_type = type,
                    .reset_after = reset_after,
                    .dropout_probability = 0.5f,
                    .direction_mode = DirectionMode::bi_directional,
                    .output = RnnOutput::layers};
    for (std::string const name : {"cpu", "cpu:reference"}) {
      Net net = Net::from_config(Backend{name}, recurrent(layer, {4, 3}));
      net.forward(noise({6, 4, 3}, 1));
      Floats const dx = values_of(net.backward(noise({6, 2}, 2))), gradients = gradients_of(net);
      net.backward(noise({6, 2}, 3));
      CHECK(same_bits(values_of(net.backward(noise({6, 2}, 2))), dx));
      CHECK(same_bits(gradients_of(net), gradients));
    }
  }
}

TEST_CASE("what a recurrent layer cannot be is refused with its name") {
  Error const error = error_of<ShapeError>([] {
    Net::from_config(Backend{}, recurrent({.input_mode = InputMode::skip_input}, {4, 3}));
  });
  CHECK(error.layer() == "rnn");
  CHECK(says(error, "skip_input needs as many features as hidden_size"));
}
