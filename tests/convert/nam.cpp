#include <coldpress/convert/nam.hpp>

#include "convert/nam_play.hpp"

#include <coldpress/dynamic/solver.hpp>
#include <coldpress/dynamic/stream.hpp>
#include <coldpress/graph/name.hpp>

using namespace coldpress;
using namespace coldpress::convert;
using namespace nam_test;

namespace {

/// What a stream makes of the signal in blocks of this size.
std::vector<float> in_blocks(persist::Model const& model, std::vector<float> const& x, std::size_t block) {
  auto const network = persist::layer_of(dynamic::Backend{"cpu"}, model);
  dynamic::Stream stream{network, 16};
  std::vector<float> y(x.size());
  for (std::size_t first = 0; first < x.size(); first += block) {
    std::size_t const count = std::min(block, x.size() - first);
    stream.process(std::span{x}.subspan(first, count), std::span{y}.subspan(first, count));
  }
  return y;
}

/// Reads the text, plays it step by step and in blocks, reads it for whole sequences, writes it and reads that again.
NamModel check(Model const& model, NamOptions const& options = {}) {
  TemporaryFolder folder;
  std::string const path = folder.put("model.nam", model.text);
  NamModel const read = read_nam(path, options);
  auto const expected = flat(model.y);
  auto const played = play(read.model, signal);
  CHECK(difference(played, expected) < bound);
  for (auto const& layer : std::get<dynamic::SequentialConfig>(read.model.config.layer_type).layers)
    CHECK(layer.name.size() <= static_cast<std::size_t>(Name::most));  // so that it can be a type

  auto whole = options;
  whole.input = Shape{static_cast<Index>(signal.size()), 1};
  auto layer = persist::layer_of(dynamic::Backend{"cpu"}, read_nam(path, whole).model);
  std::vector<float> x;
  for (auto const& sample : signal) x.push_back(static_cast<float>(sample[0]));
  auto const y = layer.predict(x);
  for (std::size_t const block : {1, 7, 60}) CHECK(in_blocks(read.model, x, block) == played);
  CHECK(difference({y.begin(), y.end()}, expected) < bound);

  std::string const written = folder / "written.nam";
  write_nam(written, read.model, read.metadata);
  NamModel const again = read_nam(written);
  auto const not_version = [](persist::Model of) {
    std::erase_if(of.metadata, [](persist::Entry const& entry) { return entry.key == "nam_version"; });
    return of;
  };
  CHECK(not_version(again.model) == not_version(read.model));
  CHECK(again.metadata.others == read.metadata.others);
  CHECK(again.metadata.sample_rate == read.metadata.sample_rate);
  return read;
}

/// Two arrays with everything that version 0.7 has.
std::vector<Array> full() {
  auto const all = activations();
  std::vector<Array> arrays(2);
  for (Array& array : arrays) {
    array.channels = 4, array.bottleneck = 2, array.head = 4, array.head_bias = false;
    array.taps = {2, 3, 1}, array.dilations = {1, 3, 7};
    array.activation = {all[5], all[14], all[15]};
    array.gating = {"none", "gated", "blended"};
    array.secondary = {all[1], all[7], all[14]};
    array.groups_input = 2, array.groups_layer1x1 = 2, array.head1x1 = 4, array.groups_head1x1 = 2;
    for (std::size_t p = 0; p < 8; ++p) array.films[p] = {.active = true, .shift = p % 3 != 0};
  }
  arrays[1].inputs = 4;
  arrays[1].head = 1, arrays[1].head_taps = 3, arrays[1].head_dilation = 2, arrays[1].head_bias = true;
  return arrays;
}

}  // namespace

TEST_CASE("a WaveNet of two arrays computes what plain loops do") {
  if (!has_json()) return;
  std::vector<Array> arrays(2);
  arrays[0].head = 2;
  arrays[1].inputs = 2;
  auto const read = check(wavenet(arrays, signal, 1));
  CHECK(read.metadata.version == "0.7.0");
  CHECK(read.metadata.sample_rate == 48000);
  CHECK(read.sizes == std::vector<double>{0});
}

TEST_CASE("each activation of a WaveNet computes what the format says, alone and as a gate") {
  if (!has_json()) return;
  for (auto const& activation : activations()) {
    INFO(activation.json);
    std::vector<Array> arrays(1);
    arrays[0].activation = {activation, activation};
    arrays[0].gating = {"none", "gated"};
    arrays[0].secondary = {activation, activation};
    check(wavenet(arrays, each(signal, [](double x) { return x; }), 3));
  }
}

