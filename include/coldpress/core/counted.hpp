// A count together with its noun, as in "2 samples" and "1 sample".
#pragma once

#include <string>
#include <string_view>

namespace coldpress {

/// A number and a noun: "1 sample", "2 samples", "0 classes", "3 entries".
inline std::string counted(auto count, std::string_view noun) {
  std::string text = std::to_string(count) + " ";
  bool const hisses = noun.ends_with('s'), changes = noun.ends_with('y');
  if (count == 1) return text.append(noun);
  return text.append(noun.substr(0, noun.size() - changes)).append(changes ? "ies" : hisses ? "es" : "s");
}

}  // namespace coldpress
