// The reader of models, and the writer: what was read and can be written comes back as the same bytes.
#include <coldpress/persist/model.hpp>

#include "fuzz.hpp"

void coldpress::fuzz::run(std::span<std::byte const> bytes) {
  auto const written = [&] {
    try {
      return persist::serialize(persist::parse_model(bytes, "input"));
    } catch (Error const& error) {
      demand(error.file().empty() || error.file() == "input", "an error names another file");
      throw;
    }
  }();
  std::vector<std::byte> again;
  try {
    again = persist::serialize(persist::parse_model(written, "own"));
  } catch (Error const& error) {
    demand(false, error.what());
  }
  demand(written == again, "what was written is read as something else");
}
