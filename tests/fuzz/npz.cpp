// The reader and the writer of weights in .npz files, into a config.
#include <coldpress/convert/npz.hpp>

#include "state_dict.hpp"

void coldpress::fuzz::run(std::span<std::byte const> bytes) {
  run_state_dict(bytes, convert::read_npz, convert::write_npz);
}
