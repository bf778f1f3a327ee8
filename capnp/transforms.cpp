#include "transforms.hpp"

#include "content.hpp"

#include <coldpress/core/for_each_field.hpp>

#include <utility>

namespace coldpress::persist {
namespace {

using capnp::DynamicStruct;

// A field of a transform and the value in the file. Only the kinds of fields that transforms have are here.
void read(data::Per& value, capnp::DynamicValue::Reader file) {
  value = read_enumerator<data::Per>(file.as<capnp::DynamicEnum>());
}
void read(float& value, capnp::DynamicValue::Reader file) { value = file.as<float>(); }
void read(std::string& value, capnp::DynamicValue::Reader file) { check_text(value = text_of(file.as<capnp::Text>())); }
void read(std::vector<float>& value, capnp::DynamicValue::Reader file) {
  auto const list = file.as<capnp::List<float>>();
  value.resize(list.size());
  for (unsigned i = 0; i < list.size(); ++i) value[i] = list[i];
}
void read(Index& value, capnp::DynamicValue::Reader file) {
  auto const number = file.as<std::uint64_t>();
  if (number != 0) check_size(number);
  value = static_cast<Index>(number);
}
void read(std::vector<Index>& value, capnp::DynamicValue::Reader file) {
  auto const list = file.as<capnp::List<std::uint64_t>>();
  if (list.size() > 2) throw ConfigError{"has " + std::to_string(list.size()) + " numbers, expected 1 or 2"};
  for (auto const number : list) read(value.emplace_back(), number);
}

template <class Value>
void write(DynamicStruct::Builder file, std::string const& field, Value const& value) {
  if constexpr (std::is_enum_v<Value>) {
    auto const type = file.getSchema().getFieldByName(text_for(field)).getType();
    file.set(text_for(field), written_enumerator(type.asEnum(), value));
  } else if constexpr (std::is_same_v<Value, float>) {
    file.set(text_for(field), value);
  } else if constexpr (std::is_same_v<Value, Index>) {
    file.set(text_for(field), static_cast<std::uint64_t>(value));
  } else if constexpr (std::is_same_v<Value, std::string>) {
    check_text(value);
    if (!value.empty()) file.set(text_for(field), capnp::Text::Reader{text_for(value)});
  } else if (!value.empty()) {
    auto list = file.init(text_for(field), list_size(value.size())).template as<capnp::DynamicList>();
    for (unsigned i = 0; i < list.size(); ++i) {
      if constexpr (std::is_same_v<Value, std::vector<Index>>) {
        list.set(i, static_cast<std::uint64_t>(value[i]));
      } else {
        list.set(i, value[i]);
      }
    }
  }
}

/// f(transform) for the kind with this name in files; false if there is none.
template <class F, class... Kinds>
bool with_kind(std::string const& name, F const& f, std::variant<Kinds...> const*) {
  auto const is_this = [&](auto kind) {
    if (camel_case(kind.name) != name) return false;
    f(kind);
    return true;
  };
  return (is_this(Kinds{}) || ...);
}

data::Transform read_transform(DynamicStruct::Reader file) {
  std::optional<data::Transform> found;
  KJ_IF_MAYBE (member, file.which()) {
    std::string const kind = text_of(member->getProto().getName());
    if (kind == "none") throw ConfigError{"names no transform"};
    auto const read_fields = [&](auto transform) {
      for_each_field(transform, [&](std::string_view field, auto& value) {
        in_field(kind + "." + camel_case(field),
                 [&] { read(value, file.get(*member).as<DynamicStruct>().get(text_for(camel_case(field)))); });
      });
      found = std::move(transform);
    };
    with_kind(kind, read_fields, static_cast<data::Transform const*>(nullptr));
  }
  if (!found) throw UnsupportedError{"has a transform that this version of coldpress does not know"};
  return *std::move(found);
}

std::string place(unsigned i) { return "transforms[" + std::to_string(i) + "]"; }

}  // namespace

data::Transforms read_transforms(TransformList::Reader file) {
  data::Transforms transforms;
  for (unsigned i = 0; i < file.size(); ++i) in_field(place(i), [&] { transforms.push_back(read_transform(file[i])); });
  data::check(transforms);
  return transforms;
}

void write_transforms(TransformList::Builder file, data::Transforms const& transforms) {
  data::check(transforms);
  for (unsigned i = 0; i < file.size(); ++i) {
    DynamicStruct::Builder const one{file[i]};
    std::visit(
        [&](auto const& transform) {
          auto const member = one.getSchema().getFieldByName(text_for(camel_case(transform.name)));
          DynamicStruct::Builder to{file[i]};
          if (member.getType().isVoid()) return to.set(member, capnp::VOID);
          auto fields = to.init(member).template as<DynamicStruct>();
          for_each_field(transform, [&](std::string_view field, auto const& value) {
            in_field(place(i) + " " + camel_case(field), [&] { write(fields, camel_case(field), value); });
          });
        },
        transforms[i]);
  }
}

}  // namespace coldpress::persist
