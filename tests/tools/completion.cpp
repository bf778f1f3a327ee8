#include "tools/command.hpp"
#include "train/run_python.hpp"

#include <algorithm>
#include <sstream>

namespace coldpress::command {
namespace {

/// What bash would offer for the words of a command line, the last of which is being typed.
std::string offered(TemporaryFolder const& folder, std::vector<std::string> const& words) {
  std::string line = "source '" + (folder / "completion") + "'; cd '" + (folder / "") + "'; COMP_WORDS=(";
  for (std::string const& word : words) line += "$'" + word + "' ";
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

TEST_CASE("bash completes what follows the colon of a format, the comma of a list, and an equals sign") {
  if (!has_command()) return;
  TemporaryFolder const folder;
  folder.put("completion", output({"completion", "bash"}));
  folder.put("train.h5", ""), folder.put("net.juice", ""), folder.put("two words.csv", "");
  std::filesystem::create_directory(folder / "photos");
  CHECK(offered(folder, {"coldpress", "train", "--data", "hd"}) == "hdf5:");
  CHECK(offered(folder, {"coldpress", "train", "--data", "ne"}) == "net.juice");  // a config, of which all can be
  CHECK(offered(folder, {"coldpress", "train", "--data", "hdf5", ":", "tr"}) == "train.h5");  // as bash cuts hdf5:tr
  CHECK(contains(offered(folder, {"coldpress", "train", "--data", "hdf5", ":"}), "photos script train.h5"));
  CHECK(offered(folder, {"coldpress", "inspect", "ne"}) == "net.juice");
  CHECK(offered(folder, {"coldpress", "train", "--data", "hdf5", ":", "a.h5,tr"}) == "a.h5,train.h5");
  CHECK(offered(folder, {"coldpress", "train", "--data", "csv", ":", "a.csv,tr"}) == "");     // it takes one file
  CHECK(offered(folder, {"coldpress", "train", "--data", "\\'hdf5:tr"}) == "hdf5:train.h5");  // nor does bash cut it
  CHECK(offered(folder, {"coldpress", "train", "--data", "tape", ":", "tr"}) == "");
  CHECK(offered(folder, {"coldpress", "train", "--data", "=", "hdf5", ":", "tr"}) == "train.h5");
  CHECK(offered(folder, {"coldpress", "train", "--data=hdf5:tr"}) == "--data=hdf5:train.h5");  // where neither cuts
  CHECK(offered(folder, {"coldpress", "train", "--save", "=", "ne"}) == "net.juice");
  CHECK(offered(folder, {"coldpress", "train", "--data", "hdf5", ":", "a", "--vali"}) == "--validate");
  CHECK(offered(folder, {"coldpress", "data", "inspect", "images", ":", "ph"}) == "photos");
  CHECK(offered(folder, {"coldpress", "predict", "--input", "images", ":", "ph"}) == "photos");
  CHECK(offered(folder, {"coldpress", "train", "--data", "csv", ":", "two"}) == "two words.csv");
}

TEST_CASE("interactive shells complete a line") {
  if (!has_command()) return;
  TemporaryFolder const folder;
  folder.put("train.h5", ""), folder.put("net.juice", "");
  std::string lines;
  for (char const* const line : {"train --data hdf5:tr", "train --data hd", "train --data hdf5:a.h5,tr",
                                 "data inspect hdf5:tr", "train --save ne", "data insp", "train --valida"})
    lines += " 'coldpress " + std::string{line} + "'";
  for (std::string const shell : {"bash", "zsh"}) {
    INFO(shell);
    std::string const script = folder.put("_coldpress", output({"completion", shell}));
    auto const found = lines_of_script("../tools/complete.py", shell + " '" + script + "'" + lines);
    if (!found) WARN("skipped: there is no python3, or no " + shell);
    if (!found) continue;
    CHECK(*found == std::vector<std::string>{"coldpress train --data hdf5:train.h5", "coldpress train --data hdf5:",
                                             "coldpress train --data hdf5:a.h5,train.h5",
                                             "coldpress data inspect hdf5:train.h5", "coldpress train --save net.juice",
                                             "coldpress data inspect", "coldpress train --validate"});
  }
}

TEST_CASE("zsh accepts its script") {
  if (!has_command()) return;
  TemporaryFolder const folder;
  std::string const script = output({"completion", "zsh"});
  CHECK(script.starts_with("#compdef coldpress\n"));
  CHECK(contains(script, "'--validate[Fraction of the data to hold out"));
  CHECK(contains(script, "'--save[File for the trained network, .juice]:FILE:_files'"));
  CHECK(contains(script, "'*:SPEC:_coldpress_data'"));
  CHECK(contains(script, "if compset -P '(npy|hdf5|sound):'"));
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
