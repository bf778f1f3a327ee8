#include <coldpress/convert/keras.hpp>

#include "convert/built.hpp"
#include "convert/outputs.hpp"
#include "data/files.hpp"

#include <coldpress/convert/format.hpp>
#include <coldpress/data/npy.hpp>
#include <coldpress/dynamic/layer.hpp>
#include <coldpress/persist/network.hpp>

#include <filesystem>

// The HDF5 library itself loses some bytes when it cannot open a file.
extern "C" char const* __lsan_default_suppressions();
extern "C" char const* __lsan_default_suppressions() { return "leak:libhdf5"; }

using namespace coldpress;
using namespace coldpress::convert;
using namespace std::string_literals;

namespace {

using convert_test::difference;
std::string file(std::string const& name) { return convert_test::in_source("keras/" + name); }

bool has_keras() {
  return convert_test::built_with("HDF5 or nlohmann-json", [] { static_cast<void>(read_keras("missing")); });
}

/// {N, height, width, channels} as {N, channels, height, width}, and volumes likewise; others as they are.
std::vector<float> channels_first(data::NpyArray const& array) {
  if (array.extents.size() < 4) return array.values;
  auto const samples = array.extents.front(), channels = array.extents.back(),
             places = static_cast<Index>(array.values.size()) / (samples * channels);
  std::vector<float> values;
  for (Index n = 0; n < samples; ++n) {
    for (Index c = 0; c < channels; ++c) {
      for (Index i = 0; i < places; ++i)
        values.push_back(array.values[static_cast<std::size_t>((n * places + i) * channels + c)]);
    }
  }
  return values;
}

std::vector<float> predicted(persist::Model const& model, std::vector<float> const& x) {
  auto layer = persist::layer_of(dynamic::Backend{"cpu"}, model);
  auto const y = layer.predict(x);
  return {y.begin(), y.end()};
}

}  // namespace

TEST_CASE("models of Keras 2 and 3 compute what Keras computes") {
  if (!has_keras()) return;
  for (std::string const name : {"cnn", "graph", "sequences", "nested", "picture", "attention", "augmented", "volumes",
                                 "means", "steps", "siamese", "reset_before", "keras2"}) {
    auto const x = data::read_npy(file(name + ".x.npy")), y = data::read_npy(file(name + ".y.npy"));
    for (std::string const ending : {".keras", ".h5"}) {
      if (name + ending == "graph.h5") continue;  // a large one
      INFO(name << ending);
      CHECK(format_of_content(file(name + ending)) == "keras");
      auto const model = read_keras(file(name + ending));
      CHECK(difference(predicted(model, channels_first(x)), channels_first(y)) < 1e-5);
      CHECK(difference(predicted(read_keras(file(name + ending), {.channels_last = true}), x.values), y.values) < 1e-5);
      CHECK(read_keras(file(name + ".keras")).weights == model.weights);
    }
  }
}

TEST_CASE("an attention of Keras 2 has its value and its key among the named arguments of its call") {
  if (!has_keras()) return;
  auto const x = data::read_npy(file("attention2.x.npy")), y = data::read_npy(file("attention2.y.npy"));
  CHECK(difference(predicted(read_keras(file("attention2.h5")), x.values), y.values) < 1e-5);
}

TEST_CASE("a layer of Keras 2 may have the name of one in a model beside it") {
  if (!has_keras()) return;
  CHECK(predicted(read_keras(file("same_name.h5")), {1, 2, 3}) == std::vector<float>{2, 4, 6});
}

TEST_CASE("hard_sigmoid is that of the version that wrote the file") {
  if (!has_keras()) return;
  std::string const bytes = content(file("hard.h5"));
  TemporaryFolder const folder;
  auto const read = [&](std::string const& version) {
    std::string changed = bytes;
    std::string const written = "3.15.1";
    for (auto at = changed.find(written); at != std::string::npos; at = changed.find(written, at + written.size()))
      changed.replace(at, written.size(), version);
    return read_keras(folder.put("a.h5", changed));
  };
  auto const alpha = [&](std::string const& version) {
    auto const model = read(version);
    return std::get<HardSigmoid>(std::get<dynamic::SequentialConfig>(model.config.layer_type).layers.back().layer_type)
        .alpha;
  };
  CHECK(alpha("3.15.1") == HardSigmoid{}.alpha);  // keras.activations.hard_sigmoid: relu6(x + 3) / 6
  CHECK(alpha("2.15.1") == 0.2f);                 // tf.keras: 0.2 x + 0.5, held between 0 and 1
  CHECK(contains(message<UnsupportedError>([&] { static_cast<void>(read("4.15.1")); }),
                 "config.layers[1].config.activation: got hard_sigmoid of Keras 4.15.1"));
}

