// Initial values: a function of key and element alone, so every backend and layout starts with the same numbers.
#pragma once

#include <coldpress/core/parameter.hpp>
#include <coldpress/core/random.hpp>

#include <cmath>

namespace coldpress {

/// Element `element` of a parameter that `stream` belongs to. Step 0 of the stream.
inline float initial_value(Parameter const& parameter, Stream stream, std::uint64_t element) {
  if (parameter.filled > 0 && element >= static_cast<std::uint64_t>(parameter.filled)) return 0;
  auto const symmetric = [&](double radius) {
    return static_cast<float>((2.0 * static_cast<double>(stream.uniform(element)) - 1.0) * radius);
  };
  auto const in = static_cast<double>(parameter.fan_in), out = static_cast<double>(parameter.fan_out);
  Filler const& filler = parameter.filler;
  switch (filler.kind) {
    case Filler::Kind::own:  // the layer has chosen by now
      break;
    case Filler::Kind::constant:
      return filler.a;
    case Filler::Kind::glorot:
      return symmetric(std::sqrt(6 / (in + out)));
    case Filler::Kind::xavier:
      return symmetric(std::sqrt(3 / in));
    case Filler::Kind::gaussian: {  // Box and Muller 1958; 1 - u is never 0
      auto const random = stream.block(element);
      double const u = 1 - static_cast<double>(random.words[0]) * 0x1p-32,
                   angle = 2 * 3.14159265358979323846 * random.words[1] * 0x1p-32;
      return static_cast<float>(static_cast<double>(filler.a) +
                                static_cast<double>(filler.b) * std::sqrt(-2 * std::log(u)) * std::cos(angle));
    }
    case Filler::Kind::juice_bias:
      return std::sqrt(2 * stream.uniform(0));
  }
  return 0;
}

}  // namespace coldpress
