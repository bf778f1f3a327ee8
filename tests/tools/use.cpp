#include "tools/command.hpp"

namespace coldpress::command {
namespace {

TEST_CASE("help and version succeed and say something") {
  if (!has_command()) return;
  for (std::vector<std::string> const& arguments : {std::vector<std::string>{"--help"},
                                                    {"inspect", "--help"},
                                                    {"train", "--help"},
                                                    {"eval", "--help"},
                                                    {"predict", "--help"}}) {
    CHECK(contains(output(arguments), "Usage: coldpress"));
  }
  for (char const* command : {"inspect", "train", "eval", "predict"}) CHECK(contains(output({"--help"}), command));
}

TEST_CASE("the version is that of the project") {
  if (!has_command()) return;
  std::string const version = output({"--version"});
  REQUIRE(version.starts_with("coldpress "));
  CHECK(contains(content(source_file("CMakeLists.txt")),
                 "project(coldpress VERSION " + version.substr(10, version.size() - 11) + " "));
}

TEST_CASE("bad use is exit code 2, and says what is wrong") {
  if (!has_command()) return;
  TemporaryFolder folder;
  std::string const config = folder.put("config", dropout_config), save = folder / "net.juice";
  struct Wrong {
    std::vector<std::string> arguments;
    char const* what;
  };
  for (auto const& [arguments, what] : {
           Wrong{{}, "A command is required"},
           Wrong{{"fly"}, "fly"},
           Wrong{{"inspect"}, "FILE is required"},
           Wrong{{"inspect", "a", "b"}, "b"},
           Wrong{{"train", "--save", save}, "--config or --resume is required"},
           Wrong{{"train", "--config", config}, "--save is required"},
           Wrong{{"train", "--config", config, "--save", save, "--epochs", "0"}, "--epochs"},
           Wrong{{"train", "--config", config, "--save", save, "--epochs", "99999999999999999999"}, "--epochs"},
           Wrong{{"train", "--config", config, "--save", save, "--batch", "many"}, "--batch"},
           Wrong{{"train", "--config", config, "--save", save, "--seed=-1"}, "--seed"},
           Wrong{{"train", "--config", config, "--save", save, "--steps", "0"}, "--steps"},
           Wrong{{"train", "--config", config, "--save", save, "--checkpoint-every", "5"}, "--checkpoint"},
           Wrong{{"train", "--config", config, "--save", config}, "is given twice"},
           Wrong{{"train", "--config", config, "--save", save, "--report", folder / "./net.juice"}, "is given twice"},
           Wrong{{"train", "--config", config, "--save", save, "--checkpoint", save}, "is given twice"},
           Wrong{{"train", "--resume", save, "--save", save}, "is given twice"},
           Wrong{{"eval", "--model", save}, "--data is required"},
           Wrong{{"eval", "--model", save, "--data", "csv:a", "--loss", "pride"}, "--loss"},
           Wrong{{"predict", "--model", save, "--input", "x.npy", "--output", "x.npy"}, "is given twice"},
           Wrong{{"predict", "--model", save, "--input", "x.npy", "--output", save}, "is given twice"},
       }) {
    auto const result = run(arguments);
    INFO(what << ": " << result.err);
    CHECK(result.code == 2);
    CHECK(result.out.empty());
    CHECK(contains(result.err, what));
  }
  CHECK(folder.names() == std::vector<std::string>{"config"});
}

TEST_CASE("output that cannot be written is a failure") {
  if (!has_command() || !std::filesystem::exists("/dev/full")) return;
  TemporaryFolder folder;
  std::string const command = "\"$COLDPRESS_COMMAND\" inspect '" + folder.put("config", dropout_config) +
                              "' >/dev/full 2>'" + folder / "err" + "'";
  CHECK(WEXITSTATUS(std::system(command.c_str())) == 1);
  CHECK(content(folder / "err") == "coldpress: the output cannot be written\n");
}

}  // namespace
}  // namespace coldpress::command
