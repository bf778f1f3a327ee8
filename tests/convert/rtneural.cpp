#include <coldpress/convert/rtneural.hpp>

#include "convert/built.hpp"
#include "convert/outputs.hpp"
#include "data/files.hpp"

#include <coldpress/data/npy.hpp>
#include <coldpress/dynamic/layer.hpp>
#include <coldpress/persist/network.hpp>

using namespace coldpress;
using namespace coldpress::convert;

namespace {

using convert_test::difference;
std::string file(std::string const& name) { return convert_test::in_source("keras/" + name); }

bool has_rtneural() {
  return convert_test::built_with("nlohmann-json", [] { static_cast<void>(read_rtneural("missing")); });
}

template <class Expected = FormatError>
std::string refused(std::string const& text, RtneuralOptions const& options = {}) {
  TemporaryFolder const folder;
  std::string const path = folder.put("a.json", text),
                    said = message<Expected>([&] { static_cast<void>(read_rtneural(path, options)); });
  CHECK(said.starts_with(path + ": "));
  return said.substr(path.size() + 2);
}

std::string replaced(std::string text, std::string const& old, std::string const& by) {
  auto const place = text.find(old);
  REQUIRE(place != std::string::npos);
  return text.replace(place, old.size(), by);
}

std::string const text = R"({"in_shape": [null, null, 2], "layers": [
{"type": "conv1d", "activation": "tanh", "shape": [null, null, 2], "kernel_size": [1], "dilation": [1], "groups": 1,
 "weights": [[[[1, 2], [3, 4]]], [5, 6]]},
{"type": "prelu", "activation": "", "shape": [null, null, 2], "weights": [[[0.5, 0.25]]]},
{"type": "gru", "activation": "tanh", "shape": [null, null, 1],
 "weights": [[[1, 2, 3], [4, 5, 6]], [[7, 8, 9]], [[1, 2, 3], [4, 5, 6]]]},
{"type": "batchnorm", "activation": "", "shape": [null, null, 1], "epsilon": 0.5, "weights": [[1], [2]]}]})";

template <class Expected = FormatError>
std::string spoilt(std::string const& old, std::string const& by) {
  return refused<Expected>(replaced(text, old, by));
}

}  // namespace

TEST_CASE("models of RTNeural compute what Keras computes, step by step and as a sequence") {
  if (!has_rtneural()) return;
  for (std::string const name : {"dense", "convolutions", "gru", "gru_reset_before", "lstm", "images"}) {
    INFO(name);
    auto const x = data::read_npy(file(name + ".x.npy"));
    auto const expected = data::read_npy(file(name + ".y.npy")).values;
    Index const steps = x.extents[1], features = static_cast<Index>(x.values.size()) / steps;
    auto const live = read_rtneural(file(name + ".json"));
    auto layer = persist::layer_of(dynamic::Backend{"cpu"}, live);
    std::vector<float> y;
    for (Index t = 0; t < steps; ++t) {
      auto const out = layer.step(
          std::span{x.values}.subspan(static_cast<std::size_t>(t * features), static_cast<std::size_t>(features)));
      y.insert(y.end(), out.begin(), out.end());
    }
    REQUIRE(y.size() >= expected.size());  // the first steps of windows that are not whole are not in Keras' outputs
    CHECK(difference(std::span{y}.last(expected.size()), expected) < 1e-5);
    auto const whole = read_rtneural(file(name + ".json"), {.input = Shape{steps, features}});
    CHECK(whole.weights == live.weights);
    auto sequence = persist::layer_of(dynamic::Backend{"cpu"}, whole);
    auto const at_once = sequence.predict(x.values);
    CHECK(difference(at_once.last(expected.size()), expected) < 1e-5);
    TemporaryFolder const folder;
    persist::write_model(folder / "a.juice", live);
    CHECK(persist::read_model(folder / "a.juice").weights == live.weights);
  }
}

TEST_CASE("layers are called after their places, and have the weights of Keras in our order") {
  if (!has_rtneural()) return;
  TemporaryFolder const folder;
  auto const model = read_rtneural(folder.put("a.json", text));
  auto const& layers = std::get<dynamic::SequentialConfig>(model.config.layer_type).layers;
  std::vector<std::string> names;
  for (auto const& layer : layers) names.push_back(layer.name);
  CHECK(names == std::vector<std::string>{"layer0", "layer0.activation", "layer1", "layer2", "layer3"});
  auto const weight = [&](std::string const& name) {
    return std::ranges::find(model.weights, name, &persist::NamedTensor::name)->values;
  };
  CHECK(weight("layer0-0") == std::vector<float>{1, 3, 2, 4});
  CHECK(weight("layer0-0-bias") == std::vector<float>{5, 6});
  CHECK(weight("layer1-0") == std::vector<float>{0.5f, 0.25f});
  CHECK(weight("layer2-0") == std::vector<float>{2, 5, 1, 4, 3, 6, 8, 7, 9, 2, 1, 3, 5, 4, 6});
  CHECK(weight("layer3-0") == std::vector<float>{1});
  CHECK(weight("layer3-0-variance") == std::vector<float>{2});
}