TEST_CASE("layers have their names in Keras, and a Dense behind a Flatten has its rows in our order") {
  if (!has_keras()) return;
  auto const model = read_keras(file("cnn.keras"));
  std::vector<std::string> names;
  for (auto const& layer : std::get<dynamic::SequentialConfig>(model.config.layer_type).layers)
    names.push_back(layer.name.substr(0, layer.name.find('_')));
  CHECK(names == std::vector<std::string>{"rescaling", "first", "first.activation", "batch", "average", "conv2d", "p",
                                          "flatten", "dropout", "activation", "dense", "dense", "dense", "softmax"});
  TemporaryFolder const folder;
  persist::write_model(folder / "a.juice", model);
  CHECK(persist::read_model(folder / "a.juice").weights == model.weights);
}

TEST_CASE("the shape of a sample may be given where a model leaves it open, and must fit") {
  if (!has_keras()) return;
  auto const said = [&](Shape const& shape, bool last = false) {
    return message<ShapeError>(
        [&] { static_cast<void>(read_keras(file("old.h5"), {.input = shape, .channels_last = last})); });
  };
  CHECK(contains(said({3, 4, 2}), "the input is {3, 4, 2}, but the model reads {2, 3, 4}"));
  CHECK(contains(said({2, 3, 4}, true), "the input is {2, 3, 4}, but the model reads {3, 4, 2}"));
  CHECK(contains(said({2, 3}), "but the model reads {2, 3, 4}"));
  CHECK(contains(said({2, 3, 4, 1}), "but the model reads {2, 3, 4}"));
  CHECK(read_keras(file("old.h5"), {.input = Shape{2, 3, 4}}).weights.size() == 4);
}

TEST_CASE("what is not known or wrong in a model is said with its place") {
  if (!has_keras()) return;
  std::string const bytes = content(file("old.h5"));
  TemporaryFolder const folder;
  auto const with = [&]<class Expected>(Expected const*, std::string const& old, std::string const& by) {
    std::string changed = bytes;
    REQUIRE(old.size() == by.size());
    for (auto at = changed.find(old); at != std::string::npos; at = changed.find(old, at))
      changed.replace(at, old.size(), by);
    std::string const path = folder.put("a.h5", changed),
                      said = message<Expected>([&] { static_cast<void>(read_keras(path)); });
    CHECK(said.starts_with(path + ": "));
    return said.substr(path.size() + 2);
  };
  constexpr UnsupportedError const* unsupported = nullptr;
  constexpr FormatError const* format = nullptr;
  std::string const unknown = with(unsupported, "\"Flatten\"", "\"Flotsam\"");
  CHECK(unknown.starts_with("has layers that are not known: flatten"));
  CHECK(unknown.ends_with(" (Flotsam)"));
  CHECK(contains(with(unsupported, "\"Flatten\"", "\"Masking\""),
                 " (Masking, which finds the steps to hide by their values, while an rnn here takes the number "));
  CHECK(with(unsupported, "\"Sequential\"", "\"Subsequent\"") ==
        "class_name: got \"Subsequent\", expected \"Sequential\" or \"Functional\"");
  CHECK(with(unsupported, "channels_last", "channels_lost") ==
        "config.layers[1].config.data_format: got \"channels_lost\", and only models with channels last are read");
  CHECK(with(unsupported, "\"linear\"", "\"cubist\"") ==
        "config.layers[1].config.activation: got the activation \"cubist\", which is not known");
  CHECK(with(unsupported, "\"valid\"", "\"solid\"") ==
        "config.layers[1].config.padding: got \"solid\", expected \"same\" or \"valid\"");
  std::string const filters = with(format, "\"filters\": 2", "\"filters\": 3");
  CHECK(contains(filters, "' has shape [2], but the layer needs [3]"));
  CHECK(with(format, "\"filters\": 2", "\"filters\": 0") ==
        "config.layers[1].config.filters: got 0, expected a whole number from 1 to 16,777,216");
  CHECK(with(format, "\"units\": 2", "\"Units\": 2") == "config.layers[3].config: has no \"units\"");
  CHECK(contains(with(format, "kernel\0"s, "kennel\0"s), "has no dataset 'kernel' for the layer"));
  CHECK(contains(with(format, "model_config", "model_comfit"), "has no attribute 'model_config'"));
  CHECK(contains(with(format, "{\"class_name\": \"Seq", "[\"class_name\": \"Seq"), "is not JSON: "));
}

