// The command on a GPU: where there is none, one line says why.
#include "tools/command.hpp"

#include <coldpress/persist.hpp>

#include <algorithm>

namespace coldpress::command {
namespace {

TEST_CASE("train and predict on a GPU that is not there say so in one line, and write nothing") {
  if (!has_command()) return;
  TemporaryFolder const folder;
  std::string const config = source_file("examples/configs/xor.capnp.txt"),
                    data = source_file("examples/configs/xor.csv"), saved = folder / "xor.juice";
  Result const result = run(
      {"train", "--config", config, "--data", "csv:" + data, "--save", saved, "--epochs", "1", "--backend", "cuda:0"});
  if (result.code == 0) {
    WARN("there is a GPU: trained on it");
    return;
  }
  INFO(result.err);
  CHECK(result.code == 1);
  CHECK(std::count(result.err.begin(), result.err.end(), '\n') == 1);
  CHECK(result.err.find("'cuda:0': ") != std::string::npos);
  CHECK(result.out.empty());
  CHECK_FALSE(std::filesystem::exists(saved));
}

}  // namespace
}  // namespace coldpress::command
