// Checks the tokens of a text config before Cap'n Proto decodes it, and prints messages as text.
#include "text.hpp"

#include "config_tree.hpp"
#include "message.hpp"
#include "other_formats.hpp"
#include "spelling.hpp"
#include "stack.hpp"
#include "values.hpp"

#include <coldpress/core/enumerator.hpp>

#include <capnp/serialize-text.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace coldpress::persist {
namespace {

using capnp::DynamicValue;

// A container takes three brackets, "(sequential = (layers = [(", and there are a few around and inside.
constexpr std::size_t max_brackets = 4 * max_nesting + 8;
// The codec takes 4 KB of stack per bracket, and callers may have little stack.
constexpr std::size_t stack_of_codec = max_brackets * (std::size_t{1} << 14);

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_'; }

/// Goes over the tokens of a text without storing values; the codec does the rest.
class Guard {
 public:
  Guard(std::string_view text, capnp::StructSchema root, std::size_t path) : text_(text), next_(root), path_(path) {}

  /// Returns the names of the fields that are given at the root.
  std::set<std::string> check() {
    while (at_ < text_.size()) {
      char const c = text_[at_];
      if (is_control(c)) refuse(at_, "a control character");
      if (brackets_.empty() && seen_root_ && !is_blank(c) && c != '#')
        refuse(at_, "there is more after the end of the value");
      if (c == '{' && !seen_root_) refuse_root(at_);
      if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == '"') {
        string();
      } else if (c == '(' || c == '[') {
        open(c);
      } else if (c == ')' || c == ']') {
        close(c);
      } else if (is_digit(c)) {
        number();
      } else if (is_word(c)) {
        word();
      } else if (c == '`') {
        refuse(at_, "text must be in double quotes");
      } else if (c == '.' || c == '$' || c == '@') {
        refuse(at_, "names from elsewhere cannot be used here");
      } else {
        if (c == ',') comma();
        if (!is_blank(c)) value_ended_ = false;
        ++at_;
      }
    }
    if (!brackets_.empty()) refuse(brackets_.back().at, "this bracket is never closed");
    if (!seen_root_) refuse(0, "there is no value");
    return {given_.begin(), given_.end()};
  }

 private:
  struct Bracket {
    char kind;
    std::size_t at;
    std::optional<capnp::StructSchema> fields;  // of the struct in this bracket
    std::set<std::string_view> given;
    std::string_view member;                                 // the chosen member of its union
    std::size_t most = std::string_view::npos, entries = 1;  // of a list
  };

  [[noreturn]] void refuse(std::size_t at, std::string const& sentence) const {
    auto const before = text_.substr(0, at);
    auto const line = 1 + std::count(before.begin(), before.end(), '\n');
    auto const column = at - (before.rfind('\n') + 1) + 1;
    throw FormatError{"line " + std::to_string(line) + ", column " + std::to_string(column) + ": " + sentence};
  }
  [[noreturn]] void refuse_root(std::size_t at) const {
    std::string const other = seems_to_be(text_, text_.size());
    refuse(at, "the value must be in round brackets" + (other.empty() ? ", as in (network = ...)" : other));
  }
  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'; }

  static bool is_control(char c) { return (static_cast<unsigned char>(c) < 0x20 && !is_blank(c)) || c == 0x7f; }