TEST_CASE("gates, blends, FiLMs at every place, groups, bottlenecks and heads of several taps compute what loops do") {
  if (!has_json()) return;
  check(wavenet(full(), signal, 5));
  check(wavenet(full(), signal, 6, {}, Head{}));
  std::vector<Array> narrow(1);
  narrow[0].layer1x1 = false;
  check(wavenet(narrow, signal, 7));
}

TEST_CASE("a condition is made by a network of any architecture") {
  if (!has_json()) return;
  auto arrays = full();
  for (Array& array : arrays) {
    array.condition = 4, array.groups_mixin = 2;
    for (Film& film : array.films) film.groups = 2;
  }
  auto inner = full();
  inner[1].head = 4;
  check(wavenet(arrays, signal, 8, wavenet(inner, signal, 9)));
  std::vector<Array> const plain(1);
  check(wavenet(plain, signal, 10, convnet(false, signal, 11)));
  check(wavenet(plain, signal, 10, linear(signal, 12)));
  check(wavenet(plain, signal, 10, lstm(2, 1, signal, 13)));
}

TEST_CASE("an LSTM, a ConvNet and a Linear compute what loops do") {
  if (!has_json()) return;
  CHECK(check(lstm(3, 2, signal, 1)).metadata.initial_states.empty());
  check(convnet(false, signal, 3));
  check(convnet(true, signal, 4));
  check(linear(signal, 5));
}

TEST_CASE("initial states of an LSTM are kept for the file that is written") {
  if (!has_json()) return;
  auto const read = check(lstm(3, 2, signal, 1, false));
  CHECK(read.metadata.initial_states.size() == 12);
  TemporaryFolder folder;
  write_nam(folder / "a.nam", read.model, read.metadata);
  CHECK(read_nam(folder / "a.nam").metadata == [&] {
    auto metadata = read.metadata;
    metadata.version = "0.5.4";
    return metadata;
  }());
}

TEST_CASE("metadata come back as they were, known fields and others") {
  if (!has_json()) return;
  std::string const metadata =
      R"({"name": "Crunch", "loudness": -18.5, "gain": 0.25, "input_level_dbu": 12.5, "output_level_dbu": null, )"
      R"("date": {"year": 2026}, "tone": ["a", 1.5, null]})";
  auto text = linear(signal, 5).text;
  text.replace(text.rfind('}'), 1, ", \"metadata\": " + metadata + "}");
  TemporaryFolder folder;
  auto const read = read_nam(folder.put("a.nam", text));
  CHECK(read.metadata.name == "Crunch");
  CHECK(read.metadata.loudness == -18.5);
  CHECK(read.metadata.gain == 0.25);
  CHECK(read.metadata.input_level_dbu == 12.5);
  CHECK_FALSE(read.metadata.output_level_dbu);
  CHECK(read.metadata.others == R"({"date":{"year":2026},"output_level_dbu":null,"tone":["a",1.5,null]})");
  write_nam(folder / "b.nam", read.model, read.metadata);
  auto again = read_nam(folder / "b.nam").metadata;
  again.version = read.metadata.version;
  CHECK(again == read.metadata);
  CHECK(contains(message<FormatError>([&] { write_nam(folder / "c.nam", read.model, {.others = "[1]"}); }),
                 "metadata: got a list of 1, expected an object"));
  CHECK_FALSE(std::filesystem::exists(folder / "c.nam"));
}

