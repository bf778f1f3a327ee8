// Applies the lines of a NameMap to names, in both directions.
#pragma once

#include <coldpress/convert/weights.hpp>

#include <string_view>

namespace coldpress::convert {

class Renaming {
 public:
  enum Direction { to_ours, to_theirs };
  Renaming(NameMap const& names, Direction direction);

  /// The new name, after the first line that applies; the name itself if none does, and nothing if the file's tensor is
  /// left out.
  std::optional<std::string> operator()(std::string_view name);
  /// The new name after the line that has exactly this name; nothing if there is none.
  std::optional<std::string> exactly(std::string_view name) const;
  /// Throws MismatchError, which names all lines that have never applied, and ends with what else is to be said.
  void expect_all_applied(std::string const& more) const;

 private:
  NameMap const& names_;
  Direction direction_;
  std::vector<bool> applied_;
};

}  // namespace coldpress::convert
