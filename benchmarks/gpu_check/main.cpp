// coldpress-gpu-check: everything that is run on a machine with a GPU, in one program that needs only a driver and a C
// library.
//   coldpress-gpu-check bench ARGUMENTS   runs coldpress-bench
//   coldpress-gpu-check TEST [ARGUMENTS]  runs a test with Catch2's arguments; cuda.networks is tests/cuda/networks.cpp
//   coldpress-gpu-check list              lists the names of these tests
//   coldpress-gpu-check libraries         prints the versions of cuDNN and cuBLASLt, or why they were not loaded
#define CATCH_CONFIG_RUNNER
#include "support/catch.hpp"

#include "command.hpp"
#include "lazy_libraries.hpp"

#include <cstdio>
#include <map>
#include <string>
#include <vector>

namespace {

/// The test's name for a source file: "cuda.networks" for ".../tests/cuda/networks.cpp".
std::string test_of(std::string file) {
  std::size_t const folder = file.rfind("tests/");
  if (folder != std::string::npos) file.erase(0, folder + 6);
  file.erase(std::min(file.size(), file.rfind('.')));
  for (char& c : file) c = c == '/' ? '.' : c;
  return file;
}

/// A name, quoted for Catch2's command line.
std::string quoted(std::string const& name) {
  std::string text;
  for (char const c : name) {
    if (c == ',' || c == '[' || c == '\\' || c == '"' || c == '*') text += '\\';
    text += c;
  }
  return text;
}

/// Each test with the names of its cases, separated by commas.
std::map<std::string, std::string> all_tests() {
  std::map<std::string, std::string> tests;
  auto const take = [&](std::string const& file, std::string const& name) {
    std::string& cases = tests[test_of(file)];
    cases += (cases.empty() ? "" : ",") + quoted(name);
  };
  auto const& registry = Catch::getRegistryHub().getTestCaseRegistry();
#if defined CATCH_VERSION_MAJOR && CATCH_VERSION_MAJOR < 3
  for (auto const& test : registry.getAllTests()) {
    if (!test.isHidden()) take(test.lineInfo.file, test.name);
  }
#else
  for (auto const* test : registry.getAllInfos()) {
    if (!test->isHidden()) take(test->lineInfo.file, test->name);
  }
#endif
  return tests;
}

}  // namespace

int main(int argc, char** argv) {
  std::string const what = argc > 1 ? argv[1] : "";
  auto const tests = all_tests();
  if (what == "list") {
    for (auto const& [name, cases] : tests) std::puts(name.c_str());
    return 0;
  }
  // Other tests check what a program without these libraries reports.
  bool const wanted = what == "bench" || what == "libraries" || what.starts_with("cuda_libs.");
  std::string const missing = gpu_check::load_libraries(wanted);
  if (what == "libraries") {
    std::puts(missing.empty() ? gpu_check::versions().c_str() : missing.c_str());
    return missing.empty() ? 0 : 1;
  }
  if (what == "bench") return bench::command(argc - 1, argv + 1);
  auto const test = tests.find(what);
  if (test == tests.end()) {
    std::fprintf(stderr,
                 "usage: %s bench ARGUMENTS | TEST [ARGUMENTS] | list | libraries\n"
                 "'%s' is no test; `%s list` prints them all\n",
                 argv[0], what.c_str(), argv[0]);
    return 2;
  }
  if (wanted && !missing.empty()) {
    std::fprintf(stderr, "%s: %s\n", what.c_str(), missing.c_str());
    return 1;
  }
  Catch::Session session;
  if (int const status = session.applyCommandLine(argc - 1, argv + 1); status != 0) return status;
  auto& asked = session.configData().testsOrTags;
  if (asked.empty()) asked = {test->second};
  return session.run();
}
