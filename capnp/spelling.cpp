// Finds the known name with the fewest wrong letters.
#include "spelling.hpp"

#include <coldpress/persist/model.hpp>

#include <algorithm>
#include <array>

namespace coldpress::persist {
namespace {

std::string lower(std::string_view text) {
  std::string result{text};
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

/// The number of letters inserted, omitted, replaced, or swapped with their neighbour (Damerau and Levenshtein, each
/// place at most once).
std::size_t distance(std::string_view a, std::string_view b) {
  std::array<std::vector<std::size_t>, 3> rows;  // for the letters of `a`: the last but one, the last, and the current
                                                 // one
  for (auto& row : rows) row.resize(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) rows[2][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::rotate(rows.begin(), rows.begin() + 1, rows.end());
    auto const& [before, last, now] = rows;
    rows[2][0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      std::size_t least = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) least = std::min(least, before[j - 2] + 1);
      rows[2][j] = least;
    }
  }
  return rows[2][b.size()];
}

}  // namespace

std::string suggestion(std::string_view name, std::vector<std::string> const& known) {
  constexpr std::size_t longest = 64;  // what is longer than any name cannot be a misspelt name
  if (name.size() > longest) return {};
  std::string const camel = camel_case(name);
  std::string const* nearest = nullptr;
  std::size_t least = std::min<std::size_t>(2, camel.size() / 3) + 1;
  for (std::string const& one : known) {
    std::size_t const away = distance(lower(camel), lower(one));
    if (away < least) least = away, nearest = &one;
  }
  return nearest ? "; did you mean '" + *nearest + "'?" : "";
}

}  // namespace coldpress::persist
