// What the headers of the layers say of them.
#pragma once

#include <span>
#include <string_view>

namespace coldpress::command {

struct LayerText {
  std::string_view name, type;  // as in "linear" and "Linear"
  std::string_view header;      // below include/coldpress
  std::string_view comment;     // that of the struct, without ///
};
/// All layers, losses and statistics of the headers in layers/, which layer_texts.cmake reads.
std::span<LayerText const> layer_texts();

}  // namespace coldpress::command
