// Configs that people write: what their shapes mean, what they may leave out, and what is said of a misspelt name.
#include <coldpress/dynamic/to_config.hpp>
#include <coldpress/persist.hpp>
#include <coldpress/persist/defaults.hpp>

#include "persist/files.hpp"

#include <map>

namespace coldpress::persist {
namespace {

using dynamic::SequentialConfig;

Training read(std::string const& text) {
  TemporaryFolder folder;
  return read_training(folder.put("train.txt", text));
}
/// A container of layers; each is "kind = value", and its name is that.
std::string config(std::string const& inputs, std::vector<std::string> const& layers, std::string const& more = "") {
  std::string text = "(network = (layerType = (sequential = (inputs = [" + inputs + "], layers = [";
  for (std::size_t i = 0; i < layers.size(); ++i)
    text += (i ? ", " : "") + ("(name = \"l" + std::to_string(i) + "\", layerType = (" + layers[i] + "))");
  return text + "])))" + more + ")";
}
std::string input(std::string const& shape) { return "(name = \"x\", " + shape + ")"; }
SequentialConfig network(std::string const& text) { return std::get<SequentialConfig>(read(text).network.layer_type); }
template <class Expected = ConfigError>
std::string refusal(std::string const& text) {
  return message<Expected>([&] { read(text); });
}

std::string const convolution = "convolution = (numOutput = 8, filterShape = [5], hasBias = true)";

TEST_CASE("a shape that is a batch or a sample, with another network each way, is refused with both readings") {
  std::string text = refusal(config("", {"reshape = (shape = [1, 28, 28])", convolution}));
  INFO(text);
  CHECK(contains(text,
                 "layer 'layers[0] l0': shape: shape [1, 28, 28] can be a batch of 1 sample {28, 28} or one sample {1, "
                 "28, 28}, and the networks differ; write sampleShape = [28, 28] for the first or sampleShape = [1, "
                 "28, 28] for the second"));
  // Of an input, of a source, behind a join, and after samples of known shape.
  text = refusal(config(input("shape = [32, 10]"), {"linear = (outputSize = 2)"}));
  CHECK(contains(text, "inputs: shape [32, 10] can be a batch of 32 samples {10} or one sample {32, 10}"));
  CHECK(contains(refusal(config("", {"randomNormal = (shape = [1, 28, 28])", convolution})), "can be a batch of 1"));
  CHECK(
      contains(refusal(config("", {"reshape = (shape = [1, 28, 28])", "add = void", convolution})), "can be a batch"));
  CHECK(contains(refusal(config(input("sampleShape = [784]"), {"reshape = (shape = [1, 28, 28])", convolution})),
                 "can be a batch of 1"));
  CHECK(contains(refusal(config("", {"reshape = (shape = [1, 4, 6])", "softmaxOver = (axis = 0)"})), "can be a batch"));
  // Nor does a training in minibatches of one tell, nor one that does not say how large they are.
  CHECK(contains(refusal(config(input("shape = [64, 8, 6]"), {"linear = (outputSize = 2)"})),
                 "inputs: shape [64, 8, 6] can be a batch of 64 samples {8, 6} or one sample {64, 8, 6}"));
  CHECK(contains(refusal(config("", {"reshape = (shape = [1, 28, 28])", convolution}, ", batch = 1")),
                 "can be a batch of 1"));
}

TEST_CASE("a shape that makes one network either way is the batch and a sample") {
  auto const shape_of = [](std::string const& text) {
    return std::get<Reshape>(network(text).layers[0].layer_type).shape;
  };
  for (char const* next : {"linear = (outputSize = 2)", "tanh = void", "softmax = void", "layerNormalization = ()",
                           "softmaxOver = (axis = -1)", "flatten = void", "rmsNormalization = ()", "glu = ()",
                           "prelu = ()", "mish = void"}) {
    INFO(next);
    CHECK(shape_of(config("", {"reshape = (shape = [1, 28, 28])", next})) == Shape{28, 28});
  }
  // Only one reading leads through.
  CHECK(shape_of(config("", {"reshape = (shape = [1, 1, 28, 28])", convolution})) == Shape{1, 28, 28});
  CHECK(shape_of(config("", {"reshape = (shape = [1, 10, 1])", "rnn = (hiddenSize = 2)"})) == Shape{10, 1});
  // And the minibatch of the training tells, as in all that was written before there was sampleShape.
  auto const of = [](std::string const& text) { return network(text).inputs[0].shape; };
  CHECK(of(config(input("shape = [32, 10]"), {"linear = (outputSize = 2)"}, ", batch = 32")) == Shape{10});
  CHECK(of(config(input("shape = [64, 8, 6]"), {"linear = (outputSize = 2)"}, ", batch = 64")) == Shape{8, 6});
  TemporaryFolder folder;
  std::string const file = folder.put("train.txt", config(input("shape = [64, 8]"), {"linear = (outputSize = 2)"}));
  CHECK(std::get<SequentialConfig>(read_training(file, {"batch = 64"}).network.layer_type).inputs[0].shape == Shape{8});
}

TEST_CASE("where shapes fit as samples alone, the error says so") {
  CHECK(contains(refusal(config("", {"reshape = (shape = [3, 32, 32])", "pooling = (filterShape = [2])"})),
                 "as shapes of one sample, without a batch, all fit: then write sampleShape instead of shape"));
}

TEST_CASE("sampleShape is the shape of one sample") {
  SequentialConfig const net =
      network(config(input("sampleShape = [784]"),
                     {"reshape = (sampleShape = [1, 28, 28])", convolution, "randomNormal = (sampleShape = [2, 3])"}));
  CHECK(net.inputs[0].shape == Shape{784});
  CHECK(std::get<Reshape>(net.layers[0].layer_type).shape == Shape{1, 28, 28});
  CHECK(std::get<RandomNormal>(net.layers[2].layer_type).shape == Shape{2, 3});
  CHECK(contains(refusal(config(input("shape = [1, 4], sampleShape = [4]"), {})),
                 "inputs: 'shape' (with the batch first) and 'sampleShape' (without a batch) are both given; give only "
                 "one of them"));
  CHECK(contains(refusal(config("", {"reshape = ()"})),
                 "shape: a shape must have 1 to 9 extents, has 0: give the shape of one sample as 'sampleShape'"));
  CHECK(contains(refusal(config(input("sampleShape = [784]"), {"reshape = (sampleShape = [1, 27, 28])"})),
                 "a sample of shape {1, 27, 28} has 756 values, but the incoming samples have 784"));
  CHECK(contains(refusal(config(input("sampleShape = [1,1,1,1,1,1,1,1,1]"), {})), "1 to 8 extents, has 9"));
  CHECK(contains(refusal(config(input("shape = [40]"), {"linear = (outputSize = 2)"})),
                 "nothing tells whether {40} is a batch or a sample: write sampleShape = [40], or shape = [1, 40]"));
}

TEST_CASE("a training is written with sampleShape, and a model so that Juice reads it") {
  TemporaryFolder folder;
  SequentialConfig net;
  net.add_input("x", {1, 28, 28}).add_layer({"fc", Linear{.output_size = 2}});
  write_training(folder / "train.txt", {.network = container("net", net), .batch = 7});
  CHECK(contains(content(folder / "train.txt"), "sampleShape = [1, 28, 28]"));
  Model const model{.name = "net", .config = container("net", net), .batch = 7};
  CHECK(contains(capnp("decode --packed", juice_schema, text_of(serialize(model))), "shape = [7, 1, 28, 28]"));
  Model const of_sample =
      parse_described("(name = \"net\", config = " + config(input("sampleShape = [3, 4]"), {}).substr(11));
  CHECK(std::get<SequentialConfig>(of_sample.config.layer_type).inputs[0].shape == Shape{3, 4});
}

// What a file must give, and what is left out there as in Juice and not as in C++, by layer: all else is as in C++.
TEST_CASE("defaults in a file are those of C++, but for Juice's, which are these") {
  std::map<std::string, std::vector<std::string>> const juice{
      {"convolution", {"has_bias"}}, {"rnn", {"output"}}, {"dropout", {"probability", "seed"}}};
  std::map<std::string, std::vector<std::string>> const required{{"linear", {"output_size"}},
                                                                 {"convolution", {"num_output"}},
                                                                 {"convolution_transpose", {"num_output"}},
                                                                 {"rnn", {"hidden_size"}},
                                                                 {"reshape", {"shape"}},
                                                                 {"tied_linear", {"output_size"}},
                                                                 {"random_normal", {"shape"}},
                                                                 {"expand", {"shape"}},
                                                                 {"negative_log_likelihood", {"num_classes"}}};
  auto const of = [](auto const& all, std::string const& name) {
    auto const found = all.find(name);
    return found == all.end() ? std::vector<std::string>{} : found->second;
  };
  auto const check = [&]<class L>() {
    std::string const name{L::name};
    INFO(name);
    FileDefaults const found = defaults_in_file(L{});
    CHECK(found.required == of(required, name));
    std::vector<std::string> differ;
    L const in_cpp{}, &in_file = std::get<L>(found.layer);
    for_each_field(in_file, [&](std::string_view field, auto const& there) {
      for_each_field(in_cpp, [&](std::string_view other, auto const& here) {
        if constexpr (std::is_same_v<decltype(here), decltype(there)>) {
          if (other == field && !(here == there)) differ.emplace_back(field);
        }
      });
    });
    CHECK(differ == of(juice, name));
  };
  for_each_type(BuiltinLayers{}, check);
  for_each_type(BuiltinLosses{}, check);
  for_each_type(BuiltinStatistics{}, check);
}

TEST_CASE("an rnn that says its units alone is an LSTM of one layer") {
  for (char const* text : {"rnn = (hiddenSize = 16, output = \"LastStep\")",
                           "rnn = (hiddenSize = 16, output = \"LastStep\", numLayers = 0, rnnType = \"\")"})
    CHECK(network(config("", {text})).layers[0].layer_type ==
          dynamic::LayerType{Rnn{.hidden_size = 16, .output = RnnOutput::last_step}});
}

TEST_CASE("an axis that no shape has is refused") {
  CHECK(std::get<Permute>(network(config("", {"permute = (axes = [7, 0])"})).layers[0].layer_type).axes == Axes{7, 0});
  CHECK(contains(refusal(config("", {"permute = (axes = [8, 0])"})), "axes: there is no axis 8"));
}

TEST_CASE("a misspelt name is answered with the one that was meant") {
  auto const said = [](std::string const& kind) { return refusal<FormatError>(config("", {kind})); };
  CHECK(contains(said("leaky_relu = ()"), "layerType has no field 'leaky_relu'; did you mean 'leakyRelu'?"));
  CHECK(contains(said("rleu = void"), "layerType has no field 'rleu'; did you mean 'relu'?"));
  CHECK(contains(said("ReLU = void"), "did you mean 'relu'?"));
  CHECK(contains(said("linear = (outputsize = 3)"),
                 "LinearConfig has no field 'outputsize'; did you mean 'outputSize'?"));
  CHECK(contains(said("linear = (units = 3)"), "LinearConfig has no field 'units'; it has outputSize, weight, bias, "));
  CHECK(!contains(said("transformer = ()"), "did you mean"));
  CHECK(contains(said("softmaxLosses = ()"), "did you mean 'softmaxLoss'?"));
  CHECK(!contains(said("softmaxLossFun = ()"), "did you mean"));  // three letters are another name
  CHECK(contains(said("pooling = (mode = avrage)"), "'avrage' is not one of max, average; did you mean 'average'?"));
  CHECK(contains(said("convolution = (hasBias = True)"), "'True' is not a value; did you mean 'true'?"));
  CHECK(contains(refusal(config("", {"rnn = (hiddenSize = 1, rnnType = \"lstm\")"})),
                 "rnnType: 'lstm' is not one of LSTM, GRU, ReLU, Tanh; did you mean 'LSTM'?"));
  CHECK(contains(refusal<FormatError>("(network = (linear = (outputSize = 3)))"),
                 "line 1, column 13: LayerConfig has no field 'linear'; layerType has it: layerType = (linear = ...)"));
}

TEST_CASE("a name with what a terminal would obey is refused in a new text, and spelt out where a file has it") {
  auto const with_name = [](std::string const& name) {
    return "(network = (name = \"" + name + "\", layerType = (relu = void)))";
  };
  for (char const* name : {"a\\xc2\\x9bb", "a\xc2\x9b", "\xe2\x80\xae", "\xe2\x81\xa6", "\xd8\x9c", "\xe2\x80\x8f"}) {
    INFO(name);
    CHECK(contains(refusal<FormatError>(with_name(name)), "name: has the control character U+"));
  }
  CHECK(contains(refusal<FormatError>("(network = (layerType = (relu = void)), data = \"\xe2\x80\xae\")"),
                 "data: has the control character U+202e at byte 0"));
  CHECK(read(with_name("größe \xe2\x82\xac")).network.name == "größe \xe2\x82\xac");
  // U+D7FF and U+E000 are characters, what is between them is none.
  CHECK(read(with_name("\xed\x9f\xbf\xee\x80\x80")).network.name.size() == 6);
  CHECK(contains(refusal<FormatError>(with_name("\xed\xa0\x80")), "is not UTF-8 at byte 0"));
  CHECK(contains(refusal<FormatError>(with_name("\xed\xbf\xbf")), "is not UTF-8 at byte 0"));

  Model const model{.name = "n", .config = {"a\xc2\x9b", ReLU{}}};
  CHECK(parse(text_of(serialize(model))) == model);
  CHECK(printable("a\xc2\x9b\xe2\x80\xae\xff\x1b\n größe\xed\xa0\x80") ==
        "a\\u{009b}\\u{202e}\\xff\\x1b\\x0a größe\\xed\\xa0\\x80");
}

}  // namespace
}  // namespace coldpress::persist
