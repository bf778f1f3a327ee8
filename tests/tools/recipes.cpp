// The recipes in examples/configs that train on data which is too large for a test, here for a few steps.
#include "tools/command.hpp"

#include <coldpress/persist.hpp>

#include <algorithm>

namespace coldpress::command {
namespace {

std::string config(std::string const& name) { return source_file("examples/configs/" + name + ".capnp.txt"); }

TEST_CASE("Mocha's recipes for digits begin to learn") {
  std::string const digits = test_data("mnist-8k");
  if (!has_command() || digits.empty()) return;
  TemporaryFolder folder;
  for (std::string const name : {"mocha-lenet", "mocha-dropout"}) {
    INFO(name);
    output({"train", "--config", config(name), "--data", "mnist:" + digits, "--steps", "110", "--checkpoint",
            folder / "run", "--save", folder / "net"});
    auto const run = persist::read_checkpoint(folder / "run");
    auto const loss = std::ranges::find(run.statistics, "training/loss", &persist::Series::name);
    REQUIRE(loss != run.statistics.end());
    CHECK(std::ranges::min(loss->values) < (name == "mocha-lenet" ? 0.5 : 1.5));  // guessing has 2.3
  }
}

TEST_CASE("the recipe for CIFAR-10 runs on its files, and subtracts their mean") {
  if (!has_command()) return;
  TemporaryFolder folder;
  std::string record(3073, '\0'), file;
  for (int i = 0; i < 20; ++i) {
    record[0] = static_cast<char>(i % 10);
    for (std::size_t at = 1; at < record.size(); ++at)
      record[at] = static_cast<char>((at * 7 + static_cast<std::size_t>(i) * 13) % 251);
    file += record;
  }
  for (int part = 1; part <= 5; ++part) folder.put("data_batch_" + std::to_string(part) + ".bin", file);
  folder.put("test_batch.bin", file);
  folder.put("batches.meta.txt", "airplane\nautomobile\nbird\ncat\ndeer\ndog\nfrog\nhorse\nship\ntruck\n");
  output({"train", "--config", config("cifar10-full"), "--data", "cifar10:" + folder / "", "--test",
          "cifar10-test:" + folder / "", "--epochs", "2", "--save", folder / "net"});
  auto const model = persist::read_model(folder / "net");
  REQUIRE(model.transforms.size() == 2);
  CHECK(std::get<data::SubtractMean>(model.transforms[1]).mean.size() == 3072);
  CHECK(model.classes.size() == 10);
  std::string const best = output({"predict", "--model", folder / "net", "--input", "cifar10-test:" + folder / "",
                                   "--top-k", "2", "--output", folder / "y.npy"});
  CHECK(contains(best, "0: "));
  CHECK(std::ranges::any_of(model.classes, [&](std::string const& name) { return contains(best, name); }));
}

}  // namespace
}  // namespace coldpress::command
