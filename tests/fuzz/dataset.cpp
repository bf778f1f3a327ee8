// What the command's --data opens: one or two files, and whether they fit together. The first byte says which of the
// kinds it is to be, the second how long the first file is, in parts of 256 of the rest.
#include <coldpress/data/dataset.hpp>

#include "fuzz.hpp"

#include <filesystem>
#include <fstream>

namespace {

/// A folder of this process, whose files are written anew for each run.
std::string folder() {
  static std::string const path = [] {
    std::string name = (std::filesystem::temp_directory_path() / "coldpress-fuzz-XXXXXX").string();
    coldpress::fuzz::demand(::mkdtemp(name.data()) != nullptr, "the system has no temporary folder");
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

void put(std::string const& name, std::span<std::byte const> bytes) {
  std::ofstream{folder() + "/" + name, std::ios::binary}.write(reinterpret_cast<char const*>(bytes.data()),
                                                               static_cast<std::streamsize>(bytes.size()));
}

}  // namespace

void coldpress::fuzz::run(std::span<std::byte const> bytes) {
  if (bytes.size() < 2) return;
  auto const kind = std::to_integer<unsigned>(bytes[0]) % 4, cut = std::to_integer<unsigned>(bytes[1]);
  auto const both = bytes.subspan(2);
  auto const first = both.first(both.size() * cut / 256), second = both.subspan(first.size());
  MemoryFile const x{first}, y{second}, whole{both};
  if (kind < 2) {
    std::string const set = kind == 0 ? "train" : "t10k";
    put(set + "-images-idx3-ubyte", first);
    put(set + "-labels-idx1-ubyte", second);
  }
  std::string const specs[] = {"mnist:" + folder(), "mnist-test:" + folder(), "csv:" + whole.path(),
                               "npy:" + x.path() + "," + y.path()};
  auto const dataset = data::open(specs[kind]);
  check(dataset);
  demand(dataset.size() > 0, "a data set without samples was opened");
}