  void string() {
    std::size_t const start = at_++;
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n') {
      if (is_control(text_[at_])) refuse(at_, "a control character");
      at_ += text_[at_] == '\\' ? 2 : 1;
    }
    if (at_ >= text_.size() || text_[at_] != '"') refuse(start, "this text is not terminated");
    ++at_;
    begin_value(start);  // a text may follow another one, as in C++
    value_ended_ = true;
  }

  /// A value of the field that was named last begins here. The codec would only say which type it expected.
  void begin_value(std::size_t start, std::string_view literal = {}) {
    auto const field = std::exchange(field_, {});
    if (field.name.empty()) return;
    std::string const name{field.name};
    if (field.type.isVoid() && literal != "void")
      refuse(start, "'" + name + "' has no fields: write " + name + " = void");
    if (!field.type.isStruct() || text_[start] == '(') return;
    bool const is_choice = field.type.asStruct().getUnionFields().size() > 0;
    refuse(start, "'" + name + "' has fields: write " + name +
                      (is_choice ? " = (NAME = ...)" : " = (), with those that differ from their defaults"));
  }

  void expect_separator(std::size_t at, std::string const& next) const {
    if (value_ended_) refuse(at, "a comma is missing before " + next);
  }

  void expect_no_value_missing() const {
    if (!field_.name.empty()) refuse(at_, "'" + std::string{field_.name} + "' has no value");
  }

  /// Without this, a layer that says no kind would be one of the union's first, which has a field that must be given.
  void expect_kind() const {
    Bracket const& bracket = brackets_.back();
    if (bracket.kind != '(' || brackets_.size() <= path_) return;
    bool const layer =
                   bracket.fields == capnp::Schema::from<schema::LayerConfig>() && !bracket.given.contains("layerType"),
               kind = bracket.fields == capnp::Schema::from<schema::LayerConfig::LayerType>() && bracket.member.empty();
    if (layer || kind)
      refuse(bracket.at, std::string{layer ? "this layer has no layerType" : "layerType has no kind"} +
                             ", which must be given, as in layerType = (linear = (outputSize = 16))");
  }

  void open(char kind) {
    expect_separator(at_, "this bracket");
    begin_value(at_);
    if (brackets_.size() == max_brackets) refuse(at_, "more than " + std::to_string(max_brackets) + " nested brackets");
    // The elements of a list have the list's type; next_ already holds the element type of a list.
    auto const type = !brackets_.empty() && brackets_.back().kind == '[' ? brackets_.back().fields : next_;
    brackets_.push_back({kind, at_++, type, {}, {}, kind == '[' ? most_ : std::string_view::npos});
    next_.reset();
    most_ = std::string_view::npos;
    if (!seen_root_ && kind != '(') refuse_root(at_ - 1);
    seen_root_ = true;
  }

  void close(char kind) {
    if (brackets_.empty() || (brackets_.back().kind == '(') != (kind == ')'))
      refuse(at_, "this bracket was not opened");
    expect_no_value_missing();
    expect_kind();
    if (brackets_.size() == 1) given_ = std::move(brackets_.back().given);
    brackets_.pop_back();
    ++at_;
    value_ended_ = true;
  }

  /// Reading the entries takes much more memory than their text, so they are counted before.
  void comma() {
    expect_no_value_missing();
    if (brackets_.empty() || ++brackets_.back().entries <= brackets_.back().most) return;
    refuse(at_, "more than " + std::to_string(brackets_.back().most) + " entries in a list");
  }

  void number() {
    expect_separator(at_, "this number");
    value_ended_ = true;
    std::size_t const start = at_;
    begin_value(start);
    while (at_ < text_.size() && (is_word(text_[at_]) || text_[at_] == '.' ||
                                  ((text_[at_] == '+' || text_[at_] == '-') && (text_[at_ - 1] | 0x20) == 'e')))
      ++at_;
    auto digits = text_.substr(start, at_ - start);
    std::uint64_t const base = digits.starts_with("0x") || digits.starts_with("0X") ? 16 : digits[0] == '0' ? 8 : 10;
    if (base == 16) digits.remove_prefix(2);
    if (base != 16 && !std::all_of(digits.begin(), digits.end(), is_digit))
      return;  // has a point or an exponent, or is not a number
    std::uint64_t value = 0;
    for (char const c : digits) {
      std::uint64_t const digit =
          is_digit(c) ? static_cast<std::uint64_t>(c - '0') : static_cast<std::uint64_t>((c | 0x20) - 'a' + 10);
      if (value > (~std::uint64_t{0} - digit) / base) refuse(start, "this integer has more than 64 bits");
      value = value * base + digit;
    }
  }

  void word() {
    std::size_t const start = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    auto const name = text_.substr(start, at_ - start);
    expect_separator(start, "'" + std::string{name} + "'");
    value_ended_ = true;
    auto after = at_;
    while (after < text_.size() && is_blank(text_[after])) ++after;
    if (brackets_.empty()) refuse_root(start);
    if (name == "import" || name == "embed") refuse(start, "other files cannot be used here");
    if (after == text_.size() || text_[after] != '=') {
      if (brackets_.back().kind == '(' && brackets_.back().fields && field_.name.empty())
        refuse(start, "an = is missing after '" + std::string{name} + "'");
      if (!field_.name.empty() && field_.type.isStruct()) begin_value(start, name);  // refuses every word
      static constexpr std::string_view literals[] = {"void", "true", "false", "inf", "nan"};
      if (enumerators_) {
        std::vector<std::string> known;
        for (auto const one : enumerators_->getEnumerants()) known.push_back(text_of(one.getProto().getName()));
        if (std::find(known.begin(), known.end(), name) == known.end())
          refuse(start, "'" + std::string{name} + "' is not one of " + joined(known) + suggestion(name, known));
      } else if (std::find(std::begin(literals), std::end(literals), name) == std::end(literals)) {
        refuse(start, "'" + std::string{name} + "' is not a value" +
                          suggestion(name, {std::begin(literals), std::end(literals)}));
      }
      begin_value(start, name);
      return;
    }

    Bracket& bracket = brackets_.back();
    next_.reset();
    enumerators_.reset();
    field_ = {};
    most_ = std::string_view::npos;
    if (!bracket.given.insert(name).second) refuse(start, "'" + std::string{name} + "' is given twice");
    if (!bracket.fields) return;
    std::string const terminated{name};
    KJ_IF_MAYBE (field, bracket.fields->findFieldByName(text_for(terminated))) {
      if (field->getProto().getDiscriminantValue() != capnp::schema::Field::NO_DISCRIMINANT) {
        if (!bracket.member.empty())
          refuse(start,
                 "'" + std::string{bracket.member} + "' is already chosen; '" + terminated + "' would be a second one");
        bracket.member = name;
      }
      auto type = field->getType();
      field_ = {name, type};
      bool const of_config = *bracket.fields == capnp::Schema::from<schema::LayerConfig>() ||
                             *bracket.fields == capnp::Schema::from<schema::SequentialConfig>();
      if (of_config && type.isList()) most_ = name == "layers" ? max_layers : max_entries;
      while (type.isList()) type = type.asList().getElementType();
      if (type.isStruct()) next_ = type.asStruct();
      if (type.isEnum()) enumerators_ = type.asEnum();
    } else if (bracket.kind == '(') {
      refuse_field(start, terminated, *bracket.fields);
    }
  }

  /// Refuses an unknown field and says where it exists, which known name is similar, or which fields there are.
  [[noreturn]] void refuse_field(std::size_t at, std::string const& name, capnp::StructSchema fields) const {
    std::string const type = fields.getShortDisplayName().cStr(), sentence = type + " has no field '" + name + "'";
    std::string const camel = camel_case(name);
    std::vector<std::string> known;
    for (auto const field : fields.getFields()) {
      known.push_back(text_of(field.getProto().getName()));
      if (!field.getType().isStruct()) continue;
      KJ_IF_MAYBE (inner, field.getType().asStruct().findFieldByName(text_for(camel))) {
        refuse(at, sentence + "; " + known.back() + " has it: " + known.back() + " = (" +
                       text_of(inner->getProto().getName()) + " = ...)");
      }
    }
    std::string const meant = suggestion(name, known);
    if (!meant.empty()) refuse(at, sentence + meant);
    if (fields == capnp::Schema::from<schema::LayerConfig::LayerType>())
      refuse(at, sentence + "; `coldpress layers` lists them all");
    refuse(at, sentence + "; it has " + joined(known));
  }

  struct Field {
    std::string_view name;
    capnp::Type type;
  };

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<Bracket> brackets_;
  Field field_ = {};                              // whose value is expected next, if it has a name
  std::set<std::string_view> given_;              // at the root, when that is closed
  std::optional<capnp::StructSchema> next_;       // the type of what a following bracket holds
  std::optional<capnp::EnumSchema> enumerators_;  // the type of a following value that is an enumerator
  std::size_t most_ = std::string_view::npos;     // of the entries in a following list
  std::size_t path_;                              // the outer brackets that only say where a value is
  bool value_ended_ = false, seen_root_ = false;
};

