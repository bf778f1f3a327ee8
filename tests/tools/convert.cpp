#include "convert/caffe_writer.hpp"
#include "convert/onnx_writer.hpp"
#include "tools/command.hpp"

#include <coldpress/data/npy.hpp>
#include <coldpress/persist.hpp>

#include <filesystem>

namespace coldpress::command {
namespace {

/// A config with a convolution and a dense layer, and a .caffemodel for it.
struct Case {
  TemporaryFolder folder;
  std::string config = folder.put("net.capnp.txt", R"((network = (name = "net", layerType = (sequential = (
    inputs = [(name = "data", sampleShape = [1, 2, 2])], layers = [
    (name = "conv", layerType = (convolution = (numOutput = 2, filterShape = [1, 2], stride = [1], padding = [0],
                                                hasBias = true))),
    (name = "ip", layerType = (linear = (outputSize = 1)))])))))");
  std::string caffe = folder.put(
      "net.caffemodel", layer("conv", "Convolution", {{2, 1, 1, 2}, {2}}) + layer("ip", "InnerProduct", {{1, 4}, {1}}));
  std::string juice = folder / "net.juice";

  static std::string layer(std::string const& name, std::string const& type,
                           std::vector<std::vector<std::int64_t>> const& shapes) {
    std::vector<std::string> blobs;
    for (auto const& shape : shapes) {
      std::vector<float> values;
      std::int64_t size = 1;
      for (auto const extent : shape) size *= extent;
      for (std::int64_t i = 0; i < size; ++i) values.push_back(static_cast<float>(i + 1));
      blobs.push_back(caffe_writer::blob(shape, values));
    }
    return caffe_writer::layer({name, type, {"data"}, {name}, blobs});
  }
};

/// Whether the command was built with what files of this name need.
bool reads(std::string const& library) {
  bool const caffe = library == "protobuf";
  std::string const file = caffe ? "missing.binaryproto" : "missing.hdf5";
  bool const has = !contains(run({"convert", file, "mean.npy"}).err, "without which coldpress::convert was built");
  if (!has) WARN("skipped: the command was built without " << library);
  return has;
}

std::string bad_use(std::vector<std::string> arguments) {
  Result const result = run(std::move(arguments));
  CHECK(result.code == 2);
  CHECK(result.out.empty());
  return result.err;
}

TEST_CASE("convert puts weights of Caffe into a config, and says where each came from") {
  if (!has_command() || !reads("protobuf")) return;
  Case const c;
  CHECK(output({"convert", c.caffe, "--config", c.config, "-o", c.juice}) ==
        "conv-0 from conv (Convolution) blob 0\nconv-0-bias from conv (Convolution) blob 1\n"
        "ip-0 from ip (InnerProduct) blob 0\nip-0-bias from ip (InnerProduct) blob 1\n" +
            c.juice + ": 11 parameters\n");
  persist::Model const model = persist::read_model(c.juice);
  CHECK(model.checksummed);
  CHECK(model.config == persist::read_training(c.config).network);
  CHECK(model.weights[2].values == std::vector<float>{1, 2, 3, 4});

  std::string const other =
      c.folder.put("other", Case::layer("conv", "Convolution", {{2, 1, 1, 2}}) + Case::layer("fc", "Scale", {{3}}));
  std::string const said =
      output({"convert", other, c.folder / "a.juice", "--from", "caffe", "--config", c.config, "--allow-missing"});
  CHECK(contains(said, "conv-0-bias from conv (Convolution) without a bias: 0\n"));
  CHECK(contains(said, "note: ip-0 is not in the file and has its initial value\n"));
  CHECK(contains(said, "note: fc (Scale) blob 0 [3] is not used: no weight of the config is made of it\n"));
}

TEST_CASE("convert takes the shape of a sample for a config that declares none") {
  if (!has_command() || !reads("protobuf")) return;
  Case const c;
  std::string text = content(c.config);
  std::string const inputs = "inputs = [(name = \"data\", sampleShape = [1, 2, 2])], ";
  std::string const config = c.folder.put("open.capnp.txt", text.erase(text.find(inputs), inputs.size()));
  output({"convert", c.caffe, c.juice, "--config", config, "--input", "1", "2", "2"});
  CHECK(persist::read_model(c.juice).weights.size() == 4);
  CHECK(failure({"convert", c.caffe, c.juice, "--config", config})
            .starts_with(config + ": layer 'net': the config does not say the shape of its input"));
  CHECK(failure({"convert", c.caffe, c.juice, "--config", config})
            .ends_with("; --input gives the shape of a sample where the config does not"));
}

