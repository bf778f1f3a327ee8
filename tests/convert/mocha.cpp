#include <coldpress/convert/mocha.hpp>

#include "convert/lenet.hpp"

// The HDF5 library itself loses some bytes when it cannot open a file.
extern "C" char const* __lsan_default_suppressions();
extern "C" char const* __lsan_default_suppressions() { return "leak:libhdf5"; }

using namespace coldpress;
using namespace coldpress::convert;

namespace {

/// The files that lenet.py writes with h5py; none if there is no h5py.
struct Files {
  TemporaryFolder folder;
  std::string python;
  Files() {
    try {
      static_cast<void>(read_mocha_mean("missing"));
    } catch (UnsupportedError const&) {
      WARN("skipped: coldpress::convert was built without HDF5");
      return;
    } catch (Error const&) {
    }
    for (char const* const candidate : {"python3", "/usr/bin/python3"}) {
      if (std::system((std::string{candidate} + " -c 'import h5py' 2>/dev/null").c_str()) == 0) python = candidate;
    }
    if (python.empty()) WARN("skipped: there is no python3 with h5py");
    if (made()) REQUIRE(run("'" + folder / "'") == 0);
  }
  bool made() const { return !python.empty(); }
  int run(std::string const& arguments) const {
    char const* const root = std::getenv("COLDPRESS_SOURCE_DIR");
    std::string const script = root ? std::string{root} + "/tests/convert/lenet.py"
                                    : (std::filesystem::path(__FILE__).parent_path() / "lenet.py").string();
    return std::system((python + " '" + script + "' " + arguments + " >&2").c_str());
  }
  Conversion read(std::string const& name, Options const& options = {}) const {
    return read_mocha(folder / name, lenet(), options);
  }
  template <class Expected>
  std::string refused(std::string const& name, dynamic::LayerConfig const& config = lenet()) const {
    std::string const path = folder / name,
                      said = message<Expected>([&] { static_cast<void>(read_mocha(path, config)); });
    CHECK(said.starts_with(path + ": "));
    return said.substr(path.size() + 2);
  }
};

}  // namespace

TEST_CASE("a LeNet of Mocha computes what numpy does in Julia's order of axes") {
  Files const files;
  if (!files.made()) return;
  Conversion const plain = files.read("plain.hdf5");
  check_lenet(plain.model);
  CHECK(plain.filled.size() == 6);
  CHECK(plain.filled[0] == std::pair<std::string, std::string>{"conv1-0", "conv1___filter"});
  CHECK(plain.initialised.empty());
  CHECK(plain.unused.empty());
  for (char const* const name : {"doubles.hdf5", "ones.hdf5"}) CHECK(files.read(name).model == plain.model);
  auto const integers = weight(files.read("integers.hdf5").model, "ip1-0");
  auto const values = weight(plain.model, "ip1-0");
  for (std::size_t i = 0; i < values.size(); ++i) CHECK(integers[i] == 64 * values[i]);
}

TEST_CASE("a missing bias has its initial value, another missing weight is an error unless it is allowed") {
  Files const files;
  if (!files.made()) return;
  auto const biased = [] {
    auto config = lenet();
    auto& layers = std::get<dynamic::SequentialConfig>(config.layer_type).layers;
    std::get<Linear>(layers[2].layer_type).bias = Constant{0.5f};
    return config;
  };
  Conversion const without = read_mocha(files.folder / "no-bias.hdf5", biased());
  CHECK(without.initialised == std::vector<std::string>{"conv1-0-bias", "ip1-0-bias"});
  CHECK(weight(without.model, "conv1-0-bias") == std::vector<float>{0, 0, 0});
  CHECK(weight(without.model, "ip1-0-bias") == std::vector<float>(5, 0.5f));
  CHECK(weight(without.model, "ip2-0-bias") == pattern(5, 2));

  CHECK(files.refused<MismatchError>("no-weight.hdf5") == "nothing in the file is for weight 'ip2-0' [2, 5]");
  Conversion const tuned = files.read("no-weight.hdf5", {.allow_missing = true, .seed = 3});
  CHECK(tuned.initialised == std::vector<std::string>{"ip2-0", "ip2-0-bias"});
  CHECK(weight(tuned.model, "ip1-0") == pattern(2, 180));
  auto const fresh = persist::model_of(dynamic::Layer::from_config(dynamic::Backend{"cpu"}, lenet(), {}, 3));
  CHECK(weight(tuned.model, "ip2-0") == weight(fresh, "ip2-0"));
}

TEST_CASE("what does not fit is named, and what is left over is listed") {
  Files const files;
  if (!files.made()) return;
  Conversion const more = files.read("more.hdf5");
  check_lenet(more.model);
  CHECK(more.unused == std::vector<std::string>{"group/ip8___bias [3]", "ip9___weight [4, 2]"});
  CHECK(contains(files.refused<MismatchError>("no-such-weight.hdf5"),
                 "'ip1___slope' [5] has no place in layer 'ip1' of the config"));
  CHECK(contains(files.refused<MismatchError>("transposed.hdf5"),
                 "'ip1___weight' [36, 5] does not fit weight 'ip1-0', which has shape [5, 36]"));
  CHECK(contains(files.refused<DataError>("huge.hdf5"), "'ip2___bias': value 0 is infinite, NaN or beyond"));
  CHECK(contains(files.refused<FormatError>("text.hdf5"), "'ip1___bias' holds values that are not numbers"));
  CHECK(contains(files.refused<FormatError>("other.hdf5"), "has no dataset whose name is LAYER___PARAM"));
  CHECK(contains(files.refused<FormatError>("linked.hdf5"), "cannot open the dataset 'conv1___bias'"));
  files.folder.put("not.hdf5", "no HDF5");
  CHECK(contains(files.refused<FormatError>("not.hdf5"), "is not an HDF5 file that can be opened"));
  CHECK(contains(files.refused<FileError>("missing.hdf5"), "cannot open"));
}