TEST_CASE("what is wrong in a file of RTNeural is said with its path, and what was expected") {
  if (!has_rtneural()) return;
  CHECK(spoilt("\"in_shape\"", "\"shape\"") == "has no \"in_shape\"");
  CHECK(spoilt("[null, null, 2]", "[2]") ==
        "in_shape: got a list of 1, expected a list of 2 to 4 extents, the batch first");
  CHECK(spoilt("[null, null, 2]", "[null, null, 0]") == "in_shape[2]: got 0, expected a whole number from 1 to 65,536");
  CHECK(spoilt("[null, null, 2]", "[null, null, 65536, 65536]") ==
        "in_shape: got a list of 4, expected at most 65,536 values of a step");
  CHECK(refused<UnsupportedError>(R"({"class_name": "Sequential", "config": {"layers": []}})") ==
        "is the description of a Keras model, without its weights; model.save(\"model.keras\") writes both");
  CHECK(refused(R"({"in_shape": [null, 1], "layers": []})") ==
        "layers: got a list of 0, expected a list of 1 to 1,024");
  CHECK(refused<UnsupportedError>(replaced(replaced(text, "\"prelu\"", "\"maxpool\""), "\"gru\"", "\"attention\"")) ==
        "has layers of types that are not known: layers[1].type \"maxpool\", layers[2].type \"attention\"");
  CHECK(spoilt<UnsupportedError>("\"activation\": \"tanh\"", "\"activation\": \"gelu\"") ==
        "layers[0].activation: got \"gelu\", expected \"tanh\", \"relu\", \"sigmoid\", \"softmax\" or \"elu\"");
  CHECK(refused<UnsupportedError>(
            replaced(text, "\"gru\", \"activation\": \"tanh\"", "\"gru\", \"activation\": \"relu\"")) ==
        "layers[2].activation: got \"relu\", expected \"tanh\"");
  CHECK(spoilt("[3, 4]", "[3, 4, 5]") == "layers[0].weights[0][0][1]: got a list of 3, expected a list of 2");
  CHECK(spoilt("[3, 4]", "[3, null]") ==
        "layers[0].weights[0][0][1][1]: got null, expected a number within the range of a float");
  CHECK(spoilt("[3, 4]", "[3, 1e39]") ==
        "layers[0].weights[0][0][1][1]: got 1e+39, expected a number within the range of a float");
  CHECK(spoilt("[3, 4]", "3") == "layers[0].weights[0][0][1]: got 3, expected a list of 2");
  CHECK(spoilt("\"kernel_size\": [1]", "\"kernel_size\": [2]") ==
        "layers[0].weights[0]: got a list of 1, expected a list of 2");
  CHECK(spoilt("\"groups\": 1", "\"groups\": 3") ==
        "layers[0].groups: got 3 groups, which do not divide 2 inputs and 2 outputs");
  CHECK(spoilt("\"kernel_size\": [1], \"dilation\": [1]", "\"kernel_size\": [1048576], \"dilation\": [1048576]") ==
        "layers[0]: a stream would keep more than 67,108,864 numbers");
  CHECK(spoilt("[[[0.5, 0.25]]]", "[[[0.5, 0.25, 1]]]") ==
        "layers[1].weights[0][0]: got a list of 3, expected a list of 2");
  CHECK(spoilt("[[7, 8, 9]], [[1, 2, 3], [4, 5, 6]]", "[[7, 8, 9]], [1, 2, 3, 4]") ==
        "layers[2].weights[2]: got a list of 4, expected a list of 3");
  CHECK(spoilt("\"weights\": [[1], [2]]", "\"weights\": [[1], [2], [3]]") ==
        "layers[3].weights: got a list of 3, expected a list of 2 or 4");
  CHECK(spoilt("\"epsilon\": 0.5", "\"epsilon\": 0") == "layers[3].epsilon: got 0, expected a number above 0");
  CHECK(spoilt("\"shape\": [null, null, 1], \"epsilon\"", "\"shape\": [null, null, 2], \"epsilon\"") ==
        "layers[3].shape: got a list of 3, expected 1 values of a step, as come in");
  CHECK(refused("[").starts_with("is not JSON: "));
  CHECK(refused(std::string(100'000, '[')) == "its values are more than 64 deep");
  CHECK(refused<ShapeError>(text, {.input = Shape{5, 3}}) == "the input is {5, 3}, but the network reads {steps, 2}");
  std::string const images = content(file("images.json"));
  CHECK(refused<UnsupportedError>(
            replaced(replaced(images, "\"padding\": \"valid\"", "\"padding\": \"full\""), "\"conv2d\"", "\"conv3d\""))
            .starts_with("has layers of types"));
  CHECK(refused(replaced(images, "\"padding\": \"valid\"", "\"padding\": \"full\"")) ==
        "layers[0].padding: got \"full\", expected \"valid\" or \"same\"");
  CHECK(refused(replaced(images, "\"strides\": 1", "\"strides\": 3")) ==
        "layers[0].shape: got a list of 4, expected 2 features and 2 channels");
  CHECK(refused(replaced(images, "\"num_features_in\": 7", "\"num_features_in\": 8"))
            .starts_with("layers[0].num_features_in: got 8"));
}

TEST_CASE("a file of RTNeural that is cut or flipped anywhere is a typed error that names it, or a model") {
  if (!has_rtneural()) return;
  for (std::size_t size = 0; size < text.size(); size += 3) {
    INFO("cut to " << size << " bytes");
    CHECK_FALSE(refused(text.substr(0, size)).empty());
  }
  TemporaryFolder const folder;
  for (std::size_t bit = 0; bit < 8 * text.size(); bit += 5) {
    INFO("bit " << bit);
    std::string flipped = text;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
    std::string const path = folder.put("a.json", flipped);
    try {
      static_cast<void>(read_rtneural(path));
    } catch (Error const& error) {
      CHECK(error.file() == path);
    }
  }
}