TEST_CASE("convert writes Mocha's weights, and reads them again") {
  if (!has_command() || !reads("protobuf") || !reads("HDF5")) return;
  Case const c;
  output({"convert", c.caffe, "--config", c.config, "-o", c.juice});
  std::string const mocha = c.folder / "net.hdf5", again = c.folder / "again.juice";
  CHECK(output({"convert", c.juice, mocha}) == mocha + ": 11 parameters\n");
  CHECK(contains(output({"convert", mocha, again, "--config", c.config}), "conv-0 from conv___filter\n"));
  CHECK(content(again) == content(c.juice));
  // The same with the formats named.
  std::string const plain = c.folder / "weights", named = c.folder / "named";
  output({"convert", "--from", "juice", "--to", "mocha", c.juice, plain});
  output({"convert", "--from", "mocha", "--to", "juice", plain, named, "--config", c.config});
  CHECK(content(named) == content(c.juice));
}

TEST_CASE("convert turns a mean file of Caffe into an array of NumPy") {
  if (!has_command() || !reads("protobuf")) return;
  TemporaryFolder const folder;
  std::vector<float> const values{1, 2, 3, 4, 5, 6};
  std::string const mean =
      folder.put("mean.binaryproto", caffe_writer::blob({1, 3, 1, 2}, values, caffe_writer::Style::legacy_shape));
  std::string const npy = folder / "mean.npy";
  CHECK(output({"convert", mean, npy}) == npy + ": values of shape {3, 1, 2}\n");
  auto const array = data::read_npy(npy);
  CHECK(array.extents == std::vector<Index>{3, 1, 2});
  CHECK(array.values == values);
}

TEST_CASE("convert refuses what does not fit, and leaves the output as it was") {
  if (!has_command() || !reads("protobuf")) return;
  Case const c;
  c.folder.put("net.juice", "mine");
  std::string const other = c.folder.put("other.caffemodel", Case::layer("conv", "Convolution", {{3, 1, 1, 2}, {2}}));
  CHECK(failure({"convert", other, c.juice, "--config", c.config}) ==
        other +
            ": 'conv (Convolution) blob 0' [3, 1, 1, 2] does not fit weight 'conv-0', which has shape "
            "[2, 1, 1, 2]; nothing in the file is for weight 'ip-0' [1, 4]");
  std::string const names = c.folder.put("names.caffemodel", Case::layer("conv\n\x1b[2J", "Convolution", {{3}}));
  CHECK_FALSE(contains(failure({"convert", names, c.juice, "--config", c.config}), "\x1b"));
  CHECK(contains(failure({"convert", c.folder / "none.caffemodel", c.juice, "--config", c.config}), "none.caffemodel"));
  CHECK(contains(failure({"convert", c.caffe, c.juice, "--config", c.caffe}), c.caffe + ": "));
  CHECK(contains(bad_use({"convert", c.caffe, c.juice}), "--config is required"));
  CHECK(contains(bad_use({"convert", c.caffe, c.folder / "a.txt"}), "--to: is required"));
  CHECK(contains(bad_use({"convert", c.folder / "a.txt", c.juice}), "--from: is required"));
  CHECK(contains(bad_use({"convert", c.juice, c.folder / "a.npy"}), "--to: is npy, to which files of juice cannot"));
  CHECK(
      contains(bad_use({"convert", c.juice, c.folder / "a.juice", "--config", c.config}), "--config: is for formats"));
  CHECK(contains(bad_use({"convert", c.caffe, c.config, "--config", c.config, "--to", "juice"}), "would overwrite"));
  CHECK(contains(bad_use({"convert", c.caffe, c.juice, "--to", "caffe", "--config", c.config}), "--to"));
  CHECK(content(c.juice) == "mine");
}

