// The sentences with which layers refuse shapes, in tests.
#pragma once

#include "support/catch.hpp"

#include <coldpress/core/shape.hpp>

#include <string>

namespace coldpress::test {

/// The sentence with which a layer refuses the shape of a sample, or "none".
template <class L>
std::string refusal_of(L const& layer, Shape const& in) {
  try {
    layer.output_shape(in);
  } catch (ShapeError const& error) {
    return error.sentence();
  }
  return "none";
}
inline void check_says(std::string const& text, char const* words) {
  INFO(text);
  CHECK(text.find(words) != std::string::npos);
}

}  // namespace coldpress::test
