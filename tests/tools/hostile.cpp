#include "tools/command.hpp"

#include <coldpress/persist.hpp>

#include <sys/stat.h>

namespace coldpress::command {
namespace {

/// Runs the command on files cut short and with single bits flipped: each run ends with 0 or with 1 and a sentence.
void spoil_each(std::string const& bytes, std::vector<std::vector<std::string>> const& commands,
                TemporaryFolder const& folder) {
  int failed = 0;
  auto const spoilt = [&](std::string const& changed) {
    folder.put("spoilt", changed);
    for (auto const& arguments : commands) {
      auto const result = run(arguments);
      INFO(arguments[0] << ": " << result.code << ", " << result.err);
      bool const said = result.err.starts_with("coldpress: ") && result.err.find('\n') + 1 == result.err.size();
      CHECK((result.code == 0 ? result.err.empty() : result.code == 1 && said));
      failed += result.code;
    }
  };
  constexpr std::size_t flips = COLDPRESS_NIGHTLY ? 150 : 50;  // a sanitizer starts the command in half a second
  std::size_t const step = 8 * bytes.size() / flips | 1;
  for (std::size_t bit = 0; bit < 8 * bytes.size(); bit += step) {
    INFO("bit " << bit);
    std::string changed = bytes;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
    spoilt(changed);
  }
  for (std::size_t size = 0; size < bytes.size(); size += step) {
    INFO(size << " bytes");
    spoilt(bytes.substr(0, size));
  }
  CHECK(failed > 0);
}

struct Case {
  TemporaryFolder folder;
  std::string config = folder.put("config", dropout_config), data = "csv:" + folder.put("data", sides(20));
  std::string file = folder / "spoilt", save = folder / "out";
};

TEST_CASE("a spoilt network ends in a sentence") {
  if (!has_command()) return;
  Case const c;
  output({"train", "--config", c.config, "--data", c.data, "--steps", "1", "--save", c.save});
  spoil_each(content(c.save), {{"inspect", c.file}, {"eval", "--model", c.file, "--data", c.data}}, c.folder);
}

TEST_CASE("a spoilt checkpoint ends in a sentence") {
  if (!has_command()) return;
  Case const c;
  output({"train", "--config", c.config, "--data", c.data, "--steps", "1", "--save", c.save, "--checkpoint",
          c.folder / "checkpoint"});
  spoil_each(content(c.folder / "checkpoint"),
             {{"inspect", c.file}, {"train", "--resume", c.file, "--trust-paths", "--steps", "2", "--save", c.save}},
             c.folder);
}

TEST_CASE("a spoilt config ends in a sentence") {
  if (!has_command()) return;
  Case const c;
  // One step only, since a flipped bit may ask for a thousand times the epochs.
  spoil_each(dropout_config,
             {{"inspect", c.file}, {"train", "--config", c.file, "--data", c.data, "--steps", "1", "--save", c.save}},
             c.folder);
}

TEST_CASE("spoilt data end in a sentence") {
  if (!has_command()) return;
  Case const c;
  spoil_each(sides(20), {{"train", "--config", c.config, "--data", "csv:" + c.file, "--steps", "1", "--save", c.save}},
             c.folder);
}

TEST_CASE("only regular files are opened, whoever names them") {
  if (!has_command()) return;
  Case const c;
  std::string const fifo = c.folder / "fifo";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  std::string const is_fifo = fifo + ": cannot read: is a FIFO, not a regular file";
  auto const train = [&](std::string const& config, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"train", "--config", config, "--save", c.save});
    return failure(more);
  };
  std::string config = dropout_config;
  config.insert(config.size() - 1, ", data = \"csv:fifo\"");
  CHECK(train(c.folder.put("named", config)) == is_fifo);
  CHECK(train(c.config, {"--data", "csv:" + fifo}) == is_fifo);
  CHECK(train(c.config, {"--data", "npy:" + fifo + ",y"}) == is_fifo);
  CHECK(train(fifo) == is_fifo);
  CHECK(train(c.config, {"--data", "csv:/dev/zero"}) ==
        "/dev/zero: cannot read: is a character device, not a regular file");
  CHECK(failure({"inspect", fifo}) == is_fifo);
  // What the process was given as its input may be a pipe.
  std::string const command = "cat '" + c.folder.put("data", sides(20)) +
                              "' | \"$COLDPRESS_COMMAND\" train --config '" + c.config +
                              "' --data csv:/dev/stdin --steps 1 --save '" + c.save + "' >/dev/null";
  CHECK(std::system(command.c_str()) == 0);
}

TEST_CASE("any file can be inspected, without harm") {
  if (!has_command()) return;
  Case const c;
  CHECK(failure({"inspect", c.folder / "missing"}) ==
        c.folder / "missing" + ": cannot open: No such file or directory");
  CHECK(contains(failure({"inspect", "/"}), "/: cannot read: is a folder, not a regular file"));
  CHECK(contains(failure({"inspect", c.folder.put("x", "")}), "x: line 1, column 1: there is no value"));
  CHECK(contains(failure({"inspect", c.folder.put("x", "\x01\x02\x03")}), "x: is not a Cap'n Proto message"));
  CHECK(contains(failure({"inspect", c.folder.put("x", "(netwrok = ())")}), "x: line 1, column 2: "));
  // A damaged checkpoint is called so, though it may be read as what it is not.
  output({"train", "--config", c.config, "--data", c.data, "--steps", "1", "--save", c.save, "--checkpoint",
          c.folder / "checkpoint"});
  std::string bytes = content(c.folder / "checkpoint");
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  CHECK(contains(failure({"inspect", c.folder.put("x", bytes)}), "checksum"));
}

}  // namespace
}  // namespace coldpress::command