TEST_CASE("convert reads ONNX models, known by their content, and compares them with the other framework's outputs") {
  if (!has_command() || !reads("protobuf")) return;
  TemporaryFolder const folder;
  // y = x W + b for samples {2}.
  using namespace onnx_writer;
  std::string const bytes = onnx_writer::Model{.nodes = node("Gemm", "/fc/Gemm", {"x", "fc.weight", "fc.bias"}, {"y"}),
                                               .constants = constant(tensor("fc.weight", {2, 1}, {2, 3})) +
                                                            constant(tensor("fc.bias", {1}, {0.5f})),
                                               .inputs = input("x", {0, 2})}
                                .bytes();
  std::string const model = folder.put("model", bytes), juice = folder / "a.juice";
  std::vector<float> const samples{1, 0, 0, 1, 1, 1}, outputs{2.5f, 3.5f, 5.5f};
  std::string const x = folder / "x.npy", y = folder / "y.npy";
  data::write_npy(x, std::vector<Index>{3, 2}, samples);
  data::write_npy(y, std::vector<Index>{3, 1}, outputs);
  CHECK(output({"convert", model, juice, "--check", x, y}) ==
        "check: the largest error of 3 outputs is 0, which is 0 of the largest output\n"
        "fc-0 from fc.weight\nfc-0-bias from fc.bias\n" +
            juice + ": 3 parameters\n");
  CHECK(persist::read_model(juice).weights[0].values == std::vector<float>{2, 3});

  data::write_npy(y, std::vector<Index>{3, 1}, std::vector<float>{2.5f, 3.5f, 5.75f});
  std::string const other = folder / "b.juice";
  CHECK(
      failure({"convert", model, other, "--check", x, y}) ==
      y + ": the network computes other values: the largest error of 3 outputs is 0.25, which is 0.043 of the largest "
          "output");
  CHECK_FALSE(std::filesystem::exists(other));
  CHECK(failure({"convert", model, other, "--check", y, x}) ==
        y + ": has the shape {3, 1}, and the network has any number of samples {2} there");
  CHECK(contains(bad_use({"convert", model, other, "--check", x}), "--check"));
  CHECK(contains(failure({"convert", folder.put("c.onnx", bytes.substr(0, 40)), other}), "c.onnx: "));
  // Such a file is a network wherever one is read.
  std::string const found = folder / "found.npy", header = folder / "net.hpp";
  CHECK(run({"predict", "--model", model, "--input", x, "--output", found}).code == 0);
  CHECK(data::read_npy(found).values == outputs);
  CHECK(run({"export", "--cpp", model, "-o", header}).code == 0);
  // Any network can be compared.
  data::write_npy(y, std::vector<Index>{3, 1}, outputs);
  CHECK(contains(output({"convert", juice, other, "--check", x, y}), "check: the largest error of 3 outputs is 0,"));
}

TEST_CASE("convert writes ONNX models, and says what they cannot hold") {
  if (!has_command() || !reads("protobuf")) return;
  TemporaryFolder const folder;
  std::string const juice = folder / "a.juice", model = folder / "a.onnx", again = folder / "b.juice";
  dynamic::SequentialConfig layers;
  layers.add_input("x", {2});
  layers.add_layer({"fc", Linear{1}}).add_layer({"tanh", TanH{}});
  persist::Model net{.name = "net", .config = {"net", layers}};
  net.weights = {{"fc-0", {1, 2}, {0.5f, -2}}, {"fc-0-bias", {1, 1}, {0.25f}}};
  net.transforms = {data::Scale{2, 1}};
  net.metadata = {{"author", "me"}};
  persist::write_model(juice, net);
  CHECK(output({"convert", juice, model}) ==
        "note: " + model + " cannot hold the transforms of samples\n" + model + ": 3 parameters\n");
  std::string const bytes = content(model), shown = output({"inspect", model});
  INFO(shown);
  CHECK(shown.starts_with(model + ": a network of the format onnx\n"));
  CHECK((contains(shown, "fc: linear  output_size 1") && contains(shown, "\nmetadata\n  author: me\n")));
  CHECK((contains(shown, "\nparameters\n  3\n") && contains(shown, "\nplan\n")));
  CHECK(output({"inspect", model, "--dot"}).starts_with("digraph network {"));
  std::string const misnamed = folder.put("net.onnx", content(juice));
  CHECK(failure({"convert", misnamed, again}) ==
        misnamed + ": is a network of coldpress or Juice, not one of the format onnx; --from juice reads it");
  output({"convert", misnamed, again, "--from", "juice"});
  CHECK(content(again) == content(juice));
  output({"convert", juice, folder / "same", "--to", "onnx"});
  CHECK(content(folder / "same") == bytes);
  CHECK(contains(output({"convert", model, again}), "fc-0 from fc-0\nfc-0-bias from fc-0-bias\n"));
  auto const read = persist::read_model(again);
  CHECK(read.weights == net.weights);
  CHECK(read.config.name == "net");
  CHECK(read.metadata == net.metadata);

  dynamic::LayerConfig noise{"noise", RandomNormal{.shape = {1}}}, sum{"sum", Add{}};
  layers.layers[1].outputs = {"tanh"}, noise.outputs = {"noise"}, sum.inputs = {"tanh", "noise"};
  layers.add_layer(noise).add_layer(sum);
  persist::write_model(juice, {.name = "net", .config = {"net", layers}, .weights = net.weights});
  CHECK(failure({"convert", juice, model})
            .starts_with("1 layer is in the way: randomNormal 'noise': it draws numbers by the place of a sample"));
  CHECK(content(model) == bytes);
  CHECK(contains(bad_use({"convert", juice, model, "--map", juice}), "--map"));
  layers = {};
  layers.add_input("x", {1});
  layers.add_layer({"conv", Convolution{.num_output = 1, .filter_shape = 2}});
  persist::write_model(juice, {.name = "fir", .config = {"fir", layers}, .weights = {{"conv-0", {1, 1, 2}, {1, 2}}}});
  output({"convert", juice, again, "--input", "5", "1"});
  CHECK(std::get<dynamic::SequentialConfig>(persist::read_model(again).config.layer_type).inputs[0].shape ==
        Shape{5, 1});
  output({"convert", juice, model, "--input", "5", "1"});
  std::string const x = folder / "x.npy", y = folder / "y.npy";
  data::write_npy(x, std::vector<Index>{1, 5, 1}, std::vector<float>{1, 0, 0, 1, 1});
  CHECK(run({"predict", "--model", model, "--input", x, "--output", y}).code == 0);
  CHECK(data::read_npy(y).values == std::vector<float>{2, 1, 0, 2, 3});
  CHECK(contains(output({"convert", "--help"}), "onnx: .onnx (reads networks, writes networks)"));
}

