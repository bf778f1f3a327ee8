// Files that a Python script writes, so that they are made independently of what reads them.
#pragma once

#include "data/files.hpp"

/// The files of tests/data/SCRIPT; none if there is no python3 with MODULE.
struct PythonFiles {
  TemporaryFolder folder;
  bool made = false;
  PythonFiles(std::string const& script, std::string const& module) {
    char const* const root = std::getenv("COLDPRESS_SOURCE_DIR");
    std::string const file = root ? std::string{root} + "/tests/data/" + script
                                  : (std::filesystem::path(__FILE__).parent_path() / script).string();
    for (char const* const python : {"python3", "/usr/bin/python3"})
      made = made || std::system((std::string{python} + " -c 'import " + module + "' 2>/dev/null && " + python + " '" +
                                  file + "' '" + folder / "' >&2")
                                     .c_str()) == 0;
    if (!made) WARN("skipped: there is no python3 with " << module);
  }
  std::string path(std::string const& name) const { return folder / name; }
};