std::string printed(DynamicValue::Reader const& value, std::size_t indent);

/// On one line if it fits.
std::string bracketed(char open, char close, std::vector<std::string> const& parts, std::size_t indent) {
  std::size_t width = indent + 2;
  bool one_line = true;
  for (auto const& part : parts) {
    width += part.size() + 2;
    one_line = one_line && part.find('\n') == std::string::npos;
  }
  one_line = one_line && width < 100;
  std::string const blank = "\n" + std::string(indent, ' ');
  std::string text{open};
  for (std::size_t i = 0; i < parts.size(); ++i)
    text += (i ? one_line ? ", " : "," : "") + (one_line ? "" : blank + "  ") + parts[i];
  return text + (one_line || parts.empty() ? "" : blank) + close;
}

/// The fields that differ from the schema's defaults.
std::string printed(capnp::DynamicStruct::Reader fields, std::size_t indent) {
  std::vector<std::string> parts;
  for (auto field : fields.getSchema().getFields()) {
    bool const member = field.getProto().getDiscriminantValue() != capnp::schema::Field::NO_DISCRIMINANT;
    if (!fields.has(field, member ? capnp::HasMode::NON_NULL : capnp::HasMode::NON_DEFAULT)) continue;
    auto const value = fields.get(field);
    if (!member && value.getType() == DynamicValue::LIST && value.as<capnp::DynamicList>().size() == 0) continue;
    bool const is_empty = value.getType() == DynamicValue::TEXT && value.as<capnp::Text>().size() == 0;
    if (!member && is_empty && field.getProto().getSlot().getDefaultValue().getText().size() == 0) continue;
    parts.push_back(text_of(field.getProto().getName()) + " = " + printed(value, indent + 2));
  }
  return bracketed('(', ')', parts, indent);
}

