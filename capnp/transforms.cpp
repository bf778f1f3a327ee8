// Writes the fields of each transform into a message, and reads them back by the names in the schema.
#include "transforms.hpp"

#include "content.hpp"

#include <coldpress/core/for_each_field.hpp>

#include <utility>

namespace coldpress::persist {
namespace {

using capnp::DynamicStruct;
using capnp::DynamicValue;

/// A field of a transform. All transforms share the code for the kinds of fields that there are, since every program
/// that loads a network has it.
struct Field {
  std::string name;  // in files
  std::variant<data::Per*, float*, Index*, std::string*, std::vector<float>*, std::vector<Index>*> value;
};
std::vector<Field> fields_of(data::Transform& transform) {
  std::vector<Field> fields;
  std::visit(
      [&](auto& one) {
        for_each_field(one, [&](std::string_view name, auto& value) { fields.push_back({camel_case(name), &value}); });
      },
      transform);
  return fields;
}

std::string kind_of(data::Transform const& transform) {
  return camel_case(std::visit([](auto const& one) { return one.name; }, transform));
}
template <std::size_t... i>
std::optional<data::Transform> made(std::string const& kind, std::index_sequence<i...>) {
  for (auto* make : {+[] { return data::Transform{std::in_place_index<i>}; }...})
    if (data::Transform transform = make(); kind_of(transform) == kind) return transform;
  return {};
}

struct Read {
  DynamicValue::Reader file;
  void operator()(data::Per* value) const { *value = read_enumerator<data::Per>(file.as<capnp::DynamicEnum>()); }
  void operator()(float* value) const { *value = file.as<float>(); }
  void operator()(std::string* value) const { check_text(*value = text_of(file.as<capnp::Text>())); }
  void operator()(std::vector<float>* value) const {
    for (float const number : file.as<capnp::List<float>>()) value->push_back(number);
  }
  void operator()(Index* value) const { *value = checked(file.as<std::uint64_t>()); }
  void operator()(std::vector<Index>* value) const {
    auto const list = file.as<capnp::List<std::uint64_t>>();
    if (list.size() > 2) throw ConfigError{"has " + std::to_string(list.size()) + " numbers, expected 1 or 2"};
    for (auto const number : list) value->push_back(checked(number));
  }
  static Index checked(std::uint64_t number) {
    if (number != 0) check_size(number);
    return static_cast<Index>(number);
  }
};

struct Write {
  DynamicStruct::Builder file;
  capnp::StructSchema::Field field;
  void operator()(data::Per const* value) { file.set(field, written_enumerator(field.getType().asEnum(), *value)); }
  void operator()(float const* value) { file.set(field, *value); }
  void operator()(Index const* value) { file.set(field, static_cast<std::uint64_t>(*value)); }
  void operator()(std::string const* value) {
    check_text(*value);
    if (!value->empty()) file.set(field, capnp::Text::Reader{text_for(*value)});
  }
  void operator()(std::vector<float> const* value) {
    if (value->empty()) return;
    auto list = file.init(field, list_size(value->size())).as<capnp::List<float>>();
    for (unsigned i = 0; i < list.size(); ++i) list.set(i, (*value)[i]);
  }
  void operator()(std::vector<Index> const* value) {
    auto list = file.init(field, list_size(value->size())).as<capnp::List<std::uint64_t>>();
    for (unsigned i = 0; i < list.size(); ++i) list.set(i, static_cast<std::uint64_t>((*value)[i]));
  }
};

data::Transform read_transform(DynamicStruct::Reader file) {
  KJ_IF_MAYBE (member, file.which()) {
    std::string const kind = text_of(member->getProto().getName());
    if (kind == "none") throw ConfigError{"names no transform"};
    auto transform = made(kind, std::make_index_sequence<std::variant_size_v<data::Transform>>());
    if (transform) {
      for (Field const& field : fields_of(*transform))
        in_field(kind + "." + field.name, [&] {
          std::visit(Read{file.get(*member).as<DynamicStruct>().get(text_for(field.name))}, field.value);
        });
      return *std::move(transform);
    }
  }
  throw UnsupportedError{"has a transform that this version of coldpress does not know"};
}

std::string place(unsigned i) { return "transforms[" + std::to_string(i) + "]"; }

}  // namespace

data::Transforms read_transforms(TransformList::Reader file) {
  data::Transforms transforms;
  for (unsigned i = 0; i < file.size(); ++i) in_field(place(i), [&] { transforms.push_back(read_transform(file[i])); });
  data::check(transforms);
  return transforms;
}

void write_transforms(TransformList::Builder file, data::Transforms transforms) {
  data::check(transforms);
  for (unsigned i = 0; i < file.size(); ++i) {
    DynamicStruct::Builder one{file[i]};
    auto const member = one.getSchema().getFieldByName(text_for(kind_of(transforms[i])));
    if (member.getType().isVoid()) {
      one.set(member, capnp::VOID);
      continue;
    }
    auto const fields = one.init(member).as<DynamicStruct>();
    for (Field const& field : fields_of(transforms[i]))
      in_field(place(i) + " " + field.name, [&] {
        std::visit(Write{fields, fields.getSchema().getFieldByName(text_for(field.name))}, field.value);
      });
  }
}

}  // namespace coldpress::persist