TEST_CASE("weights of Keras that are quantised, not floats, not finite or beyond a float are refused") {
  if (!has_keras()) return;
  auto const says = [&]<class Expected>(Expected const*, std::string const& name, std::string const& sentence) {
    CHECK(message<Expected>([&] { static_cast<void>(read_keras(file(name))); }) == file(name) + ": " + sentence);
  };
  constexpr UnsupportedError const* unsupported = nullptr;
  constexpr DataError const* data = nullptr;
  std::string const quantised =
                        " for the layer 'scores', whose weights are quantised; expected weights that are floats",
                    first = "config.layers[1].config.dtype", weight = "'layers/dense/vars/";
  says(unsupported, "quantised.keras", first + ".class_name: got \"QuantizedDTypePolicy\"" + quantised);
  says(unsupported, "quantised_float8.keras", first + ".class_name: got \"QuantizedFloat8DTypePolicy\"" + quantised);
  says(unsupported, "quantised_by_name.keras", first + ": got \"int8_from_float32\"" + quantised);
  says(unsupported, "quantised_by_map.keras",
       first + ".config.policy_map.scores.class_name: got \"QuantizedDTypePolicy\"" + quantised);
  says(unsupported, "integers.keras",
       weight + "0' of the layer 'scores' holds integers of 8 bits, expected floats of at least 16 bits");
  says(unsupported, "float8.keras",
       weight + "0' of the layer 'scores' holds floats of 8 bits, expected floats of at least 16 bits");
  std::string const bad = " is infinite, NaN or beyond the range of a float";
  says(data, "nan.keras", weight + "0' of the layer 'scores': value 2" + bad);
  says(data, "beyond_float.keras", weight + "1' of the layer 'scores': value 1" + bad);
  says(data, "variance.keras",
       "'layers/normalization/vars/1' of the layer 'scaled': value 1 is -0.5, and a variance is at least 0");
  CHECK(read_keras(file("half.keras")).weights.size() == 2);
}

TEST_CASE("calls of Keras 2 with a mask, or always in training, are refused") {
  if (!has_keras()) return;
  auto const said = [](std::string const& name) {
    return message<UnsupportedError>([&] { static_cast<void>(read_keras(file(name))); });
  };
  CHECK(said("call_mask.h5") == file("call_mask.h5") +
                                    ": config.layers[2].inbound_nodes[0][0][3].mask: is another input, such as a mask "
                                    "or an initial state, which is not read");
  CHECK(said("call_training.h5") == file("call_training.h5") +
                                        ": config.layers[1].inbound_nodes[0][0][3].training: got true, with which the "
                                        "layer always computes as in training; expected false or nothing");
  CHECK_NOTHROW(read_keras(file("call_no_mask.h5")));
}

TEST_CASE("a model of Keras is read where a file has the name of its weights") {
  if (!has_keras()) return;
  TemporaryFolder const folder;
  auto const path = std::filesystem::absolute(file("means.keras")), before = std::filesystem::current_path();
  folder.put("model.weights.h5", "unzipped by someone");
  std::filesystem::current_path(folder / "");
  CHECK_NOTHROW(read_keras(path.string()));
  std::filesystem::current_path(before);
}

TEST_CASE("damaged files of Keras and bombs are typed errors") {
  if (!has_keras()) return;
  TemporaryFolder const folder;
  for (auto const& [name, step] : {std::pair{"cnn.keras", 61}, std::pair{"old.h5", 397}}) {
    std::string const bytes = content(file(name));
    for (std::size_t size = 0; size < bytes.size(); size += static_cast<std::size_t>(step)) {
      INFO(name << " cut to " << size << " bytes");
      std::string const path = folder.put("cut", bytes.substr(0, size));
      CHECK(message<FormatError>([&] { static_cast<void>(read_keras(path)); }).starts_with(path + ": "));
    }
  }
  std::string const bytes = content(file("nested.keras"));
  for (std::size_t bit = 0; bit < 8 * bytes.size(); bit += 41) {
    INFO("bit " << bit);
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
    std::string const path = folder.put("flipped", flipped);
    try {
      static_cast<void>(read_keras(path));
    } catch (Error const& error) {
      CHECK(error.file() == path);
    }
  }
  CHECK(contains(message<FormatError>([&] { static_cast<void>(read_keras(file("bomb.keras"))); }),
                 "member 'config.json': unpacks to more than its limit"));
  CHECK(contains(message<FormatError>([&] { static_cast<void>(read_keras(file("bomb.h5"))); }),
                 "have more values than the file may unpack to: 100 times its size plus 1 MiB"));
  CHECK(contains(message<FileError>([&] { static_cast<void>(read_keras(folder / "none.keras")); }), "none.keras: "));
}
