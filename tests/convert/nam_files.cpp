#include <coldpress/convert/format.hpp>
#include <coldpress/convert/nam.hpp>

#include "convert/nam_play.hpp"

using namespace coldpress;
using namespace coldpress::convert;
using namespace nam_test;

namespace {

std::string const text = wavenet({{.head = 2}, {.inputs = 2}}, signal, 1).text;

/// What is said of the text with one part of it exchanged.
template <class Expected = FormatError>
std::string spoilt(std::string const& old, std::string const& by, std::string const& of = text) {
  return refused<Expected>(replaced(of, old, by));
}

}  // namespace

TEST_CASE("what is wrong in a .nam file is said with its path, and what was expected") {
  if (!has_json()) return;
  CHECK(spoilt("\"kernel_sizes\": [2, 3]", "\"kernel_sizes\": [2, -1]") ==
        "config.layers[0].kernel_sizes[1]: got -1, expected a whole number from 1 to 1,048,576");
  CHECK(spoilt("\"kernel_sizes\": [2, 3]", "\"kernel_sizes\": [2]") ==
        "config.layers[0].kernel_sizes: got a list of 1, expected a list of 2, as many as \"dilations\" has");
  CHECK(spoilt("\"kernel_sizes\"", "\"kernel_size\": 2, \"kernel_sizes\"") ==
        "config.layers[0].kernel_sizes: stands beside \"kernel_size\"; only one of them may be given");
  CHECK(spoilt("\"kernel_sizes\"", "\"sizes\"") ==
        "config.layers[0]: has neither \"kernel_size\" nor \"kernel_sizes\"");
  CHECK(spoilt("\"dilations\": [1, 4]", "\"dilations\": []") ==
        "config.layers[0].dilations: got a list of 0, expected a list of 1 to 1,024");
  CHECK(spoilt("\"dilations\": [1, 4]", "\"dilations\": [1, 2.5]") ==
        "config.layers[0].dilations[1]: got 2.5, expected a whole number from 1 to 1,048,576");
  CHECK(spoilt("\"channels\": 2", "\"channels\": \"many\"") ==
        "config.layers[0].channels: got \"many\", expected a whole number from 1 to 4,096");
  CHECK(spoilt("\"channels\": 2, ", "") == "config.layers[0]: has no \"channels\"");
  CHECK(spoilt("\"input_size\": 2", "\"input_size\": 3") ==
        "config.layers[1].input_size: got 3, expected 2, the channels of the array before it");
  CHECK(spoilt("\"condition_size\": 1", "\"condition_size\": 3") ==
        "config.layers[0].condition_size: got 3, expected 1, the channels of the condition");
  CHECK(spoilt("\"groups_input\": 1", "\"groups_input\": 3") ==
        "config.layers[0].groups_input: got 3 groups, which do not divide 2 inputs and 2 outputs");
  CHECK(spoilt("[\"Tanh\", \"Tanh\"]", "[\"Tanh\", 5]") ==
        "config.layers[0].activation[1]: got 5, expected the name of an activation, or an object with its \"type\"");
  CHECK(spoilt<UnsupportedError>("[\"Tanh\", \"Tanh\"]", "[\"Tanh\", \"Sine\"]") ==
        "config.layers[0].activation[1]: got \"Sine\", which is no activation that is known");
  CHECK(spoilt("[\"Tanh\", \"Tanh\"]", R"(["Tanh", {"type": "PReLU", "negative_slopes": [1, 2, 3]}])") ==
        "config.layers[0].activation[1].negative_slopes: got a list of 3, expected one slope, or one for each of 2 "
        "channels");
  CHECK(spoilt("[\"Tanh\", \"Tanh\"]", R"(["Tanh", {"type": "LeakyHardtanh", "min_val": 2}])") ==
        "config.layers[0].activation[1]: \"min_val\" must be less than \"max_val\"");
  CHECK(spoilt("[\"none\", \"none\"]", "[\"none\", \"some\"]") ==
        "config.layers[0].gating_mode[1]: got \"some\", expected \"none\", \"gated\" or \"blended\"");
  CHECK(spoilt("\"head1x1_post_film\": {\"active\": false", "\"head1x1_post_film\": {\"active\": true") ==
        "config.layers[0].head1x1_post_film: is active, but what comes before it is not");
  CHECK(spoilt("\"layer1x1\": {\"active\": true", "\"layer1x1\": {\"active\": 1") ==
        "config.layers[0].layer1x1.active: got 1, expected true or false");
  CHECK(spoilt("\"bottleneck\": 2", "\"bottleneck\": 1")
            .starts_with("config.layers[1]: its layers give the head 2"
                         " channels") == false);
  CHECK(spoilt("\"sample_rate\": 48000", "\"sample_rate\": -1") ==
        "sample_rate: got -1, expected a number of Hz above 0");
  CHECK(spoilt("\"architecture\": \"WaveNet\"", "\"kind\": 1") == "has no \"architecture\"");
  CHECK(spoilt<UnsupportedError>("\"WaveNet\"", "\"Mamba\"") ==
        "architecture: got \"Mamba\", which is no architecture that is known");
  CHECK(spoilt<UnsupportedError>("0.7.0", "0.8.0") ==
        "version: got \"0.8.0\", and only versions from 0.5.0 to 0.7 are known");
  CHECK(spoilt<UnsupportedError>("0.7.0", "1.5.0").starts_with("version: "));
  CHECK(spoilt("0.7.0", "7") == "version: got \"7\", expected a version such as \"0.5.4\"");
  CHECK(refused<FormatError>("[1, 2]") == "got a list of 2, expected an object");
  CHECK(refused<FormatError>("").starts_with("is not JSON: parse error at line 1, column 1"));
  CHECK(refused<FormatError>(std::string(200, '[')) == "its values are more than 64 deep");
  CHECK(refused<FormatError>("{\"a\": 1e999}").starts_with("is not JSON: number overflow"));
  TemporaryFolder folder;
  CHECK(contains(message<FileError>([&] { static_cast<void>(read_nam(folder / "none.nam")); }), "none.nam: "));
}

