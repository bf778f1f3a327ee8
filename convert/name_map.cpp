// Parses lines "from = to", in which * stands for any text, and says which of them applied to nothing.
#include "name_map.hpp"

#include <coldpress/data/atomic_file.hpp>
#include <coldpress/persist/model.hpp>

#include <algorithm>

namespace coldpress::convert {
namespace {

using persist::printable;

constexpr std::size_t max_file = std::size_t{1} << 20;

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  auto const begin = text.find_first_not_of(blanks);
  return begin == std::string_view::npos ? "" : text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

/// What `name` is after "from = to", if it is `from`; * stands for the same text on both sides.
std::optional<std::string> renamed(std::string_view name, std::string_view from, std::string_view to) {
  auto const star = from.find('*');
  if (star == std::string_view::npos) return name == from ? std::optional<std::string>{to} : std::nullopt;
  std::string_view const before = from.substr(0, star), after = from.substr(star + 1);
  if (name.size() <= before.size() + after.size() || !name.starts_with(before) || !name.ends_with(after)) return {};
  std::string result{to};
  if (to.empty()) return result;
  return result.replace(result.find('*'), 1, name.substr(before.size(), name.size() - before.size() - after.size()));
}

std::string line_of(std::pair<std::string, std::string> const& line) {
  return "'" + printable(line.first) + " = " + printable(line.second) + "'";
}

void check(std::pair<std::string, std::string> const& line) {
  auto const stars = [](std::string const& side) { return std::ranges::count(side, '*'); };
  if (line.first.empty()) throw FormatError{line_of(line) + " has no name before the ="};
  if (stars(line.first) > 1 || (!line.second.empty() && stars(line.first) != stars(line.second)))
    throw FormatError{line_of(line) + " must have one * on both sides, or none"};
}

}  // namespace

NameMap read_name_map(std::string const& path) {
  return with_file(path, [&] {
    auto const bytes = read_file(path, max_file);
    std::string_view text{reinterpret_cast<char const*>(bytes.data()), bytes.size()};
    NameMap names;
    for (int number = 1; !text.empty(); ++number) {
      auto const end = std::min(text.find('\n'), text.size());
      std::string_view const line = without_blanks(text.substr(0, std::min(text.find('#'), end)));
      text.remove_prefix(std::min(end + 1, text.size()));
      if (line.empty()) continue;
      with_context(
          [&] {
            auto const equals = line.find('=');
            if (equals == std::string_view::npos)
              throw FormatError{"got '" + printable(line) + "', expected THEIRS = OURS"};
            names.lines.emplace_back(without_blanks(line.substr(0, equals)), without_blanks(line.substr(equals + 1)));
            check(names.lines.back());
          },
          [&](Error& error) { error.in_field("line " + std::to_string(number)); });
    }
    return names;
  });
}

Renaming::Renaming(NameMap const& names, Direction direction)
    : names_(names), direction_(direction), applied_(names.lines.size()) {
  for (auto const& line : names.lines) check(line);
}

std::optional<std::string> Renaming::operator()(std::string_view name) {
  for (std::size_t i = 0; i < names_.lines.size(); ++i) {
    auto const& [theirs, ours] = names_.lines[i];
    if (direction_ == to_theirs && ours.empty()) continue;
    std::string_view const from = direction_ == to_ours ? theirs : ours, to = direction_ == to_ours ? ours : theirs;
    // The whole name, or that of a module around it.
    for (auto end = name.size(); end != std::string_view::npos && end > 0; end = name.rfind('.', end - 1)) {
      auto const result = renamed(name.substr(0, end), from, to);
      if (!result) continue;
      applied_[i] = true;
      if (ours.empty()) return {};
      return *result + std::string{name.substr(end)};
    }
  }
  return std::string{name};
}

std::optional<std::string> Renaming::exactly(std::string_view name) const {
  for (auto const& [theirs, ours] : names_.lines) {
    auto const& from = direction_ == to_ours ? theirs : ours;
    if (from == name) return direction_ == to_ours ? ours : theirs;
  }
  return {};
}

void Renaming::expect_all_applied(std::string const& more) const {
  std::string idle;
  for (std::size_t i = 0; i < applied_.size(); ++i) {
    if (!applied_[i]) idle += (idle.empty() ? "" : ", ") + line_of(names_.lines[i]);
  }
  if (!idle.empty()) throw MismatchError{"the map is for other names; the file has nothing for " + idle + more};
}

}  // namespace coldpress::convert
