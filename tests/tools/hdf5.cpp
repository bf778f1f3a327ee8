#include "data/hdf5_files.hpp"
#include "tools/command.hpp"

namespace coldpress::command {
namespace {

TEST_CASE("a training from HDF5 files, shuffled in windows, is resumed bit for bit") {
  if (!has_command()) return;
  if (contains(run({"data", "inspect", "hdf5:missing"}).err, "without coldpress::hdf5")) {
    WARN("skipped: the command was built without HDF5");
    return;
  }
  Hdf5Files const files;
  if (!files.made) return;
  std::string const config =
      files.folder.put("config", R"((network = (name = "net", layerType = (sequential = (layers = [
    (name = "fc", layerType = (linear = (outputSize = 1)))]))),
    loss = (name = "loss", layerType = (meanSquaredError = void)), solver = (baseLr = 1e-7, momentum = 0.5), epochs = 4,
    batch = 8, seed = 3))");
  std::string const data = "hdf5:" + files.path("list.txt") + "?block=4&shuffle=16", save = files.path("net"),
                    checkpoint = files.path("checkpoint");
  auto const network = [&](std::vector<std::string> const& more) {
    std::vector<std::string> arguments{"train", "--save", save};
    arguments.insert(arguments.end(), more.begin(), more.end());
    std::string const text = output(arguments);
    CHECK(contains(text, "100 samples of {3}, 4 parameters"));
    return content(save);
  };
  for (int const half : {1, 5, 13, 20}) {
    INFO(half << " steps");
    std::string const all = std::to_string(2 * half);
    std::string const whole = network({"--config", config, "--data", data, "--steps", all, "--test", data});
    network({"--config", config, "--data", data, "--steps", std::to_string(half), "--checkpoint", checkpoint});
    CHECK(network({"--resume", checkpoint, "--trust-paths", "--steps", all}) == whole);
    CHECK(network({"--config", config, "--data", data, "--steps", all, "--prefetch", "0"}) == whole);
  }
  // The config may name the data, with options, relative to its folder.
  std::string text = content(config);
  files.folder.put("named", text.insert(text.size() - 1, ", data = \"hdf5:list.txt?block=4&shuffle=16\""));
  CHECK(network({"--config", files.path("named")}) == network({"--config", config, "--data", data}));
  CHECK(contains(output({"eval", "--model", save, "--data", data}), "100 samples, "));
  auto const overwritten = run({"train", "--config", config, "--data", data, "--save", files.path("b.h5")});
  CHECK(overwritten.code == 2);
  CHECK(contains(overwritten.err, "would overwrite"));
}

}  // namespace
}  // namespace coldpress::command
