// Started by mpirun: the program of docs/distributed.md, which CMake takes from the page.
#include "page_include.hpp"

#include <coldpress/coldpress.hpp>
#include <coldpress/persist.hpp>

#include <filesystem>
#include <vector>

using namespace coldpress;

using Net = Network<Sequential<Linear{16}, TanH{}, Linear{1}>, Shape{2}>;

int main() {
  std::filesystem::path const folder =
      std::filesystem::temp_directory_path() / ("coldpress-page-" + std::to_string(distributed::launched_rank()));
  std::filesystem::create_directories(folder);
  std::filesystem::current_path(folder);
  std::vector<float> const x(32, 0.5f), targets(16, 1.0f);
  Net net{42};
#include "page_body.hpp"
  bool const saved = std::filesystem::remove("net.juice");
  std::filesystem::current_path("/");
  std::filesystem::remove(folder);
  return saved == (mpi.rank() == 0) && solver.step() == 1 ? 0 : 1;
}