/// A finite impulse response of two taps as a .nam file.
std::string nam(std::string const& more) {
  return R"({"version": "0.5.4", "architecture": "Linear", "config": {"receptive_field": 2, "bias": false},)"
         R"( "weights": [0.5, 2])" +
         more + "}";
}
bool reads_nam() {
  bool const has = !contains(run({"convert", "missing.nam", "a.juice"}).err, "without which coldpress::convert");
  if (!has) WARN("skipped: the command was built without nlohmann-json");
  return has;
}

TEST_CASE("convert reads and writes networks of .nam files, and says what another format cannot hold") {
  if (!has_command() || !reads_nam()) return;
  TemporaryFolder folder;
  std::string const file =
      folder.put("a.nam", nam(R"(, "sample_rate": 48000, "metadata": {"loudness": -18.5, "name": "A"})"));
  std::string const juice = folder / "a.juice", other = folder / "b.nam";
  CHECK(output({"convert", file, juice}) == juice + ": 2 parameters\n");
  CHECK(contains(output({"inspect", juice}),
                 "\nmetadata\n  name: A\n  sample_rate: 48000\n  loudness: -18.5\n  nam_version: 0.5.4\n"));
  std::string const shown = output({"inspect", file});
  CHECK(shown.starts_with(file + ": a network of the format nam\n"));
  CHECK(contains(shown, "\nmetadata\n  name: A\n  sample_rate: 48000\n"));
  CHECK(contains(failure({"inspect", folder.put("cut.nam", content(file).substr(0, 100))}), "cut.nam: is not JSON"));
  CHECK(persist::read_model(juice).weights[0].values == std::vector<float>{2, 0.5f});
  CHECK(output({"convert", file, other}) == other + ": 2 parameters\n");
  CHECK(content(other) == R"({"version":"0.5.4","architecture":"Linear","config":{"receptive_field":2,"bias":false},)"
                          R"("metadata":{"loudness":-18.5,"name":"A"},"sample_rate":48000.0,"weights":[0.5,2]})"
                          "\n");
  CHECK(output({"convert", juice, other}) == other + ": 2 parameters\n");
  CHECK(
      contains(content(other), R"("metadata":{"loudness":-18.5,"name":"A"},"sample_rate":48000.0,"weights":[0.5,2])"));
  CHECK(output({"convert", file, juice, "--input", "100", "1"}).ends_with(": 2 parameters\n"));
  auto const config = persist::read_model(juice).config;
  CHECK(std::get<dynamic::SequentialConfig>(config.layer_type).inputs[0].shape == Shape{100, 1});
  CHECK(contains(run({"convert", folder.put("bad.nam", nam(", \"sample_rate\": -1")), juice}).err,
                 "bad.nam: sample_rate: got -1, expected a number of Hz above 0"));
}