TEST_CASE("metadata come back from a .juice file, too") {
  if (!has_json()) return;
  TemporaryFolder folder;
  NamMetadata const all{.version = "0.5.4",
                        .sample_rate = 44100.5,
                        .loudness = -18.123456789012345,
                        .gain = 0.1,
                        .input_level_dbu = 1e-300,
                        .output_level_dbu = -0.0,
                        .name = "Größe \"7\"",
                        .others = R"({"date":{"year":2026},"tone":["a\u0001",1.5,null]})",
                        .initial_states = {0.1f, -3e-40f, 0, 1e30f}};
  auto const read = read_nam(folder.put("a.nam", linear(signal, 5).text));
  auto model = read.model;
  CHECK(model.metadata == entries_of(read.metadata));
  CHECK(std::ranges::count(model.metadata, persist::Entry{"sample_rate", "48000"}) == 1);
  CHECK(entries_of({}).empty());
  CHECK(entries_of({.sample_rate = 48000, .loudness = -18.5, .name = "A"}) ==
        std::vector<persist::Entry>{{"name", "A"}, {"sample_rate", "48000"}, {"loudness", "-18.5"}});
  model.metadata = entries_of(all);
  model.metadata.push_back({"somebody's", "own"});
  persist::write_model(folder / "a.juice", model);
  CHECK(nam_metadata_of(persist::read_model(folder / "a.juice")) == all);

  model.metadata = entries_of({.name = "a\nb\x7f", .others = "{\"a\":\"\x7f\"}"});  // what a .juice file cannot have
  persist::write_model(folder / "b.juice", model);
  auto const spelt = nam_metadata_of(persist::read_model(folder / "b.juice"));
  CHECK(spelt.name == "a\\x0ab\\x7f");
  CHECK(spelt.others == R"({"a":"\u007f"})");
  write_nam(folder / "b.nam", persist::read_model(folder / "b.juice"));
  CHECK(read_nam(folder / "b.nam").metadata.name == spelt.name);
}

TEST_CASE("metadata of a .juice file that are not what a .nam file has are refused with their key") {
  TemporaryFolder folder;
  auto const refused = [&](std::string const& key, std::string const& value) {
    persist::Model const model{.metadata = {{"other", "x"}, {key, value}}};
    std::string const said = message<FormatError>([&] { (void)nam_metadata_of(model); });
    CHECK(said.starts_with("metadata '" + key + "': "));
    CHECK(message<FormatError>([&] { write_nam(folder / "a.nam", model); }) == said);
    return said;
  };
  for (char const* const bad : {"", "loud", "nan", "inf", "-inf", "1e999", " 1", "+1", "0x"})
    CHECK(contains(refused("loudness", bad), "' is not a finite number") != (bad == std::string{"0x"}));
  CHECK(contains(refused("sample_rate", "48000 Hz"), "' Hz' follows the number"));
  for (char const* const bad : {"0", "-48000", "1e300"})
    CHECK(contains(refused("sample_rate", bad), "' is not a number of Hz above 0"));
  CHECK(contains(refused("initial_states", "1,2"), "',2' follows a number"));
  CHECK(contains(refused("initial_states", "1 2 "), "'' is not a finite number"));
  CHECK(contains(refused("initial_states", "1  2"), "' 2' is not a finite number"));
  CHECK(refused("gain", std::string(1 << 20, 'x')).size() < 100);
  CHECK_FALSE(std::filesystem::exists(folder / "a.nam"));
  if (!has_json()) return;
  auto model = read_nam(folder.put("b.nam", linear(signal, 5).text)).model;
  for (char const* const bad : {"[1]", "{", "", "{} {}", "{\"a\": \"\xff\"}"}) {
    model.metadata = {{"nam_metadata", bad}};
    CHECK(contains(message<FormatError>([&] { write_nam(folder / "a.nam", model); }), "metadata"));
  }
}

TEST_CASE("one model of a container is chosen by its size, the last by default") {
  if (!has_json()) return;
  auto const small = lstm(2, 1, signal, 1), middle = linear(signal, 2), large = convnet(false, signal, 3);
  auto const container = [&](std::string const& second, std::string const& last) {
    return file("SlimmableContainer",
                R"({"submodels": [{"max_value": 0.25, "model": )" + small.text + R"(}, {"max_value": )" + second +
                    R"(, "model": )" + middle.text + R"(}, {"max_value": )" + last + R"(, "model": )" + large.text +
                    "}]}",
                "[]");
  };
  std::string const text = container("0.5", "1.0");
  CHECK(check({text, large.y}).sizes == std::vector<double>{0, 0.25, 0.5});
  check({text, small.y}, {.size = 0});
  check({text, small.y}, {.size = 0.249});
  check({text, middle.y}, {.size = 0.25});
  check({text, large.y}, {.size = 0.5});
  CHECK(refused<FormatError>(container("0.25", "1.0")) ==
        "config.submodels[1].max_value: got 0.25, expected more than that of the model before it");
  CHECK(refused<FormatError>(container("0.5", "0.9")) ==
        "config.submodels[2].max_value: got 0.9, expected at least 1 for the last model");
  CHECK(contains(message<ConfigError>([&] { static_cast<void>(read_nam("a.nam", {.size = 1.5})); }), "from 0 to 1"));
}

