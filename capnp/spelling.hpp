// Suggestions for misspelt names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace coldpress::persist {

/// For example "; did you mean 'leakyRelu'?", if one of `known` is the name in camelCase, in other capitals, or a few
/// letters away from it; else empty.
std::string suggestion(std::string_view name, std::vector<std::string> const& known);

}  // namespace coldpress::persist