TEST_CASE("there must be as many weights as the network needs, and each must be a float") {
  if (!has_json()) return;
  auto const count = std::to_string(wavenet({{.head = 2}, {.inputs = 2}}, signal, 1).weights);
  auto const end = text.find(']', text.find("\"weights\""));
  auto more = text, fewer = text;
  more.insert(end, ", 1");
  fewer.erase(fewer.rfind(',', end), end - fewer.rfind(',', end));
  CHECK(refused<FormatError>(more) ==
        "weights: " + std::to_string(std::stoi(count) + 1) + " values, the network needs " + count);
  CHECK(refused<FormatError>(fewer) ==
        "weights: " + std::to_string(std::stoi(count) - 1) + " values, the network needs " + count);
  CHECK(spoilt("\"weights\": [", "\"weights\": [null, ").starts_with("weights: "));
  auto const first = text.find('[', text.find("\"weights\"")) + 1;
  auto const exchanged = [&](std::string const& by) {
    auto changed = text;
    return changed.replace(first, changed.find(',', first) - first, by);
  };
  CHECK(refused<FormatError>(exchanged("1e39")) ==
        "weights[0]: got 1e+39, expected a number within the range of a float");
  CHECK(refused<FormatError>(exchanged("null")) ==
        "weights[0]: got null, expected a number within the range of a float");
  CHECK(refused<FormatError>(exchanged("NaN")).starts_with("is not JSON: "));
  CHECK(spoilt("\"dilations\": [1, 4]", "\"dilations\": [1, 1000000000]").starts_with("config.layers[0].dilations[1]"));
  auto const variance = convnet(true, signal, 4).text;
  CHECK(spoilt("0.25, 0.5, 0.75", "0.25, -9, 0.75", variance) ==
        "weights: batch normalisation makes 'block0.conv-0' infinite or NaN");
}

TEST_CASE("sizes that no file can have weights for, and memories beyond what a stream may keep, are refused at once") {
  if (!has_json()) return;
  auto const lstm = [](char const* hidden, char const* layers) {
    return file("LSTM",
                std::string{"{\"input_size\": 1, \"hidden_size\": "} + hidden + ", \"num_layers\": " + layers + "}",
                "[1, 2]");
  };
  CHECK(refused<FormatError>(lstm("4096", "1024")).starts_with("weights: 2 values, the network needs 137,"));
  CHECK(refused<FormatError>(lstm("99999", "1")).starts_with("config.hidden_size: got 99999"));
  CHECK(refused<FormatError>(file("Linear", R"({"receptive_field": 1e30, "bias": true})", "[]"))
            .starts_with("config.receptive_field: got 1e+30, expected"));
  auto far = replaced(text, "\"dilations\": [1, 4]", "\"dilations\": [1, 1048576]");
  far = replaced(far, "\"kernel_sizes\": [2, 3]", "\"kernel_sizes\": [2, 100]");
  CHECK(refused<FormatError>(far).starts_with("config: a stream would keep 207,618,0"));
  std::string dilations;
  for (int i = 0; i < 1023; ++i) dilations += "1, ";
  CHECK(refused<FormatError>(replaced(replaced(replaced(replaced(replaced(text, "[1, 4]", "[" + dilations + "1]"),
                                                                 "\"kernel_sizes\": [2, 3]", "\"kernel_size\": 2"),
                                                        "[\"Tanh\", \"Tanh\"]", "\"Tanh\""),
                                               "[\"none\", \"none\"]", "\"none\""),
                                      "[\"Sigmoid\", \"Sigmoid\"]", "\"Sigmoid\"")) ==
        "config.layers[1].dilations: with these, the network has more than 1,024 layers");
  std::string deep = text;
  for (int i = 0; i < 9; ++i)
    deep = replaced(text, "\"head_scale\"", "\"condition_dsp\": " + deep + ", \"head_scale\"");
  CHECK(contains(refused<FormatError>(deep), "condition_dsp: more than 8 models, one inside another"));
}

