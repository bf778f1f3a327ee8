#include "tools/command.hpp"

#include <coldpress/persist.hpp>

#include <algorithm>
#include <random>

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
    CHECK(c.network({"train", "--resume", c.checkpoint, "--trust-paths", "--steps", std::to_string(2 * half)}) ==
          whole);
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
  // Nothing is left to do, less than was done, or more than was planned.
  std::vector<std::string> const again{"train", "--resume", c.checkpoint, "--trust-paths", "--save", c.folder / "net"};
  auto const says = [&](std::vector<std::string> more, std::string const& limit) {
    more.insert(more.begin(), again.begin(), again.end());
    CHECK(
        contains(output(more), "Nothing was trained: the run was to end after " + limit +
                                   ", and 4 epochs and 52 steps were done before.\nSaved the network after 52 steps"));
  };
  says({}, "4 epochs");
  says({"--epochs", "1"}, "1 epoch");
  says({"--epochs", "9", "--steps", "30"}, "9 epochs or 30 steps");
  CHECK(c.network({"train", "--resume", c.checkpoint, "--trust-paths"}) == whole);
  CHECK(c.network({"train", "--resume", c.checkpoint, "--data", c.data, "--epochs", "6"}) ==
        c.network(c.begin({"--epochs", "6"})));
}

TEST_CASE("a training that is asked to end, or is killed, goes on from its checkpoint") {
  if (!has_command()) return;
  for (int const number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGKILL}) {
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
      std::string const why = number == SIGPIPE ? ", since nobody reads the output" : "";
      CHECK(result.err == "coldpress: interrupted after step " + std::to_string(steps) + why +
                              "; continue with --resume " + c.checkpoint + "\n");
    }
    CHECK_FALSE(std::filesystem::exists(c.folder / "net"));
    std::string const more = std::to_string(steps + 15);
    CHECK(c.network({"train", "--resume", c.checkpoint, "--trust-paths", "--steps", more}) ==
          c.network(c.begin({"--epochs", "1000000000", "--steps", more})));
  }
}

TEST_CASE("a checkpoint is also written after every so many seconds") {
  if (!has_command()) return;
  Case const c;
  Running training{c.begin(
      {"--epochs", "100000", "--checkpoint", c.checkpoint, "--checkpoint-every", "0.01s", "--save", c.folder / "net"})};
  bool inside = false;  // an epoch
  training.until([&] {
    inside = std::filesystem::exists(c.checkpoint) && persist::read_checkpoint(c.checkpoint).position != 0;
    return inside;
  });
  training.signal(SIGKILL);
  training.wait();
  CHECK(inside);
}

TEST_CASE("a training that is asked to end without a checkpoint says that it cannot be continued") {
  if (!has_command()) return;
  Case const c;
  Running training{c.begin({"--epochs", "1000000000", "--save", c.folder / "net"})};
  training.until([&] { return training.has_printed(); });
  training.signal(SIGINT);
  auto const result = training.wait();
  CHECK(result.code == 1);
  CHECK(contains(result.err, "; without --checkpoint it cannot be continued\n"));
  CHECK_FALSE(std::filesystem::exists(c.folder / "net"));
}

TEST_CASE("a training whose output nobody reads saves and ends where it can be resumed, and else goes on to its end") {
  if (!has_command()) return;
  Case const c;
  std::string const whole = c.network(c.begin({}));
  auto const unread = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"--save", c.folder / "net"});
    return Running{c.begin(more), true}.wait();
  };
  std::filesystem::remove(c.folder / "net");
  auto result = unread({"--epochs", "1000000000", "--checkpoint", c.checkpoint});
  CHECK(result.code == 1);
  CHECK(contains(result.err, ", since nobody reads the output; continue with --resume " + c.checkpoint + "\n"));
  CHECK_FALSE(std::filesystem::exists(c.folder / "net"));
  CHECK(c.network({"train", "--resume", c.checkpoint, "--data", c.data, "--epochs", "4"}) == whole);

  std::filesystem::remove(c.folder / "net");
  result = unread({});
  CHECK(result.code == 1);
  CHECK(result.err == "coldpress: the output cannot be written\n");
  CHECK(content(c.folder / "net") == whole);
}

