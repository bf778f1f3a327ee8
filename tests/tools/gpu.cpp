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

TEST_CASE("less precision and libraries are for products on a GPU") {
  if (!has_command()) return;
  TemporaryFolder const folder;
  std::vector<std::string> const train{"train",
                                       "--config",
                                       source_file("examples/configs/xor.capnp.txt"),
                                       "--data",
                                       "csv:" + source_file("examples/configs/xor.csv"),
                                       "--save",
                                       folder / "xor.juice"};
  auto const with = [&](std::vector<std::string> const& options) {
    auto arguments = train;
    arguments.insert(arguments.end(), options.begin(), options.end());
    return run(arguments);
  };
  Result const refused = with({"--precision", "tf32"}), unknown = with({"--precision", "half"}),
               libraries = with({"--libraries"});
  INFO(refused.err << unknown.err << libraries.err);
  CHECK(refused.code == 1);
  CHECK(refused.err.find("fp32") != std::string::npos);
  CHECK(unknown.code > 1);
  CHECK(unknown.err.find("--precision") != std::string::npos);
  CHECK(libraries.code == 1);
  CHECK(libraries.err.find("cuDNN and cuBLASLt need a GPU") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(folder / "xor.juice"));
}

}  // namespace
}  // namespace coldpress::command
