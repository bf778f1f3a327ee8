// Parses the names of classes, which exporters write as a list or a mapping in Python's syntax.
#include "onnx_metadata.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <set>

namespace coldpress::convert::onnx {
namespace {

constexpr std::string_view names = "names";
constexpr std::array<std::string_view, 3> keys_of_classes{names, "class_names", "labels"};  // the best first

std::string json_quoted(std::string_view text) {
  std::string all = "\"";
  for (char const c : text) {
    constexpr std::string_view digits = "0123456789abcdef";
    auto const byte = static_cast<unsigned char>(c);
    if (byte < 0x20) {
      all += std::string{"\\u00"} + digits[byte / 16] + digits[byte % 16];
    } else {
      all += std::string{c == '"' || c == '\\' ? "\\" : ""} + c;
    }
  }
  return all + '"';
}

std::string utf8(unsigned code) {
  auto const byte = [](unsigned value) { return static_cast<char>(value); };
  auto const next = [&](int shift) { return byte(0x80 | (code >> shift & 0x3f)); };
  if (code < 0x80) return {byte(code)};
  if (code < 0x800) return {byte(0xc0 | code >> 6), next(0)};
  if (code < 0x10000) return {byte(0xe0 | code >> 12), next(6), next(0)};
  return {byte(0xf0 | code >> 18), next(12), next(6), next(0)};
}

/// Reads a list or a mapping of texts from left to right.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  std::optional<std::map<std::size_t, std::string>> all() {
    bool const mapping = takes('{');
    if (!mapping && !takes('[')) return {};
    char const end = mapping ? '}' : ']';
    std::map<std::size_t, std::string> found;
    while (!takes(end)) {
      auto const label = mapping ? key() : std::optional{found.size()};
      auto name = label && (!mapping || takes(':')) ? text() : std::nullopt;
      if (!name || !found.emplace(*label, std::move(*name)).second) return {};
      if (!takes(',') && (skip(), !rest_.starts_with(end))) return {};
    }
    skip();
    if (!rest_.empty()) return {};
    return found;
  }

 private:
  void skip() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size())); }
  bool takes(char c) {
    skip();
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::optional<std::size_t> key() {
    skip();
    bool const quotes = rest_.starts_with('"') || rest_.starts_with('\'');
    char const quote = quotes ? rest_[0] : ' ';
    if (quotes) rest_.remove_prefix(1);
    auto const label = number(10, 9);
    if (quotes && !takes(quote)) return {};
    return label;
  }
  /// A number of at most `digits` digits in this base.
  std::optional<unsigned> number(int base, std::size_t digits) {
    unsigned value = 0;
    auto const part = rest_.substr(0, digits);
    auto const read = std::from_chars(part.data(), part.data() + part.size(), value, base);
    if (read.ec != std::errc{}) return {};
    rest_.remove_prefix(static_cast<std::size_t>(read.ptr - part.data()));
    return value;
  }
  std::optional<std::string> text() {
    skip();
    if (rest_.empty() || (rest_[0] != '"' && rest_[0] != '\'')) return {};
    char const quote = rest_[0];
    rest_.remove_prefix(1);
    std::string found;
    while (!rest_.empty()) {
      char const c = rest_[0];
      rest_.remove_prefix(1);
      if (c == quote) return found;
      if (c != '\\') {
        found += c;
        continue;
      }
      auto const escaped = escape();
      if (!escaped) return {};
      found += *escaped;
    }
    return {};
  }
  std::optional<std::string> escape() {
    if (rest_.empty()) return {};
    char const c = rest_[0];
    rest_.remove_prefix(1);
    if (c == '\\' || c == '"' || c == '\'' || c == '/') return std::string{c};
    if (c != 'u' && c != 'x') return {};
    auto const code = number(16, c == 'u' ? 4 : 2);
    if (!code || *code < 0xd800 || *code > 0xdfff) return code ? std::optional{utf8(*code)} : std::nullopt;
    if (*code > 0xdbff || !rest_.starts_with("\\u")) return {};
    rest_.remove_prefix(2);
    auto const low = number(16, 4);
    if (!low || *low < 0xdc00 || *low > 0xdfff) return {};
    return utf8(0x10000 + ((*code - 0xd800) << 10) + (*low - 0xdc00));
  }

  std::string_view rest_;
};

/// Whether a file of coldpress can hold the text: it is UTF-8 without characters that a terminal would obey.
bool can_hold(std::string const& text) { return persist::printable(text) == text; }

}  // namespace

std::vector<std::string> class_names_in(std::string_view text) {
  auto const found = Reader{text}.all();
  if (!found || found->empty() || found->rbegin()->first + 1 != found->size()) return {};
  std::vector<std::string> all;
  for (auto const& [label, name] : *found) all.push_back(name);
  return std::ranges::all_of(all, can_hold) ? all : std::vector<std::string>{};
}

std::vector<persist::Entry> entries_of(persist::Model const& model) {
  std::vector<persist::Entry> all;
  for (persist::Entry const& entry : model.metadata) {
    if (entry.key != names || model.classes.empty()) all.push_back(entry);
  }
  if (model.classes.empty()) return all;
  std::string text;
  for (std::size_t label = 0; label < model.classes.size(); ++label)
    text += (label == 0 ? "{\"" : ", \"") + std::to_string(label) + "\": " + json_quoted(model.classes[label]);
  all.push_back({std::string{names}, text + "}"});
  return all;
}

void set_entries(persist::Model& model, std::vector<persist::Entry> entries) {
  for (std::string_view const key : keys_of_classes) {
    auto const entry = std::ranges::find(entries, key, &persist::Entry::key);
    if (entry == entries.end() || !model.classes.empty()) continue;
    model.classes = class_names_in(entry->value);
    if (!model.classes.empty()) entries.erase(entry);
  }
  std::set<std::string> keys;
  for (persist::Entry& entry : entries) {
    if (model.metadata.size() == persist::max_metadata) break;
    if (entry.key.empty() || !can_hold(entry.key) || !can_hold(entry.value) || !keys.insert(entry.key).second) continue;
    model.metadata.push_back(std::move(entry));
  }
}

}  // namespace coldpress::convert::onnx