TEST_CASE("a .nam file that is cut anywhere is a typed error that names it") {
  if (!has_json()) return;
  for (std::size_t size = 0; size < text.size(); size += 7) {
    INFO("cut to " << size << " bytes");
    CHECK_FALSE(refused<FormatError>(text.substr(0, size)).empty());
  }
}

TEST_CASE("a network that is not one of a .nam file is refused with its first layer, and nothing is written") {
  if (!has_json()) return;
  TemporaryFolder folder;
  auto const model = read_nam(folder.put("a.nam", text)).model;
  std::string const path = folder.put("old.nam", "as it was");
  auto const refuse = [&](auto const& change) {
    auto changed = model;
    change(std::get<dynamic::SequentialConfig>(changed.config.layer_type), changed);
    auto const said = message<UnsupportedError>([&] { write_nam(path, changed); });
    CHECK(content(path) == "as it was");
    return said;
  };
  using Layers = dynamic::SequentialConfig;
  auto const find = [](Layers& layers, std::string const& name) -> dynamic::LayerConfig& {
    return *std::ranges::find(layers.layers, name, &dynamic::LayerConfig::name);
  };
  CHECK(refuse([&](Layers& layers, auto&) { find(layers, "array0.layer1.activation").layer_type = GELU{}; }) ==
        "a .nam file has no activation gelu");
  CHECK(refuse([&](Layers& layers, auto&) { find(layers, "array0.layer1.sum").layer_type = Multiply{}; }) ==
        "layer 'array0.layer1.sum': is not what a .nam file can have there: it is multiply, expected add");
  CHECK(refuse([&](Layers& layers, auto&) { find(layers, "array0.layer1.residual").inputs[0] = "array0.rechannel"; }) ==
        "layer 'array0.layer1.residual': is not what a .nam file can have there: it reads 'array0.rechannel', "
        "'array0.layer1.layer1x1', expected 'array0.layer0.residual', 'array0.layer1.layer1x1'");
  CHECK(refuse([&](Layers& layers, auto&) {
          layers.layers.push_back({"after", TanH{}});
        }) == "layer 'after': is not what a .nam file can have there: the network is complete without it");
  CHECK(refuse([&](Layers& layers, auto&) { std::get<Power>(find(layers, "head_scale").layer_type).shift = 1; }) ==
        "layer 'head_scale': is not what a .nam file can have there: its fields do not fit the layers around it");
  dynamic::SequentialConfig other;
  other.add_input("input", Shape{1}).add_layer({"dense", Linear{.output_size = 1}});
  auto const dense =
      persist::model_of(dynamic::Layer::from_config(dynamic::Backend{"cpu"}, dynamic::LayerConfig{"net", other}));
  CHECK(message<UnsupportedError>([&] { write_nam(path, dense); }) ==
        "layer 'dense': is not what a .nam file can have there: expected 'array0.rechannel', 'lstm', 'block0.conv' or "
        "'fir', as read_nam names them");
  CHECK(contains(message<FileError>([&] { write_nam(folder / "none/a.nam", model); }), "none/a.nam"));
}

