#include "tools/command.hpp"

#include <coldpress/persist.hpp>

namespace coldpress::command {
namespace {

/// 100 samples in batches of 8: 13 steps an epoch, the last one smaller.
struct Case {
  TemporaryFolder folder;
  std::string config = folder.put("config", dropout_config), data = "csv:" + folder.put("data", sides(100));
  std::string checkpoint = folder / "checkpoint";

  std::vector<std::string> begin(std::vector<std::string> more) const {
    more.insert(more.begin(), {"train", "--config", config, "--data", data});
    return more;
  }
  std::string network(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--save", folder / "net"});
    output(arguments);
    return content(folder / "net");
  }
};

TEST_CASE("2N steps equal N steps, a new process, and N more, bit for bit") {
  if (!has_command()) return;
  Case const c;
  // Within an epoch, at its end, before and after its smaller batch.
  for (int const half : {1, 6, 12, 13, 14, 26}) {
    INFO(half << " steps");
    std::string const whole = c.network(c.begin({"--steps", std::to_string(2 * half)}));
    c.network(c.begin({"--steps", std::to_string(half), "--checkpoint", c.checkpoint}));
    CHECK(persist::read_checkpoint(c.checkpoint).iteration == static_cast<std::uint64_t>(half));
    CHECK(c.network({"train", "--resume", c.checkpoint, "--steps", std::to_string(2 * half)}) == whole);
  }
}

TEST_CASE("a checkpoint written between carries to the same end as one written at the end") {
  if (!has_command()) return;
  Case const c;
  std::string const whole = c.network(c.begin({"--checkpoint", c.checkpoint}));
  auto const end = persist::read_checkpoint(c.checkpoint);
  CHECK(end.epoch == 4);
  CHECK(end.position == 0);
  CHECK(end.iteration == 52);

  c.network(c.begin({"--steps", "20", "--checkpoint", c.checkpoint, "--checkpoint-every", "3"}));
  auto const middle = persist::read_checkpoint(c.checkpoint);
  CHECK(middle.epoch == 1);
  CHECK(middle.position == 56);
  // Config and options may be said again.
  CHECK(c.network(c.begin({"--resume", c.checkpoint, "--checkpoint", c.checkpoint, "--batch", "8", "--seed", "3"})) ==
        whole);
  CHECK(persist::read_checkpoint(c.checkpoint) == end);
  // Nothing is left to do, or more than was planned.
  CHECK(c.network({"train", "--resume", c.checkpoint}) == whole);
  CHECK(c.network({"train", "--resume", c.checkpoint, "--epochs", "6"}) == c.network(c.begin({"--epochs", "6"})));
}

TEST_CASE("a training that is asked to end, or is killed, goes on from its checkpoint") {
  if (!has_command()) return;
  for (int const number : {SIGINT, SIGTERM, SIGKILL}) {
    INFO("signal " << number);
    Case const c;
    Running training{c.begin({"--epochs", "1000000000", "--checkpoint", c.checkpoint, "--checkpoint-every", "5",
                              "--save", c.folder / "net"})};
    training.until([&] { return std::filesystem::exists(c.checkpoint); });
    training.signal(number);
    auto const result = training.wait();
    auto const steps = persist::read_checkpoint(c.checkpoint).iteration;
    if (number == SIGKILL) {
      CHECK(result.code == -SIGKILL);
    } else {
      CHECK(result.code == 1);
      CHECK(result.err == "coldpress: interrupted after step " + std::to_string(steps) + "; " + c.checkpoint +
                              " is where to resume\n");
    }
    CHECK_FALSE(std::filesystem::exists(c.folder / "net"));
    std::string const more = std::to_string(steps + 15);
    CHECK(c.network({"train", "--resume", c.checkpoint, "--steps", more}) ==
          c.network(c.begin({"--epochs", "1000000000", "--steps", more})));
  }
}

TEST_CASE("a training that is asked to end without a checkpoint says that nothing is saved") {
  if (!has_command()) return;
  Case const c;
  Running training{c.begin({"--epochs", "1000000000", "--save", c.folder / "net"})};
  training.until([&] { return training.has_printed(); });
  training.signal(SIGINT);
  auto const result = training.wait();
  CHECK(result.code == 1);
  CHECK(contains(result.err, "; nothing is saved\n"));
  CHECK_FALSE(std::filesystem::exists(c.folder / "net"));
}

TEST_CASE("a checkpoint of another run is refused") {
  if (!has_command()) return;
  Case const c;
  c.network(c.begin({"--steps", "20", "--checkpoint", c.checkpoint}));
  std::string const before = content(c.checkpoint);
  auto const refused = [&](std::vector<std::string> more) {
    more.insert(more.begin(),
                {"train", "--resume", c.checkpoint, "--save", c.folder / "other", "--checkpoint", c.checkpoint});
    return failure(more);
  };
  auto const config_with = [&](std::string const& from, std::string const& to) {
    std::string text = dropout_config;
    return c.folder.put("changed", text.replace(text.find(from), from.size(), to));
  };
  CHECK(refused({"--batch", "4"}) == c.checkpoint + ": was made with batch 8, not 4");
  CHECK(refused({"--seed", "4"}) == c.checkpoint + ": was made with seed 3, not 4");
  CHECK(contains(refused({"--config", config_with("outputSize = 16", "outputSize = 17")}),
                 "another network than the config's: "));
  CHECK(contains(refused({"--config", config_with("0.05", "0.06")}), "another solver"));
  CHECK(contains(
      refused({"--config", config_with("negativeLogLikelihood = (numClasses = 2)", "meanSquaredError = void")}),
      "another loss"));
  CHECK(contains(refused({"--data", "csv:" + c.folder.put("few", sides(20))}),
                 "the position in the data is 56, but there are 20 samples"));
  CHECK(contains(failure({"train", "--resume", c.config, "--save", c.folder / "other"}), c.config + ": "));
  CHECK(content(c.checkpoint) == before);
  CHECK_FALSE(std::filesystem::exists(c.folder / "other"));
}

}  // namespace
}  // namespace coldpress::command
