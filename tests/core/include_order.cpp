// Includes go one way: a header includes its own folder and those below it. docs/architecture.md says why in this
// order.
#include "support/catch.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <string>
#include <vector>

namespace {

using Path = std::filesystem::path;

/// From the lowest folder to the highest; folders of one line know nothing of each other.
std::vector<std::vector<std::string>> const order = {
    {"core"},
    {"layers", "data", "evaluators"},
    {"optim"},
    {"graph"},
    {"run"},
    {"backend"},
    {"kernels"},
    {"typed"},
    {"cuda", "dynamic"},
    {"persist"},
    {"convert", "train", "distributed"},
    {"audio"},
    {"testing"},
};
/// The folder that a header beside the folders belongs to.
std::map<std::string, std::string> const umbrellas = {
    {"coldpress.hpp", "typed"}, {"amp.hpp", "typed"},           {"layers.hpp", "layers"},
    {"threads.hpp", "core"},    {"dynamic.hpp", "dynamic"},     {"persist.hpp", "persist"},
    {"train.hpp", "train"},     {"cuda.hpp", "cuda"},           {"xtensor.hpp", "typed"},
    {"stream.hpp", "typed"},    {"testing.hpp", "testing"},     {"distributed.hpp", "distributed"},
    {"linked.hpp", "typed"},    {"compiled_in.hpp", "backend"},
};

std::string folder_of(Path const& header) {
  std::string const first = header.begin()->string();
  auto const found = umbrellas.find(first);
  return found == umbrellas.end() ? first : found->second;
}
std::size_t rank_of(std::string const& folder) {
  auto const found = std::find_if(order.begin(), order.end(), [&](auto const& line) {
    return std::find(line.begin(), line.end(), folder) != line.end();
  });
  INFO("folder " << folder);
  REQUIRE(found != order.end());  // a new folder takes its place in the order
  return static_cast<std::size_t>(found - order.begin());
}
std::vector<std::string> includes_of(Path const& file) {
  std::ifstream stream{file};
  std::string const text{std::istreambuf_iterator<char>{stream}, {}};
  std::regex const include{"#include <coldpress/([^>]+)>"};
  std::vector<std::string> all;
  for (std::sregex_iterator at{text.begin(), text.end(), include}; at != std::sregex_iterator{}; ++at)
    all.push_back((*at)[1]);
  return all;
}
/// Whether a header of folder `from` may include one of folder `to`.
bool may_include(std::string const& from, std::string const& to) { return from == to || rank_of(to) < rank_of(from); }

}  // namespace

TEST_CASE("headers include their own folder and those below it alone") {
  char const* const source = std::getenv("COLDPRESS_SOURCE_DIR");
  REQUIRE(source);
  Path const root = Path{source} / "include" / "coldpress";
  int headers = 0;
  for (auto const& entry : std::filesystem::recursive_directory_iterator{root}) {
    if (entry.path().extension() != ".hpp") continue;
    Path const header = entry.path().lexically_relative(root);
    ++headers;
    for (std::string const& included : includes_of(entry.path())) {
      INFO(header.string() << " includes " << included);
      CHECK(may_include(folder_of(header), folder_of(included)));
    }
  }
  CHECK(headers > 100);
}

TEST_CASE("the order of folders is one of ranks") {
  CHECK(may_include("typed", "core"));
  CHECK_FALSE(may_include("core", "typed"));
  CHECK_FALSE(may_include("dynamic", "cuda"));
}
