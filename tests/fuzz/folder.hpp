// A folder for harnesses whose files need names.
#pragma once

#include "fuzz.hpp"

#include <filesystem>
#include <fstream>

namespace coldpress::fuzz {

/// A folder of this process, whose files are written anew for each run.
inline std::string folder() {
  static std::string const path = [] {
    std::string name = (std::filesystem::temp_directory_path() / "coldpress-fuzz-XXXXXX").string();
    demand(::mkdtemp(name.data()) != nullptr, "the system has no temporary folder");
    return name;
  }();
  static struct Remover {
    ~Remover() {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
  } const remover;
  return path;
}

inline void put(std::string const& name, std::span<std::byte const> bytes) {
  std::filesystem::path const path = folder() + "/" + name;
  std::filesystem::create_directories(path.parent_path());
  std::ofstream{path, std::ios::binary}.write(reinterpret_cast<char const*>(bytes.data()),
                                              static_cast<std::streamsize>(bytes.size()));
}

}  // namespace coldpress::fuzz
