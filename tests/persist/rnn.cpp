// Recurrent layers in Juice's files: what they mean here, and the real one.
#include <coldpress/coldpress.hpp>
#include <coldpress/persist.hpp>

#include "persist/files.hpp"
#include "support/compare.hpp"

namespace coldpress::persist {
namespace {

using dynamic::SequentialConfig;

dynamic::Backend const cpu{"cpu"};

/// The path of the file that a real Juice wrote; empty, and said aloud, where it is not.
std::string real_file() {
  char const* const data = std::getenv("COLDPRESS_TEST_DATA");
  std::string const path = std::string{data ? data : ""} + "/juice/mackey-glass-rnn.juice";
  if (data && std::filesystem::exists(path)) return path;
  WARN("skipped: COLDPRESS_TEST_DATA has no juice/mackey-glass-rnn.juice");
  return {};
}

/// An Rnn of one step on ten features and a Linear, as Juice would save them: dummy bias, no checksum.
std::string juice_text(std::string const& input, Index weights, std::string const& rnn_type = "LSTM",
                       std::string const& more = "") {
  auto const zeros = [](Index count) {
    std::string text = "[0";
    for (Index i = 1; i < count; ++i) text += ", 0";
    return text + "]";
  };
  return "(name = \"net\", config = (name = \"net\", layerType = (sequential = (inputs = [(name = \"x\", shape = " +
         input + ")], layers = [(name = \"r\", layerType = (rnn = (hiddenSize = 5, numLayers = 2, rnnType = \"" +
         rnn_type + "\"" + more + ")))])))" + ", weightsData = [(name = \"r-0\", tensor = (shape = [" +
         std::to_string(weights) + ", 1, 1], data = " + zeros(weights) +
         ")), (name = \"r-0-bias\", tensor = (shape = [1, 5], data = [1, 1, 1, 1, 1]))])";
}

// tests/golden/rnn.py computed them from the file's numbers, with PyTorch.
TEST_CASE("the real file of Juice runs and gives what PyTorch makes of its weights") {
  std::string const path = real_file();
  if (path.empty()) return;
  std::vector<float> x;
  for (Index i = 0; i < 30; ++i) x.push_back(static_cast<float>(i * 29 % 101 - 50) / 128);
  std::vector<double> const wanted{0.554096227, 0.551177636, 0.552029169};
  for (char const* name : {"cpu", "cpu:reference"}) {
    auto layer = dynamic::Layer::load(dynamic::Backend{name}, path);
    CHECK(layer.input_shape() == Shape{1, 10});
    CHECK(test::excess(layer.predict(x), wanted, 10) <= 1);
    CHECK(!test::same_bits(layer.predict(x), test::copy_of<float>(layer.forward(std::span<float const>{x}))));  // drops
    CHECK(layer.learnable_weights_names() == std::vector<std::string>{"LSTMInitial-0", "linear1-0", "linear1-0-bias"});
  }
}

TEST_CASE("the real file of Juice is a network type's, too, and comes back from ours") {
  std::string const path = real_file();
  if (path.empty()) return;
  using Net = Network<Sequential<Reshape{{10, 1, 1}},
                                 Rnn{.hidden_size = 5,
                                     .num_layers = 2,
                                     .dropout_probability = 0.5f,
                                     .dropout_seed = 123,
                                     .output = RnnOutput::layers},
                                 Linear{1}, Sigmoid{}>,
                      Shape{1, 10}>;
  auto net = load<Net>(path);
  std::vector<float> const x(20, 0.25f);
  auto const y = test::copy_of<float>(net.forward(x));
  CHECK(test::same_bits(y, dynamic::Layer::load(dynamic::Backend::like_static(), path).predict(x)));
  TemporaryFolder folder;
  for (bool const juice : {false, true}) {
    save(net, folder / "own", {.batch = 40, .for_juice = juice});
    CHECK(test::same_bits(y, load<Net>(folder / "own").forward(x)));
    Model const model = read_model(folder / "own");
    REQUIRE(model.weights.size() == (juice ? 4u : 3u));
    CHECK(model.weights[0].shape == std::vector<Index>{580, 1, 1});
    if (!juice) continue;
    CHECK(model.weights[1].name == "rnn1-0-bias");
    CHECK(model.weights[1].shape == std::vector<Index>{1, 5});
    CHECK(model.weights[1].values == std::vector<float>(5, 1));
  }
}

TEST_CASE("the number of weights tells how many features the one step of a Juice file has") {
  std::vector<float> const x(20, 0.5f);
  for (char const* input : {"[4, 10, 1]", "[4, 10, 1, 1]", "[4, 1, 10]"}) {
    INFO(input);
    Model const model = parse_described(juice_text(input, 580));
    CHECK(model.batch == 4);
    auto layer = layer_of(cpu, model);
    CHECK(layer.output_shape() == Shape{5, 2});
    CHECK(layer.learnable_weights_names() == std::vector<std::string>{"r-0"});
    CHECK(test::same_bits(layer_of(cpu, parse(text_of(serialize(model)))).predict(x), layer.predict(x)));
  }
}

TEST_CASE("one step of one feature needs no other shape") {
  Model const model = parse_described(juice_text("[4, 1, 1]", 4 * 5 * (1 + 5) + 4 * 5 * 10 + 80));
  CHECK(std::get<SequentialConfig>(model.config.layer_type).inputs[0].shape == Shape{1, 1});
}

TEST_CASE("a matrix tells how many values a sample has where the config does not, whatever comes before it") {
  Model const model{.name = "net",
                    .config = {"fc", Linear{.output_size = 2}},
                    .weights = {tensor("fc-0-bias", {1, 2}), tensor("fc-0", {2, 3})}};
  auto const layer = layer_of(cpu, model);
  CHECK(layer.input_shape() == Shape{3});
  REQUIRE(model_of(layer).weights.size() == 2);
  CHECK(model_of(layer).weights[1].shape == std::vector<Index>{1, 2});  // a bias is a row, as Juice writes it
}

TEST_CASE("more than one step in a file of Juice is refused with the reason") {
  Index const of_one_feature = 4 * 5 * (1 + 5) + 4 * 5 * 10 + 80, of_ten = 580;
  for (auto const& text : {juice_text("[4, 1, 10]", of_one_feature), juice_text("[4, 10, 3]", of_ten)}) {
    try {
      parse_described(text);
      FAIL("there was no error");
    } catch (UnsupportedError const& error) {
      INFO(error.what());
      CHECK(error.layer() == "layers[0] r");
      CHECK(contains(error.what(),
                     "beyond one step these contradict each other. coldpress's own files say {steps, features}"));
    }
  }
}

TEST_CASE("a file that has what Juice has not is not Juice's, whoever wrote it, and its steps mean something") {
  Index const of_three_features = 4 * 5 * (3 + 5) + 4 * 5 * 10 + 80;
  for (char const* more : {", output = \"Sequence\"", ", output = \"LastStep\"", ", truncation = 3"}) {
    INFO(more);
    Model const model = parse_described(juice_text("[4, 10, 3]", of_three_features, "LSTM", more));
    CHECK_FALSE(model.checksummed);
    CHECK(std::get<SequentialConfig>(model.config.layer_type).inputs[0].shape == Shape{10, 3});
  }
  std::string const sample = juice_text("[4, 10, 3]", of_three_features);
  auto const at = sample.find("shape = [4, 10, 3]");
  CHECK(parse_described(std::string{sample}.replace(at, 18, "sampleShape = [10, 3]")).batch == 1);
  CHECK_THROWS_AS(parse_described(juice_text("[4, 10, 3]", of_three_features, "LSTM", ", dropoutProbability = 0.5")),
                  UnsupportedError);
}

TEST_CASE("a file of ours says {steps, features}") {
  SequentialConfig net;
  net.add_input("x", {10, 3}).add_layer({"r", Rnn{.hidden_size = 4, .output = RnnOutput::last_step}});
  auto const layer = dynamic::Layer::from_config(cpu, container("net", net), {}, 3);
  Model const model = model_of(layer, 7), again = parse(text_of(serialize(model)));
  CHECK(again == model);
  std::vector<float> const x(60, 0.5f);
  CHECK(test::same_bits(layer_of(cpu, again).predict(x), layer_of(cpu, model).predict(x)));
}

TEST_CASE("what Juice's recurrent layers cannot be is not written for Juice") {
  for (Rnn const& layer : {Rnn{}, Rnn{.output = RnnOutput::layers, .truncation = 3},
                           Rnn{.rnn_type = RnnType::gru, .reset_after = false, .output = RnnOutput::layers},
                           Rnn{.output = RnnOutput::layers, .initial_state = true},
                           Rnn{.direction_mode = DirectionMode::bi_directional, .output = RnnOutput::layers}}) {
    SequentialConfig net;
    net.add_input("x", {10, 1, 1}).add_layer({"r", layer});
    if (layer.initial_state) {
      net.add_input("h", {10}).add_input("c", {10});
      net.layers[0].inputs = {"x", "h", "c"};
    }
    auto const built = dynamic::Layer::from_config(cpu, container("net", net));
    try {
      for_juice(model_of(built));
      FAIL_CHECK("there was no error");
    } catch (ConfigError const& error) {
      INFO(error.what());
      CHECK(error.layer() == "r");
      bool const both_ways = layer.direction_mode == DirectionMode::bi_directional;
      CHECK(contains(error.what(),
                     both_ways             ? "Juice's recurrent layers have one direction"
                     : layer.initial_state ? "Juice's recurrent layers start from a state of zeros"
                     : !layer.reset_after
                         ? "Juice's GRUs apply the reset gate after the product"
                         : "Juice's recurrent layers output {hidden, layers} and do not truncate gradients"));
    }
  }
}

TEST_CASE("the kinds of recurrent layers are read as Juice spells them, and its misspelling too") {
  auto const type_of = [](std::string const& text) {
    Model const model = parse_described(text);
    return std::get<Rnn>(std::get<SequentialConfig>(model.config.layer_type).layers[0].layer_type);
  };
  Index const gru = 3 * 5 * (10 + 5) + 3 * 5 * 10 + 60, plain = 5 * (10 + 5) + 5 * 10 + 20;
  CHECK(type_of(juice_text("[1, 10, 1]", 580)) == Rnn{.hidden_size = 5, .num_layers = 2, .output = RnnOutput::layers});
  CHECK(type_of(juice_text("[1, 10, 1]", gru, "GRU")).rnn_type == RnnType::gru);
  CHECK(type_of(juice_text("[1, 10, 1]", plain, "Tanh")).rnn_type == RnnType::tanh);
  CHECK(type_of(juice_text("[1, 10, 1]", plain, "ReLU")).rnn_type == RnnType::relu);
  CHECK(type_of(juice_text("[1, 10, 1]", plain, "RelU")).rnn_type == RnnType::relu);
  try {
    type_of(juice_text("[1, 10, 1]", 580, "LSMT"));
    FAIL("there was no error");
  } catch (ConfigError const& error) {
    INFO(error.what());
    CHECK(error.field() == "rnnType");
    CHECK(error.layer() == "layers[0] r");
    CHECK(contains(error.what(), "'LSMT' is not one of LSTM, GRU, ReLU, Tanh"));
  }
  CHECK_THROWS_AS(type_of(juice_text("[1, 10, 1]", 580, "LSTM", ", directionMode = \"Both\"")), ConfigError);
  CHECK_THROWS_AS(type_of(juice_text("[1, 10, 1]", 580, "LSTM", ", dropoutProbability = 1")), ConfigError);
  CHECK_THROWS_AS(type_of(juice_text("[1, 10, 1]", 581)), ConfigError);
  CHECK(type_of(juice_text("[1, 10, 1]", gru, "GRU")).reset_after);
  CHECK_FALSE(type_of(juice_text("[1, 10, 1]", gru, "GRU", ", resetAfter = false")).reset_after);
  CHECK_THROWS_WITH(type_of(juice_text("[1, 10, 1]", 580, "LSTM", ", resetAfter = false")),
                    Catch::Contains("only a GRU can be without reset_after"));
}

}  // namespace
TEST_CASE("a network of sequences is loaded for another number of steps, and for one a call") {
  using Net = Network<Sequential<Rnn{.hidden_size = 4, .output = RnnOutput::last_step}, Linear{2}>, Shape{5, 3}>;
  Net net{1};
  TemporaryFolder folder;
  auto const path = folder / "sequence.juice";
  save(net, path);
  std::vector<float> x(15);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 7) / 7 - 0.4f;
  auto const y = test::copy_of<float>(net.forward(x));
  auto stream = dynamic::Layer::load(dynamic::Backend::like_static(), path, {.input = Shape{3}});
  std::vector<float> last;
  for (std::size_t t = 0; t < 5; ++t) last = test::copy_of<float>(stream.step(std::span{x}.subspan(3 * t, 3)));
  CHECK(test::same_bits(last, y));
  auto typed = load<Network<Net::Type, Shape{3}, Batch<1>>>(path);
  for (std::size_t t = 0; t < 5; ++t) last = test::copy_of<float>(typed.step(std::span{x}.subspan(3 * t, 3)));
  CHECK(test::same_bits(last, y));
  CHECK_THROWS_AS(dynamic::Layer::load(cpu, path, {.input = Shape{4}}), ShapeError);
}
TEST_CASE("a network of tokens is loaded for another number of them, and for one a call") {
  constexpr ScaledDotProductAttention attention{.heads = 2, .causal = true, .window = 4};
  using Net =
      Network<Sequential<Embedding{.vocabulary = 9, .features = 6}, Linear{.output_size = 12, .last_axis = true},
                         RotaryPositions{.size = 2, .heads = 4}, attention>,
              Shape{5}>;
  Net net{1};
  TemporaryFolder folder;
  auto const path = folder / "tokens.juice";
  save(net, path);
  std::vector<float> const x{3, 1, 4, 1, 8};
  auto const y = test::copy_of<float>(net.forward(x));
  auto stream = dynamic::Layer::load(dynamic::Backend::like_static(), path, {.input = Shape{1}});
  auto typed = load<Network<Net::Type, Shape{1}, Batch<1>>>(path);
  auto const whole = [&](auto& network) {
    std::vector<float> all;
    for (std::size_t t = 0; t < x.size(); ++t) {
      auto const step = network.step(std::span{x}.subspan(t, 1));
      all.insert(all.end(), step.begin(), step.end());
    }
    return all;
  };
  CHECK(test::same_bits(whole(stream), y));
  CHECK(test::same_bits(whole(typed), y));
}

}  // namespace coldpress::persist