TEST_CASE("convert chooses the network of a .nam file by its size") {
  if (!has_command() || !reads_nam()) return;
  TemporaryFolder folder;
  std::string const inside = R"({"version": "0.5.4", "architecture": "Linear", "config": {"receptive_field": 1,)"
                             R"( "bias": false}, "weights": [7]})";
  std::string const file =
      folder.put("a.nam", R"({"version": "0.7.0", "architecture": "SlimmableContainer", "config": {"submodels": [)"
                          R"({"max_value": 0.5, "model": )" +
                              inside + R"(}, {"max_value": 1, "model": )" + nam("") + R"(}]}, "weights": []})");
  std::string const juice = folder / "a.juice";
  std::string const note = "note: " + file + " has a network for each of the sizes 0, 0.5, of which --size ";
  CHECK(output({"convert", file, juice}) == note + "1 chooses one\n" + juice + ": 2 parameters\n");
  CHECK(output({"convert", file, juice, "--size", "0.25"}) == note + "0.25 chooses one\n" + juice + ": 1 parameter\n");
  CHECK(contains(bad_use({"convert", juice, folder / "b.juice", "--size", "0.5"}),
                 "--size: is for .nam files, which may have several networks"));
}

bool reads_safetensors() {
  bool const has = !contains(run({"convert", "missing.safetensors", "a.juice", "--config", "missing"}).err,
                             "without which coldpress::convert") &&
                   reads_nam();
  return has;
}

TEST_CASE("convert exchanges weights with PyTorch, knows their files by content, and takes a map of names") {
  if (!has_command() || !reads_safetensors()) return;
  TemporaryFolder folder;
  std::string const config = folder.put(
      "net.capnp.txt",
      "(network = (name = \"net\", layerType = (sequential = (inputs = [(name = \"x\", sampleShape = [2])], layers = ["
      "(name = \"fc\", layerType = (linear = (outputSize = 1)))]))))");
  std::string header = R"({"fc.weight":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},)"
                       R"("fc.bias":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}})";
  header.resize(128, ' ');
  std::string const file = folder.put("weights", "\x80" + std::string(7, '\0') + header + std::string(12, '\0')),
                    juice = folder / "a.juice", map = folder.put("map", "model.* = *\n");
  CHECK(output({"convert", file, "--config", config, "-o", juice}) ==
        "fc-0 from fc.weight\nfc-0-bias from fc.bias\n" + juice + ": 3 parameters\n");
  for (std::string const ending : {".safetensors", ".npz"}) {
    std::string const other = folder / ("b" + ending), again = folder / "again.juice";
    CHECK(output({"convert", juice, other, "--map", map}) == other + ": 3 parameters\n");
    CHECK(contains(failure({"convert", other, again, "--config", config}), "nothing in the file is for weight 'fc-0'"));
    CHECK(contains(output({"convert", other, again, "--config", config, "--map", map}), "fc-0 from model.fc.weight\n"));
    CHECK(content(again) == content(juice));
  }
  CHECK(contains(bad_use({"convert", juice, folder / "b.juice", "--map", map}), "--map: is for one file of weights"));
  CHECK(contains(bad_use({"convert", file, juice}), "--config is required"));
  std::string const pickle = folder.put("a.pt", "\x80\x02}q.");
  CHECK(contains(failure({"convert", pickle, juice}),
                 "a.pt: is a pickle of Python, which is a program, and is not read"));
}

TEST_CASE("convert reads models of RTNeural, whatever their files are called") {
  if (!has_command() || !reads_nam()) return;
  TemporaryFolder folder;
  std::string const
      text = R"({"in_shape": [null, 1], "layers": [{"type": "dense", "activation": "tanh", "shape": [null, 2],)"
             R"( "weights": [[[1, 2]], [3, 4]]}]})",
      file = folder.put("model", text), juice = folder / "a.juice";
  CHECK(output({"convert", file, juice}) == juice + ": 4 parameters\n");
  CHECK(persist::read_model(juice).weights[0].values == std::vector<float>{1, 2});
  CHECK(output({"convert", folder.put("model.json", text), juice, "--input", "8", "1"}) == juice + ": 4 parameters\n");
  auto const config = persist::read_model(juice).config;
  CHECK(std::get<dynamic::SequentialConfig>(config.layer_type).inputs[0].shape == Shape{8, 1});
}