TEST_CASE("a training killed at any time by any signal leaves files that load, and goes on to the same end") {
  if (!has_command()) return;
  Case const c;
  std::string const epochs = "12", save = c.folder / "net";
  auto const start = std::chrono::steady_clock::now();
  std::string const whole =
      c.network(c.begin({"--epochs", epochs, "--checkpoint", c.checkpoint, "--checkpoint-every", "5"}));
  auto const usual = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start);
  std::mt19937 random{18};
  constexpr int signals[] = {SIGKILL, SIGINT, SIGTERM, SIGHUP, SIGPIPE};
  for (int round = 0; round < 50; ++round) {
    int const number = signals[round % 5];
    INFO("round " << round << ", signal " << number);
    std::filesystem::remove(c.checkpoint), std::filesystem::remove(save);
    Running training{
        c.begin({"--epochs", epochs, "--checkpoint", c.checkpoint, "--checkpoint-every", "5", "--save", save})};
    std::this_thread::sleep_for(usual * (random() % 1000) / 1000);
    training.signal(number);
    auto const result = training.wait();
    INFO(result.err);
    // Killed before it listens, interrupted, or done before the signal came.
    CHECK((result.code == -number || (result.code == 1 && contains(result.err, "interrupted after step ")) ||
           result.code == 0));
    if (std::filesystem::exists(save)) CHECK(content(save) == whole);
    if (result.code == 0) CHECK(content(save) == whole);
    if (std::filesystem::exists(c.checkpoint)) {
      CHECK_NOTHROW(persist::read_checkpoint(c.checkpoint));
      CHECK(c.network({"train", "--resume", c.checkpoint, "--data", c.data}) == whole);
    } else {
      CHECK(result.code != 0);
      CHECK(c.network(c.begin({"--epochs", epochs})) == whole);
    }
  }
  output(c.begin({"--epochs", epochs, "--checkpoint", c.checkpoint, "--save", save}));  // the last one may have none
  CHECK(c.folder.names().size() == 4);  // what the killed ones left behind is gone
}

TEST_CASE("paths in a checkpoint are followed only where the user trusts them") {
  if (!has_command()) return;
  Case const c;
  std::string const whole = c.network(c.begin({})), save = c.folder / "net";
  c.network(c.begin({"--steps", "20", "--checkpoint", c.checkpoint}));
  CHECK(failure({"train", "--resume", c.checkpoint, "--save", save}) ==
        c.checkpoint + ": data: is '" + c.data +
            "', and paths in a checkpoint are followed only with --trust-paths; "
            "name the data with --data, or add --trust-paths");
  CHECK(failure({"train", "--resume", c.checkpoint, "--config", c.config, "--save", save}) ==
        failure({"train", "--resume", c.checkpoint, "--save", save}));
  CHECK(c.network({"train", "--resume", c.checkpoint, "--trust-paths"}) == whole);
  // A config that names other data is of another run.
  std::string const other = c.folder.put("other", sides(40));
  std::string changed = dropout_config;
  changed.insert(changed.size() - 1, ", data = \"csv:" + other + "\"");
  CHECK(contains(
      failure({"train", "--resume", c.checkpoint, "--config", c.folder.put("changed", changed), "--save", save}),
      "the config's is 'csv:" + other + "'; choose with --data"));
  // The user names the config, and so what is in it.
  std::string config = dropout_config;
  c.folder.put("same", config.insert(config.size() - 1, ", data = \"csv:data\""));
  CHECK(c.network({"train", "--resume", c.checkpoint, "--config", c.folder / "same"}) == whole);
}

TEST_CASE("a checkpoint of another run is refused") {
  if (!has_command()) return;
  Case const c;
  c.network(c.begin({"--steps", "20", "--checkpoint", c.checkpoint}));
  std::string const before = content(c.checkpoint);
  auto const refused = [&](std::vector<std::string> more) {
    more.insert(more.begin(),
                {"train", "--resume", c.checkpoint, "--save", c.folder / "other", "--checkpoint", c.checkpoint});
    if (std::ranges::find(more, "--data") == more.end()) more.push_back("--trust-paths");
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
  CHECK(contains(refused({"--config", config_with("0.05", "0.06")}),
                 "the checkpoint's learning rate is 0.05, the config's is 0.06"));
  CHECK(
      contains(refused({"--config", config_with("momentum = 0.9", "momentum = 0.9, lrPolicy = (exp = (gamma = 0.9))")}),
               "learning-rate policy is fixed policy, the config's is exp policy: gamma 0.9"));
  CHECK(refused({"--config", config_with("momentum = 0.9", "solver = (adam = ())")}) ==
        c.checkpoint + ": the checkpoint's optimizer is sgd, the config's is adam");
  CHECK(contains(
      refused({"--config", config_with("negativeLogLikelihood = (numClasses = 2)", "meanSquaredError = void")}),
      "another loss"));
  CHECK(contains(refused({"--data", "csv:" + c.folder.put("few", sides(20))}),
                 "the checkpoint was made with 100 samples, but there are 20"));
  CHECK(contains(failure({"train", "--resume", c.config, "--trust-paths", "--save", c.folder / "other"}),
                 c.config + ": "));
  CHECK(content(c.checkpoint) == before);
  CHECK_FALSE(std::filesystem::exists(c.folder / "other"));
}

}  // namespace
}  // namespace coldpress::command
