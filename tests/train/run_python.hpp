// Runs a script of this folder with python3.
#pragma once

#include "data/files.hpp"

#include <optional>
#include <sstream>

#include <sys/wait.h>

/// The lines that tests/train/SCRIPT prints; nothing, said aloud, if there is no python3 or it exits with 3 because a
/// package is missing. Fails the test if the script fails.
inline std::optional<std::vector<std::string>> lines_of_script(std::string const& script,
                                                               std::string const& arguments) {
  TemporaryFolder const folder;
  char const* const root = std::getenv("COLDPRESS_SOURCE_DIR");
  std::string const file =
      (root ? std::string{root} + "/tests/train" : std::filesystem::path(__FILE__).parent_path().string()) + "/" +
      script;
  for (char const* const python : {"python3", "/usr/bin/python3"}) {
    std::string const command = std::string{python} + " '" + file + "' " + arguments + " > '" + folder / "lines" + "'";
    int const status = std::system(command.c_str());
    int const code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (code == 3 || code == 127) continue;
    INFO(command);
    REQUIRE(code == 0);
    std::vector<std::string> lines;
    std::istringstream text{content(folder / "lines")};
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
  }
  return {};
}