TEST_CASE("a slimmed WaveNet has the first channels of the whole one") {
  if (!has_json()) return;
  // Weights by hand: two channels; the first alone computes tanh(x/2 + x/4 + 1/8), which is 2 times that with the
  // scale.
  std::string const config =
      R"({"layers": [{"input_size": 1, "condition_size": 1, "head_size": 1, "channels": 2, "kernel_size": 1,)"
      R"( "dilations": [1], "activation": "Tanh", "gated": false, "head_bias": true,)"
      R"( "slimmable": {"method": "slice_channels_uniform", "kwargs": {"allowed_channels": [1, 2]}}}],)"
      R"( "head": null, "head_scale": 2})";
  // rechannel 2x1; conv 2x2 and its bias; mixin 2x1; layer1x1 2x2 and its bias; head 1x2 and its bias; head_scale
  std::string const weights = "[0.5, 7, 1, 0, 0, 1, 0.125, 0.25, 0.25, 0.5, 1, 2, 3, 4, 5, 6, 1, 0.5, 0.25, 2]";
  Frames one = signal, two = signal;
  for (auto& sample : one) sample[0] = 2 * (std::tanh(0.75 * sample[0] + 0.125) + 0.25);
  for (std::size_t t = 0; t < two.size(); ++t) two[t][0] = one[t][0] + 2 * 0.5 * std::tanh(7.5 * signal[t][0] + 0.25);
  std::string const text = file("WaveNet", config, weights);
  CHECK(check({text, two}).sizes == std::vector<double>{0, 0.5});
  check({text, one}, {.size = 0.25});
  check({text, two}, {.size = 0.5});
  CHECK(refused<FormatError>(replaced(text, "[1, 2]}", "[2, 1]}")) ==
        "config.layers[0].slimmable.kwargs.allowed_channels[1]: got 1, expected more than the 2 before it");
  CHECK(refused<FormatError>(replaced(text, "[1, 2]}", "[1]}")) ==
        "config.layers[0].slimmable.kwargs.allowed_channels: its last entry must be 2, the number of channels");
  CHECK(contains(refused<UnsupportedError>(replaced(text, "slice_channels_uniform", "fold")),
                 "config.layers[0].slimmable.method: got \"fold\", and only"));
}

TEST_CASE("a model is trained on sequences, and written with its new weights") {
  if (!has_json()) return;
  TemporaryFolder folder;
  std::string const path = folder.put("a.nam", wavenet(full(), signal, 5).text);
  auto const steps = static_cast<Index>(signal.size());
  auto const start = read_nam(path, {.input = Shape{steps, 1}});
  dynamic::Solver solver{
      persist::layer_of(dynamic::Backend{"cpu"}, start.model),
      {.objective = dynamic::LayerConfig{"loss", MeanSquaredError{}}, .solver = Adam{}, .base_lr = 0.01f}};
  std::vector<float> x, target;
  for (auto const& sample : signal) {
    x.push_back(static_cast<float>(sample[0]));
    target.push_back(std::tanh(2 * x.back()));
  }
  float const first = solver.train_minibatch(x, target);
  float last = first;
  for (int step = 0; step < 60; ++step) last = solver.train_minibatch(x, target);
  CHECK(last < first / 2);
  auto const y = solver.mut_network().predict(x);
  write_nam(folder / "b.nam", persist::model_of(solver.network()), start.metadata);
  CHECK(difference(play(read_nam(folder / "b.nam").model, signal), {y.begin(), y.end()}) < bound);
}

TEST_CASE("both biases of a trained LSTM are the one of the file") {
  if (!has_json()) return;
  TemporaryFolder folder;
  auto model = read_nam(folder.put("a.nam", lstm(2, 1, signal, 1).text)).model;
  auto& packed = model.weights[0].values;  // at its end are the second biases, 4 gates of 2 units
  for (std::size_t i = 0; i < 8; ++i) packed[packed.size() - 1 - i] = 0.25f * static_cast<float>(i);
  auto const expected = play(model, signal);
  write_nam(folder / "b.nam", model);
  CHECK(difference(play(read_nam(folder / "b.nam").model, signal), {expected.begin(), expected.end()}) < bound);
}
