#include "tools/command.hpp"

namespace coldpress::command {
namespace {

TEST_CASE("each command has a page in the manual, with all of its options") {
  if (!has_command()) return;
  auto const folder = std::filesystem::path{std::getenv("COLDPRESS_COMMAND")}.parent_path() / "man1";
  if (!std::filesystem::exists(folder)) {
    WARN("skipped: no manual pages were made, since there is no help2man");
    return;
  }
  auto const page = [&](std::string const& name) { return content(folder / (name + ".1")); };
  std::string const train = page("coldpress-train");
  CHECK(contains(train, ".TH COLDPRESS-TRAIN \"1\""));
  CHECK(contains(train, "Trains the network of a config, or continues from a checkpoint"));
  for (char const* option : {"patience", "tensorboard", "html", "validate", "set", "threads"})
    CHECK(contains(train, "\\-\\-" + std::string{option}));
  CHECK(contains(page("coldpress"), "Exit status"));
  CHECK(contains(page("coldpress-data-inspect"), "\\-\\-picture"));
  CHECK(contains(page("coldpress-amp-train"), "\\-\\-architecture"));
  std::size_t commands = 0;
  std::istringstream help{output({"--help"})};
  for (std::string line; std::getline(help, line) && line != "Subcommands:";) continue;
  for (std::string line; std::getline(help, line) && !line.empty(); ++commands) {
    std::string const name = line.substr(2, line.find(' ', 2) - 2);
    INFO(name);
    CHECK(std::filesystem::exists(folder / ("coldpress-" + name + ".1")));
  }
  CHECK(commands > 0);
}

}  // namespace
}  // namespace coldpress::command
