// The reader and the writer of safetensors files, into a config.
#include <coldpress/convert/safetensors.hpp>

#include "state_dict.hpp"

void coldpress::fuzz::run(std::span<std::byte const> bytes) {
  run_state_dict(bytes, convert::read_safetensors, convert::write_safetensors);
}
