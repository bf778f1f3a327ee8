// Comments in C++ headers that are written of models.
#pragma once

#include <coldpress/persist/model.hpp>

namespace coldpress::persist {

/// A line with the names of the classes, or nothing if there are none.
inline std::string comment_on_classes(std::vector<std::string> const& names) {
  std::string text;
  for (std::string const& name : names) text += (text.empty() ? "// Its classes, from 0 on: " : ", ") + printable(name);
  return text.empty() ? text : text + ".\n";  // a backslash at the end of the line would continue the comment
}

}  // namespace coldpress::persist
