// A pass of inference, taken down with its memory for the samples of one call.
#pragma once

#include <coldpress/kernels/tape.hpp>

#include <coldpress/dynamic/executable.hpp>

#include <array>

namespace coldpress::dynamic {

struct Recording {
  cpu::HeapTape tape;
  Index batch = 0;  // 0: none yet
  float const *memory = nullptr, *state = nullptr;
  std::array<std::size_t, max_network_inputs> sizes{};
  std::vector<Values> outputs;

  bool fits(std::span<Values const> inputs) const {
    bool fits = batch > 0 && inputs.size() <= sizes.size();
    for (std::size_t k = 0; fits && k < inputs.size(); ++k) fits = inputs[k].size() == sizes[k];
    return fits;
  }
};

}  // namespace coldpress::dynamic
