// Runs a harness once on each file that the arguments name, and on each in the folders that they name.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size);

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  std::set<fs::path> files;  // in one order everywhere
  for (int i = 1; i < argc; ++i) {
    if (!fs::is_directory(argv[i])) {
      files.insert(argv[i]);
    } else {
      for (auto const& entry : fs::directory_iterator{argv[i]}) files.insert(entry.path());
    }
  }
  for (fs::path const& path : files) {
    std::ifstream file{path, std::ios::binary};
    if (!file) {
      std::fprintf(stderr, "cannot open %s\n", path.c_str());
      return 1;
    }
    std::string const bytes{std::istreambuf_iterator<char>{file}, {}};
    std::printf("%s\n", path.c_str());
    std::fflush(stdout);  // so that the last line names the file that ends the program
    // Not one byte more than there is, so that a sanitizer sees a read behind the end.
    auto const exact = std::make_unique<std::uint8_t[]>(bytes.size());
    std::copy(bytes.begin(), bytes.end(), exact.get());
    LLVMFuzzerTestOneInput(exact.get(), bytes.size());
  }
  std::printf("%zu files\n", files.size());
  return files.empty() ? 1 : 0;
}