TEST_CASE("a file that is cut anywhere is a typed error that names it") {
  Files const files;
  if (!files.made()) return;
  std::string const bytes = content(files.folder / "plain.hdf5");
  for (std::size_t size = 0; size < bytes.size(); size += 31) {
    INFO("cut to " << size << " bytes");
    files.folder.put("cut.hdf5", bytes.substr(0, size));
    CHECK_FALSE(files.refused<FormatError>("cut.hdf5").empty());
  }
}

TEST_CASE("the shape of a sample may be given for a config that declares none") {
  Files const files;
  if (!files.made()) return;
  auto config = lenet();
  std::get<dynamic::SequentialConfig>(config.layer_type).inputs.clear();
  Conversion const conversion = read_mocha(files.folder / "plain.hdf5", config, {.input = Shape{2, 6, 9}});
  check_lenet(conversion.model);
  CHECK(dynamic::declares_input(conversion.model.config));
}

TEST_CASE("what is written is what h5py wrote, and is read again") {
  Files const files;
  if (!files.made()) return;
  persist::Model const model = files.read("plain.hdf5").model;
  std::string const path = files.folder / "written.hdf5";
  write_mocha(path, model);
  CHECK(files.run("--same '" + path + "' '" + files.folder / "plain.hdf5" + "'") == 0);
  CHECK(files.run("--same '" + path + "' '" + files.folder / "no-bias.hdf5" + "'") != 0);
  CHECK(read_mocha(path, lenet()).model == model);
  persist::Model infinite = model;
  infinite.weights[0].values[4] = std::numeric_limits<float>::infinity();
  CHECK(message<DataError>([&] { write_mocha(path, infinite); }) ==
        "weight '" + model.weights[0].name + "': value 4 is infinite or NaN");
  CHECK(read_mocha(path, lenet()).model == model);
}

TEST_CASE("tied and shared layers and names with slashes come back, layers that Mocha does not have are refused") {
  Files const files;
  if (!files.made()) return;
  dynamic::SequentialConfig layers;
  layers.add_input("data", Shape{4});
  auto const add = [&](dynamic::LayerConfig layer, std::string const& shared) {
    if (!shared.empty()) layer.params = {{.name = shared}, {.name = layer.name + "-b"}};
    layers.add_layer(layer);
  };
  add({"block/encoder", Linear{.output_size = 3}}, "w");
  add({"decoder", TiedLinear{.output_size = 4}}, "w");
  add({"twin", Linear{.output_size = 3}}, "w");
  dynamic::LayerConfig const config{"net", layers};
  auto const model = persist::model_of(dynamic::Layer::from_config(dynamic::Backend{"cpu"}, config, {}, 7));
  std::string const path = files.folder / "tied.hdf5";
  write_mocha(path, model);
  Conversion const again = read_mocha(path, config);
  CHECK(again.model.weights == model.weights);
  CHECK(again.filled.size() == 5);  // the matrix of two layers, and three biases

  add({"norm", BatchNormalization{}}, "");
  add({"words", LayerNormalization{}}, "");
  auto const other = persist::model_of(
      dynamic::Layer::from_config(dynamic::Backend{"cpu"}, dynamic::LayerConfig{"net", layers}, {}, 7));
  CHECK(message<UnsupportedError>([&] { write_mocha(path, other); }) ==
        "Mocha has only the weights of convolutions of images and of dense layers, and not: 'norm-0' {3}, "
        "'norm-0-bias' {3}, 'norm-0-mean' {3}, 'norm-0-variance' {3}, 'words-0' {3}, 'words-0-bias' {3}");
  CHECK(read_mocha(path, config).model.weights == model.weights);  // as it was
  CHECK(contains(message<FileError>([&] { write_mocha(files.folder / "none/a.hdf5", model); }), "none/a.hdf5"));
}

TEST_CASE("the mean is an image, with or without a batch of one") {
  Files const files;
  if (!files.made()) return;
  for (char const* const name : {"mean.hdf5", "mean-of-a-batch.hdf5"}) {
    auto const mean = read_mocha_mean(files.folder / name);
    CHECK(mean.extents == std::vector<Index>{2, 6, 9});
    CHECK(mean.values == pattern(1, 108));
  }
  CHECK(contains(message<FormatError>([&] { static_cast<void>(read_mocha_mean(files.folder / "mean-of-two.hdf5")); }),
                 "'mean' has 4 extents"));
  CHECK(contains(message<FormatError>([&] { static_cast<void>(read_mocha_mean(files.folder / "plain.hdf5")); }),
                 "cannot open the dataset 'mean'"));
}
