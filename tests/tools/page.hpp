// What a page of the documentation shows.
#pragma once

#include <sstream>
#include <string>
#include <vector>

namespace coldpress::command {

struct Block {
  std::string language, text;
};

/// What stands between "```language" and "```".
inline std::vector<Block> code_blocks(std::string const& page) {
  std::vector<Block> found;
  std::istringstream lines{page};
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) {
      inside = !inside;
      if (inside) found.push_back({line.substr(3), {}});
    } else if (inside) {
      found.back().text += line + "\n";
    }
  }
  return found;
}

}  // namespace coldpress::command