/// The fewest digits from which the number can be read back, as a float if it is one. Cap'n Proto's own codec prints
/// one digit too few.
std::string printed(double value) {
  char digits[32];
  auto const single = static_cast<float>(value);
  auto const end = single == value ? std::to_chars(digits, std::end(digits), single)
                                   : std::to_chars(digits, std::end(digits), value);
  return {digits, end.ptr};
}

std::string printed(DynamicValue::Reader const& value, std::size_t indent) {
  switch (value.getType()) {
    case DynamicValue::FLOAT:
      return printed(value.as<double>());
    case DynamicValue::STRUCT:
      return printed(value.as<capnp::DynamicStruct>(), indent);
    case DynamicValue::LIST: {
      std::vector<std::string> parts;
      for (auto const element : value.as<capnp::DynamicList>()) parts.push_back(printed(element, indent + 2));
      return bracketed('[', ']', parts, indent);
    }
    default:
      return kj::str(value).cStr();
  }
}

void decode(std::string const& text, capnp::DynamicStruct::Builder root) {
  try {
    capnp::TextCodec{}.decode(text_for(text), root);
  } catch (kj::Exception const& exception) {
    if (exception.getType() == kj::Exception::Type::OVERLOADED) throw_translated(exception);
    std::string sentence = exception.getDescription().cStr();
    if (std::string_view{exception.getFile()} != "(capnp text input)")
      throw FormatError{"is not the text of a training: " + sentence};
    // The codec reports "12-15: what is wrong", and the line separately.
    auto const dash = sentence.find('-'), colon = sentence.find(": ");
    if (dash < colon && colon != std::string::npos)
      sentence = "column " + sentence.substr(0, dash) + ": " + sentence.substr(colon + 2);
    throw FormatError{"line " + std::to_string(exception.getLine()) + ", " + sentence};
  }
}

/// Refuses texts, in particular names, with characters that would not be displayed as they are.
void check_shown(DynamicValue::Reader const& value, std::string const& field) {
  switch (value.getType()) {
    case DynamicValue::TEXT:
      return with_context([&] { check_new_text(text_of(value.as<capnp::Text>())); },
                          [&](Error& error) { error.in_field(field); });
    case DynamicValue::STRUCT: {
      auto const fields = value.as<capnp::DynamicStruct>();
      for (auto const member : fields.getSchema().getFields())
        if (fields.has(member)) check_shown(fields.get(member), text_of(member.getProto().getName()));
      return;
    }
    case DynamicValue::LIST:
      for (auto const element : value.as<capnp::DynamicList>()) check_shown(element, field);
      return;
    default:
      return;
  }
}

}  // namespace

bool is_text(std::span<std::byte const> bytes) {
  bool const bracket = bytes.size() > 1 && (bytes[0] == std::byte{'('} || bytes[0] == std::byte{'#'});
  if (bracket && bytes[1] != std::byte{0}) return true;
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) {
    auto const c = std::to_integer<unsigned char>(byte);
    return (c >= 0x20 && c != 0x7f) || (c >= '\t' && c <= '\r');
  });
}

std::set<std::string> parse_text(std::string const& text, capnp::DynamicStruct::Builder root, std::size_t path) {
  auto given = Guard{text, root.getSchema(), path}.check();
  with_stack(stack_of_codec, [&] { decode(text, root); });
  check_shown(root.asReader(), "");
  return given;
}

std::string to_text(capnp::DynamicStruct::Reader root) { return printed(root, 0) + "\n"; }

}  // namespace coldpress::persist
