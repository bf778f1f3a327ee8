#include "tools/command.hpp"

#include <algorithm>
#include <sstream>

namespace coldpress::command {
namespace {

/// What bash would offer for the words of a command line, the last of which is being typed.
std::string offered(TemporaryFolder const& folder, std::vector<std::string> const& words) {
  std::string line = "source '" + (folder / "completion") + "'; cd '" + (folder / "") + "'; COMP_WORDS=(";
  for (std::string const& word : words) line += "'" + word + "' ";
  line += "); COMP_CWORD=" + std::to_string(words.size() - 1) +
          "; _coldpress; printf '%s\\n' \"${COMPREPLY[@]}\" > offered";
  folder.put("script", line);
  REQUIRE(std::system(("bash '" + (folder / "script") + "'").c_str()) == 0);
  std::istringstream stream{content(folder / "offered")};
  std::vector<std::string> all;
  for (std::string word; stream >> word;) all.push_back(word);
  std::ranges::sort(all);
  std::string result;
  for (std::string const& word : all) result += (result.empty() ? "" : " ") + word;
  return result;
}

TEST_CASE("bash completes commands, options and files") {
  if (!has_command()) return;
  TemporaryFolder const folder;
  folder.put("completion", output({"completion", "bash"}));
  folder.put("net.juice", "");
  CHECK(offered(folder, {"coldpress", "tr"}) == "train");
  CHECK(contains(offered(folder, {"coldpress", ""}), "predict stream train"));
  CHECK(offered(folder, {"coldpress", "data", "in"}) == "inspect");
  CHECK(offered(folder, {"coldpress", "train", "--check"}) == "--checkpoint --checkpoint-every");
  CHECK(offered(folder, {"coldpress", "train", "--epochs", "3", "--vali"}) == "--validate");
  CHECK(offered(folder, {"coldpress", "eval", "--model", "ne"}) == "net.juice");
  CHECK(offered(folder, {"coldpress", "train", "--epochs", "n"}) == "");
  CHECK(offered(folder, {"coldpress", "eval", "--validate"}) == "");
}

TEST_CASE("zsh accepts its script") {
  if (!has_command()) return;
  TemporaryFolder const folder;
  std::string const script = output({"completion", "zsh"});
  CHECK(script.starts_with("#compdef coldpress\n"));
  CHECK(contains(script, "'--validate[Fraction of the data to hold out"));
  CHECK(contains(script, "'--save[File for the trained network]:FILE:_files'"));
  if (std::system("command -v zsh > /dev/null") != 0) {
    WARN("skipped: zsh is not installed");
    return;
  }
  CHECK(std::system(("zsh -n '" + folder.put("_coldpress", script) + "'").c_str()) == 0);
}

TEST_CASE("other shells are refused") {
  if (!has_command()) return;
  CHECK(run({"completion", "fish"}).code == 2);
}

}  // namespace
}  // namespace coldpress::command
