// coldpress convert --as type and --as config, and what docs/convert.md shows of them.
#include "tools/command.hpp"
#include "tools/page.hpp"

#include <coldpress/convert/cpp_type.hpp>
#include <coldpress/persist.hpp>

#include <algorithm>

namespace coldpress::command {
namespace {

struct Case {
  TemporaryFolder folder;
  std::string config = folder.put("net.capnp.txt", R"((network = (name = "net", layerType = (sequential = (
    inputs = [(name = "data", sampleShape = [3])], layers = [
    (name = "fc", layerType = (linear = (outputSize = 2))), (name = "relu", layerType = (relu = void))]))),
    transforms = [(scale = (factor = 0.5))]))");
  std::string juice = folder / "net.juice", header = folder / "net.hpp";

  /// Saves a network of the config.
  void save() const {
    persist::Training const training = persist::read_training(config);
    auto model = persist::model_of(dynamic::Layer::from_config(dynamic::Backend{}, training.network, {}, 5));
    model.transforms = training.transforms, model.classes = {"yes", "no"};
    persist::write_model(juice, model);
  }
  /// A network of the tests of ONNX files under another name.
  std::string onnx(std::string const& test, std::string const& name) const {
    return folder.put(name, content(source_file("tests/convert/onnx/" + test)));
  }
};

bool reads_onnx() {
  TemporaryFolder const folder;
  Result const result = run({"convert", source_file("tests/convert/onnx/mlp.script.onnx"), folder / "a.juice"});
  if (result.code != 0) WARN("skipped: the command was built without protobuf");
  return result.code == 0;
}

/// What it prints where it is used wrongly.
std::string bad_use(std::vector<std::string> arguments) {
  Result const result = run(std::move(arguments));
  CHECK(result.code == 2);
  return result.err;
}

TEST_CASE("docs/convert.md shows the types that are written") {
  if (!has_command() || !reads_onnx()) return;
  Case const c;
  auto const page = code_blocks(content(source_file("docs/convert.md")));
  auto const shown = [&](auto const& wanted) {
    return std::ranges::any_of(page, [&](Block const& block) { return block.language == "cpp" && wanted(block.text); });
  };
  std::string const said =
      output({"convert", c.onnx("resnet.script.onnx", "resnet.onnx"), "--as", "type", c.folder / "resnet.hpp"});
  CHECK(said.starts_with(c.folder / "resnet.hpp: resnet::Network\nconv1-0 from "));
  CHECK(said.ends_with(c.folder / "resnet.juice: 1505 parameters\n"));
  std::string const resnet = content(c.folder / "resnet.hpp");
  INFO(resnet);
  CHECK(shown([&](std::string const& text) { return text == resnet; }));
  output({"convert", c.onnx("lstm.script.onnx", "lstm.onnx"), c.folder / "lstm.hpp"});  // the ending says it, too
  std::string const lstm = content(c.folder / "lstm.hpp");
  INFO(lstm);
  CHECK(shown([&](std::string const& text) {
    return text.starts_with("using Type = Sequential<") && contains(lstm, "\n" + text);
  }));
}

TEST_CASE("a type does not replace weights that are there already, unless they are the same") {
  if (!has_command()) return;
  Case const c;
  c.save();
  std::string const header = c.folder / "other.hpp", weights = c.folder / "other.juice";
  output({"convert", c.juice, header});
  std::string const before = content(weights);
  output({"convert", c.juice, header});  // as a build does
  persist::Model trained = persist::read_model(weights);
  trained.weights[0].values[0] += 1;
  persist::write_model(weights, trained);
  std::filesystem::remove(header);
  CHECK(contains(bad_use({"convert", c.juice, header}),
                 "OUTPUT: has its weights in " + weights + ", where there are others"));
  CHECK(persist::read_model(weights) == trained);
  CHECK(!std::filesystem::exists(header));
  std::filesystem::remove(weights);
  output({"convert", c.juice, header});
  CHECK(content(weights) == before);
}