TEST_CASE("weights that training has changed are written; those that are not finite are refused") {
  if (!has_json()) return;
  TemporaryFolder folder;
  auto model = read_nam(folder.put("a.nam", text)).model;
  model.weights[1].values[0] = 0.1f;
  write_nam(folder / "b.nam", model);
  CHECK(read_nam(folder / "b.nam").model.weights == model.weights);
  model.weights[1].values[0] = std::numeric_limits<float>::infinity();
  CHECK(message<DataError>([&] { write_nam(folder / "b.nam", model); }) ==
        "weight '" + model.weights[1].name + "': value 0 is infinite or NaN");
  model.weights[1].values[0] = 0;
  CHECK(contains(message<UnsupportedError>([&] { write_nam(folder / "b.nam", model, {.sample_rate = -1}); }),
                 "a .nam file cannot have it: sample_rate: got -1"));
  float const nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(contains(message<DataError>([&] {
                   write_nam(folder / "b.nam", model, {.initial_states = {0, nan}});
                 }),
                 "initial state 1 is infinite or NaN"));
  CHECK(contains(message<DataError>([&] { write_nam(folder / "b.nam", model, {.gain = std::nan("")}); }),
                 "gain is infinite or NaN"));
  CHECK(contains(message<DataError>([&] { write_nam(folder / "b.nam", model, {.name = "Cr\xff"}); }),
                 "the name 'Cr\\xff' is not UTF-8"));
}

TEST_CASE("a plain network is written as version 0.5.4, with the fields that old players read") {
  if (!has_json()) return;
  TemporaryFolder folder;
  Array array{.taps = {3, 3}};
  auto const model = read_nam(folder.put("a.nam", wavenet({array}, signal, 1).text)).model;
  write_nam(folder / "b.nam", model);
  CHECK(content(folder / "b.nam")
            .starts_with(
                R"({"version":"0.5.4","architecture":"WaveNet","config":{"layers":[{"input_size":1,"condition_size":1,)"
                R"("head_size":1,"channels":2,"kernel_size":3,"dilations":[1,4],"activation":"Tanh","gated":false,)"
                R"("head_bias":true}],"head":null,"head_scale":)"));
  array.gating = {"gated", "gated"};
  write_nam(folder / "c.nam", read_nam(folder.put("a.nam", wavenet({array}, signal, 1).text)).model);
  CHECK(contains(content(folder / "c.nam"), R"("version":"0.5.4",)"));
  array.gating = {"none"}, array.taps = {3}, array.dilations = {2}, array.activation = {tanh_},
  array.secondary = {tanh_};
  write_nam(folder / "c.nam", read_nam(folder.put("a.nam", wavenet({array}, signal, 1).text)).model);
  CHECK(contains(content(folder / "c.nam"), R"("version":"0.5.4",)"));
  array = {};
  array.gating = {"none", "blended"};
  write_nam(folder / "d.nam", read_nam(folder.put("a.nam", wavenet({array}, signal, 1).text)).model);
  CHECK(contains(content(folder / "d.nam"), R"("version":"0.7.0",)"));
}

TEST_CASE("an input of the wrong shape is refused") {
  if (!has_json()) return;
  CHECK(refused<ShapeError>(text, {.input = Shape{5, 2}}) == "the input is {5, 2}, but the network reads {steps, 1}");
}

TEST_CASE("models of guitarists sound as the player of their format plays them") {
  if (!has_json()) return;
  char const* const data = std::getenv("COLDPRESS_TEST_DATA");
  std::string const folder = data ? std::string{data} + "/nam/" : "";
  if (!data || !std::filesystem::exists(folder + "signal.npy")) {
    WARN("skipped: COLDPRESS_TEST_DATA has no nam/signal.npy");
    return;
  }
  Frames played;
  for (float const x : data::read_npy(folder + "signal.npy").values) played.push_back({x});
  int models = 0;
  for (auto const& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".nam") continue;
    INFO(entry.path().filename());
    auto const expected = data::read_npy(folder + entry.path().stem().string() + ".y.npy").values;
    auto const read = read_nam(entry.path().string());
    CHECK(difference(play(read.model, played, 24'000), {expected.begin(), expected.end()}) < bound);
    ++models;
  }
  CHECK(models > 0);
}

TEST_CASE("a .nam file is known by its content, however late it says what it is") {
  TemporaryFolder folder;
  auto const format = [&](std::string const& json) { return format_of_content(folder.put("a", json)); };
  for (std::size_t const before : {0u, 4090u, 5000u, 65536u + 4090u, 1u << 20}) {
    std::string const blank(before, ' ');
    CHECK(format("{" + blank + R"("metadata": {"name": "\"architecture\""}, "architecture": "LSTM"})") == "nam");
    CHECK(format("{" + blank + R"("weights": [1], "in_shape": [null, 1]})") == "rtneural");
    CHECK(format("{" + blank + R"("architectures": "LSTM"})") == "");
  }
  CHECK(format("[" + std::string(5000, ' ') + R"({"architecture": "LSTM"}])") == "");
}
