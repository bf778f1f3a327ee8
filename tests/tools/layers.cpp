#include "tools/command.hpp"

namespace coldpress::command {

TEST_CASE("docs/layers.md is what the command says of the layers") {
  if (!has_command()) return;
  std::string const printed = output({"layers"}), written = content(source_file("docs/layers.md"));
  INFO("docs/layers.md is not up to date: coldpress layers > docs/layers.md");
  CHECK(printed == written);
  for (std::string const layer : {"linear", "convolution", "rnn", "mean_squared_error"}) {
    CHECK(contains(printed, "\n## " + layer + "\n"));
  }
}

}  // namespace coldpress::command
