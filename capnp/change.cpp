// Follows the path of a change such as "solver.baseLr = 0.1" into a message, and parses its value as a text.
#include "change.hpp"

#include "text.hpp"
#include "values.hpp"

#include <coldpress/core/counted.hpp>

#include <charconv>
#include <vector>

namespace coldpress::persist {
namespace {

using capnp::DynamicStruct;
using capnp::DynamicValue;

std::vector<std::string> split(std::string const& path) {
  std::vector<std::string> names{""};
  for (char const c : path) {
    if (c == '.') {
      names.emplace_back();
    } else if (c != ' ') {
      names.back() += c;
    }
  }
  for (std::string const& name : names) {
    if (name.empty()) throw FormatError{"a name in the path is empty"};
  }
  return names;
}

DynamicStruct::Builder inner(DynamicStruct::Builder in, std::string const& name) {
  auto const field = in.getSchema().getFieldByName(text_for(name));
  return in.has(field) ? in.get(field).as<DynamicStruct>() : in.init(field).as<DynamicStruct>();
}

/// The entry of a list that a name such as "layers[2]" selects.
DynamicStruct::Builder entry(DynamicStruct::Builder in, std::string const& name) {
  auto const bracket = name.find('[');
  std::string const list = name.substr(0, bracket);
  std::size_t index = 0;
  char const* const end = name.data() + name.size() - 1;
  auto const [stop, error] = std::from_chars(name.data() + bracket + 1, end, index);
  if (error != std::errc{} || stop != end || *end != ']') throw FormatError{"'" + name + "' is not NAME[NUMBER]"};
  KJ_IF_MAYBE (field, in.getSchema().findFieldByName(text_for(list))) {
    if (!field->getType().isList() || !field->getType().asList().getElementType().isStruct())
      throw FormatError{"'" + list + "' is not a list with entries that have fields"};
    auto const entries = in.has(*field) ? in.get(*field).as<capnp::DynamicList>().size() : 0;
    if (index >= entries) {
      throw FormatError{"'" + list + "' has " + counted(entries, "entry") + ", so there is no '" + name + "'"};
    }
    return in.get(*field).as<capnp::DynamicList>()[static_cast<unsigned>(index)].as<DynamicStruct>();
  }
  throw FormatError{std::string{in.getSchema().getShortDisplayName().cStr()} + " has no field '" + list + "'"};
}

/// Refuses what would be more than one value, such as 3 in "epochs=3, batch=2".
void check_one(std::string const& value) {
  int depth = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < value.size(); ++i) {
    char const c = value[i];
    if (c == '"' && (i == 0 || value[i - 1] != '\\')) in_text = !in_text;
    if (in_text) continue;
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (depth < 0 || (depth == 0 && c == ','))
      throw FormatError{"has more than one value; each field is set by itself"};
  }
}

/// Whether the path leads to a text, whose value needs quotes.
bool is_text_field(capnp::StructSchema in, std::vector<std::string> const& path) {
  for (std::size_t i = 0; i < path.size(); ++i) {
    KJ_IF_MAYBE (field, in.findFieldByName(text_for(path[i]))) {
      if (i + 1 == path.size()) return field->getType().isText();
      if (!field->getType().isStruct()) return false;
      in = field->getType().asStruct();
    } else {
      return false;
    }
  }
  return false;
}

/// Copies a field. Cap'n Proto does not set a whole group.
void copy_field(DynamicStruct::Reader from, DynamicStruct::Builder to, capnp::StructSchema::Field field) {
  if (!field.getProto().isGroup()) return to.set(field, from.get(field));
  auto const group = from.get(field).as<DynamicStruct>();
  auto into = to.init(field).as<DynamicStruct>();
  KJ_IF_MAYBE (member, group.which()) copy_field(group, into, *member);
  for (auto each : group.getSchema().getNonUnionFields()) copy_field(group, into, each);
}
/// Parses the value as if it were given in a text, so that it is checked like one.
void set(DynamicStruct::Builder in, std::vector<std::string> const& path, std::string const& value) {
  check_one(value);
  if (is_text_field(in.getSchema(), path) && value.find('"') == std::string::npos)
    throw FormatError{"is a text, which needs double quotes: \"" + value + "\""};
  std::string text = value;
  for (auto name = path.rbegin(); name != path.rend(); ++name) text = "(" + *name + " = " + text + ")";
  capnp::MallocMessageBuilder message;
  auto given = message.initRoot<DynamicStruct>(in.getSchema());
  try {
    parse_text(text, given, path.size());
  } catch (FormatError const& error) {
    std::string sentence = error.sentence();
    if (sentence.starts_with("line ")) sentence = sentence.substr(sentence.find(": ") + 2);
    throw FormatError{sentence};
  }
  DynamicStruct::Reader from = given.asReader();
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    from = from.get(text_for(path[i])).as<DynamicStruct>();
    in = inner(in, path[i]);
  }
  copy_field(from, in, in.getSchema().getFieldByName(text_for(path.back())));
}

}  // namespace

std::string apply_change(DynamicStruct::Builder root, std::string const& change) {
  auto const equals = change.find('=');
  try {
    if (equals == std::string::npos) throw FormatError{"is not of the form FIELD=VALUE"};
    DynamicStruct::Builder in = root;
    std::vector<std::string> path;
    auto const names = split(change.substr(0, equals));
    for (std::string const& name : names) {
      if (name.find('[') == std::string::npos) {
        path.push_back(name);
        continue;
      }
      for (std::string const& outer : path) {
        auto const schema = in.getSchema();
        KJ_IF_MAYBE (field, schema.findFieldByName(text_for(outer))) {
          if (!field->getType().isStruct() || !in.has(*field))
            throw FormatError{"the config has no '" + outer + "' with a '" + name + "'"};
          in = in.get(*field).as<DynamicStruct>();
        } else {
          throw FormatError{std::string{schema.getShortDisplayName().cStr()} + " has no field '" + outer + "'"};
        }
      }
      path.clear();
      in = entry(in, name);
    }
    if (path.empty()) throw FormatError{"must end in a field, not in a list's entry"};
    set(in, path, change.substr(equals + 1));
    return names[0].substr(0, names[0].find('['));
  } catch (Error const& error) {
    FormatError here{error.sentence()};
    here.in_field("change '" + change + "'");
    throw here;
  }
}

}  // namespace coldpress::persist