TEST_CASE("a type of a .juice beside it leaves that file alone") {
  if (!has_command()) return;
  Case const c;
  c.save();
  std::string const before = content(c.juice);
  CHECK(output({"convert", c.juice, c.header, "--namespace", "my::net"}) == c.header + ": my::net::Network\n");
  CHECK(content(c.juice) == before);
  CHECK(content(c.header) ==
        convert::cpp_type(persist::read_model(c.juice),
                          {.name_space = "my::net", .origin = "net.juice", .weights = "net.juice"}));
  CHECK(contains(content(c.header),
                 "// Samples go through these transforms before, which the type does not have: scale.\n"
                 "// Its classes, from 0 on: yes, no.\n"));
  std::string const other = c.folder / "other.hpp";
  CHECK(output({"convert", c.juice, other}) == other + ": other::Network\n" + c.folder / "other.juice: 8 parameters\n");
  CHECK(persist::read_model(c.folder / "other.juice") == persist::read_model(c.juice));
}

TEST_CASE("a type of a config has no weights yet") {
  if (!has_command()) return;
  Case const c;
  CHECK(output({"convert", c.config, c.header}) == c.header + ": net::Network\n");
  CHECK_FALSE(std::filesystem::exists(c.juice));
  CHECK(contains(content(c.header), "//   net::Network net{42};  // the seed of its first weights\n"));
}

TEST_CASE("a network becomes the config that it was made of") {
  if (!has_command()) return;
  Case const c;
  c.save();
  std::string const written = c.folder / "written.capnp.txt";
  CHECK(output({"convert", c.juice, "--as", "config", written}) == written + ": the config\n");
  persist::Training const ours = persist::read_training(c.config), theirs = persist::read_training(written);
  CHECK(theirs.network == ours.network);
  CHECK(theirs.transforms == ours.transforms);
}

TEST_CASE("a type and a config of a network that declares no input are given one") {
  if (!has_command()) return;
  Case const c;
  dynamic::SequentialConfig layers;
  layers.add_layer({"fc", Linear{.output_size = 2}});
  persist::Model model{.config = {"net", layers}};
  model.weights = persist::model_of(dynamic::Layer::from_config(dynamic::Backend{}, model.config, Shape{3})).weights;
  persist::write_model(c.juice, model);
  std::string const header = c.folder / "a.hpp", config = c.folder / "a.capnp.txt";
  CHECK(contains(failure({"convert", c.juice, header}), "does not say the shape of its input"));
  CHECK_FALSE(std::filesystem::exists(header));
  output({"convert", c.juice, header, "--input", "3"});
  CHECK(dynamic::declares_input(persist::read_model(c.folder / "a.juice").config));
  CHECK(contains(content(header), "coldpress::Network<Type, Shape{3}>"));
  output({"convert", c.juice, config, "--input", "3"});
  CHECK(dynamic::declares_input(persist::read_training(config).network));
  std::string const copy = c.folder / "b.juice";
  output({"convert", c.juice, copy, "--input", "3"});
  CHECK(dynamic::declares_input(persist::read_model(copy).config));
}

TEST_CASE("an input that is not that of the network is refused for every format") {
  if (!has_command()) return;
  Case const c;
  c.save();
  for (char const* name : {"a.hpp", "a.capnp.txt", "a.juice", "a.safetensors"}) {
    std::string const path = c.folder / name;
    CHECK(contains(failure({"convert", c.juice, path, "--input", "4"}),
                   "net.juice: layer 'net': the network takes samples of shape {3}, not {4}"));
    CHECK_FALSE(std::filesystem::exists(path));
  }
}

TEST_CASE("what cannot be written leaves all files as they were") {
  if (!has_command()) return;
  Case const c;
  c.save();
  std::string const header = c.folder.put("other.hpp", "mine"), weights = c.folder.put("other.juice", "mine");
  CHECK(contains(bad_use({"convert", c.juice, header, "--namespace", "my net"}), "'my net'"));
  CHECK(bad_use({"convert", c.config, weights}) ==
        "--to: is juice, and " + c.config +
            " is a config, which has no weights\nRun with --help for more information.\n");
  CHECK(contains(bad_use({"convert", c.juice, weights, "--namespace", "net"}), "--namespace: is for a type in C++"));
  CHECK(contains(bad_use({"convert", c.config, header, "--check", "x.npy", "y.npy"}),
                 "--check: is for networks with weights"));
  CHECK(content(header) + content(weights) == "minemine");
  std::filesystem::create_directory(c.folder / "folder.juice");
  CHECK(contains(failure({"convert", c.juice, c.folder / "folder.hpp"}), "folder.juice"));
  CHECK_FALSE(std::filesystem::exists(c.folder / "folder.hpp"));
}

}  // namespace
}  // namespace coldpress::command
