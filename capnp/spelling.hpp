// What somebody may have meant who misspelt a name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace coldpress::persist {

/// "; did you mean 'leakyRelu'?", where one of `known` is the name in camelCase, or in other capitals, or a few letters
/// away from it; else nothing.
std::string suggestion(std::string_view name, std::vector<std::string> const& known);

/// "max, average"
std::string listed(std::vector<std::string> const& names);

}  // namespace coldpress::persist