TEST_CASE("convert reads models of Keras, known by their content, with channels first or last") {
  char const* const root = std::getenv("COLDPRESS_SOURCE_DIR");
  if (!has_command() || !reads_nam() || !reads("HDF5") || !root) return;
  TemporaryFolder folder;
  std::string const keras = std::string{root} + "/tests/convert/keras/", juice = folder / "a.juice";
  auto const input = [&] {
    return std::get<dynamic::SequentialConfig>(persist::read_model(juice).config.layer_type).inputs[0].shape;
  };
  for (std::string const name : {"cnn.keras", "cnn.h5"}) {
    CHECK(output({"convert", keras + name, juice}).ends_with(" parameters\n"));
    CHECK(input() == Shape{2, 7, 6});
    output({"convert", keras + name, juice, "--channels-last"});
    CHECK(input() == Shape{7, 6, 2});
  }
  CHECK(contains(bad_use({"convert", juice, folder / "b.juice", "--channels-last"}),
                 "--channels-last: is for models of Keras"));
}

TEST_CASE("convert folds batch normalisations if it is asked to") {
  if (!has_command()) return;
  TemporaryFolder folder;
  std::string const juice = folder / "a.juice", folded = folder / "b.juice";
  Network<Sequential<Linear{3}, BatchNormalization{}, ReLU{}>, Shape{4}> const net{3};
  save(net, juice);
  auto const layers = [](std::string const& path) {
    return std::get<dynamic::SequentialConfig>(persist::read_model(path).config.layer_type).layers.size();
  };
  output({"convert", juice, folded});
  CHECK(layers(folded) == 3);
  CHECK(contains(output({"convert", juice, folded, "--fold"}), "folded 1 of 1 normalisation into the layers before: "));
  CHECK(layers(folded) == 2);
  CHECK(
      contains(output({"convert", folded, juice, "--fold"}), "folded 0 of 0 normalisations into the layers before\n"));
  save(Network<Sequential<ReLU{}, Named<"norm", BatchNormalization{}>{}>, Shape{4}>{3}, juice);
  CHECK(contains(output({"convert", juice, folded, "--fold"}),
                 "folded 0 of 1 normalisation into the layers before\n"
                 "kept norm: it comes after 'relu1' (relu), which is no convolution or dense layer\n"));
}

TEST_CASE("convert writes a config as text, whatever form it has, with all of its training") {
  if (!has_command()) return;
  TemporaryFolder folder;
  std::string const text = folder.put("a.txt", R"((network = (name = "net", layerType = (linear = (outputSize = 3))),
    loss = (name = "loss", layerType = (meanSquaredError = void)), solver = (baseLr = 0.5), data = "csv:x.csv",
    epochs = 7, transforms = [(scale = (factor = 2))]))");
  std::string const written = folder / "b.capnp.txt";
  CHECK(output({"convert", text, "--from", "config", written}) == written + ": the config\n");
  CHECK(persist::read_training(written) == persist::read_training(text));
  for (std::vector<std::string> const& more : {std::vector<std::string>{"--input", "4"}, {"--config", text}}) {
    std::vector<std::string> all{"convert", text, written, "--from", "config"};
    all.insert(all.end(), more.begin(), more.end());
    CHECK(contains(bad_use(all), more[0] + ": is for networks, and a config is written as it is"));
  }
  CHECK(contains(bad_use({"convert", text, folder / "a.juice", "--from", "config"}),
                 "is juice, and " + text + " is a config, which has no weights"));
}

TEST_CASE("convert refuses options that say nothing of its files before it reads one") {
  if (!has_command()) return;
  TemporaryFolder folder;
  std::string const juice = folder / "a.juice", header = folder / "a.hpp", missing = folder / "none.juice";
  save(Network<Sequential<Linear{3}>, Shape{4}>{3}, juice);
  CHECK(contains(bad_use({"convert", missing, header, "--namespace", "a b"}),
                 "--namespace: the namespace must be a C++ name such as amp or my::amp, got 'a b'"));
  CHECK(contains(bad_use({"convert", missing, header, "--namespace", "std::a"}), "--namespace: "));
  CHECK(contains(bad_use({"convert", juice, header, "--to", "npz", "--as", "type"}),
                 "--to: or --as, which are the same, is given more than once: npz, type"));
  CHECK(contains(bad_use({"convert", juice, missing, "--allow-missing"}),
                 "--allow-missing: is for formats that have only weights, of which some may be missing, and juice has "
                 "whole networks"));
  CHECK(contains(bad_use({"convert", juice, missing, "--seed", "42"}), "--seed: is for formats that have only"));
}

}  // namespace
}  // namespace coldpress::command
