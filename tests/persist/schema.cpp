// What our schema says of Juice's, held against Juice's own schema.
#include "files.hpp"

#include "support/catch.hpp"

#include <coldpress/optim/monitoring.hpp>

#include <capnp/schema-parser.h>
#include <kj/filesystem.h>

#include <algorithm>
#include <map>

namespace {

using namespace coldpress;
using namespace coldpress::persist;

std::string name_of(capnp::Type type) {
  if (type.isStruct()) return type.asStruct().getShortDisplayName().cStr();
  if (type.isEnum()) return type.asEnum().getShortDisplayName().cStr();
  if (type.isList()) return "List(" + name_of(type.asList().getElementType()) + ")";
  return std::to_string(static_cast<int>(type.which()));
}

/// Members of a struct and of its groups, by ordinal.
void add_members(capnp::StructSchema schema, std::map<int, std::string>& members) {
  for (auto const field : schema.getFields()) {
    auto const ordinal = field.getProto().getOrdinal();
    if (ordinal.isExplicit()) {
      members[ordinal.getExplicit()] = std::string{field.getProto().getName().cStr()} + " @" +
                                       std::to_string(ordinal.getExplicit()) + " :" + name_of(field.getType());
    } else {
      add_members(field.getType().asStruct(), members);
    }
  }
}

struct Described {
  std::map<int, std::string> members;
  int of_juice = 0;  // members, as the annotation says
};

void add_structs(capnp::ParsedSchema const& schema, std::map<std::string, Described>& found) {
  for (auto const nested : schema.getAllNested()) {
    if (!nested.getProto().isStruct()) continue;
    Described& described = found[nested.getShortDisplayName().cStr()];
    add_members(nested.asStruct(), described.members);
    for (auto const annotation : nested.getProto().getAnnotations())
      if (annotation.getValue().isUint16()) described.of_juice = annotation.getValue().getUint16();
  }
}

/// f(schema), what a file declares.
template <class F>
void with_schema(std::string const& file, F const& f) {
  capnp::SchemaParser parser;
  auto const files = kj::newDiskFilesystem();
  auto const path = [&](std::string const& name) { return files->getCurrentPath().evalNative(name.c_str()); };
  auto const standard = files->getRoot().openSubdir(path(COLDPRESS_CAPNP_INCLUDE));
  kj::ReadableDirectory const* const imports[] = {standard.get()};
  f(parser.parseFromDirectory(files->getRoot(), path(source_file(file)), imports));
}

std::map<std::string, Described> structs_of(std::string const& file) {
  std::map<std::string, Described> found;
  with_schema(file, [&](capnp::ParsedSchema const& schema) { add_structs(schema, found); });
  return found;
}

using Names = std::vector<std::string>;

/// The members of a union, which is the struct's own or that of a group in it, in alphabetical order.
Names members_of(capnp::ParsedSchema const& schema, char const* type, char const* group) {
  capnp::StructSchema found = schema.getNested(type).asStruct();
  if (group) found = found.getFieldByName(group).getType().asStruct();
  Names names;
  for (auto const member : found.getUnionFields()) names.emplace_back(member.getProto().getName().cStr());
  std::sort(names.begin(), names.end());
  return names;
}
template <class... Types>
void add_names(TypeList<Types...>, Names& names) {
  (names.push_back(camel_case(Types::name)), ...);
}
template <class... Types>
void add_kinds(std::variant<Types...> const*, Names& names) {
  add_names(TypeList<Types...>{}, names);
}
template <class Enum>
Names spelt(Enum value) {
  auto const texts = spellings(value);
  return {texts.begin(), texts.end()};
}

}  // namespace

TEST_CASE("The schema says of each struct how many members are Juice's, and these are as in Juice's own") {
  auto const ours = structs_of(own_schema), juice = structs_of(juice_schema);
  REQUIRE(juice.size() > 10);
  for (auto const& [name, described] : ours) {
    CAPTURE(name);
    auto const known = juice.find(name);
    CHECK((described.of_juice > 0) == (known != juice.end()));
    if (known == juice.end()) continue;
    CHECK(described.of_juice == static_cast<int>(known->second.members.size()));
    for (auto const& [ordinal, member] : known->second.members) {
      REQUIRE(described.members.contains(ordinal));
      CHECK(described.members.at(ordinal) == member);
    }
  }
  for (auto const& [name, described] : juice) {
    CAPTURE(name);
    CHECK(ours.contains(name));
  }
}

TEST_CASE("the schema's enumerations have the words of those in C++") {
  std::map<std::string, Names> const in_cpp{{"PoolingMode", spelt(PoolingMode{})},
                                            {"Rounding", spelt(Rounding{})},
                                            {"Regularizer", spelt(Regularizer{})},
                                            {"Regularization", spelt(Regularization{})},
                                            {"Better", spelt(coldpress::Better{})},
                                            {"DimCheckMode", spelt(dynamic::DimCheckMode{})},
                                            {"Per", spelt(data::Per{})}};
  std::size_t found = 0;
  for (char const* file : {"capnp/juice.capnp", "capnp/coldpress.capnp"}) {
    with_schema(file, [&](capnp::ParsedSchema const& schema) {
      for (auto const nested : schema.getAllNested()) {
        if (!nested.getProto().isEnum()) continue;
        Names words;
        for (auto const word : nested.asEnum().getEnumerants()) words.emplace_back(word.getProto().getName().cStr());
        std::string const name = nested.getShortDisplayName().cStr();
        INFO(name);
        REQUIRE(in_cpp.contains(name));
        CHECK(words == in_cpp.at(name));
        ++found;
      }
    });
  }
  CHECK(found == in_cpp.size());
}

TEST_CASE("the schema has the layers, optimizers, policies and transforms of the lists in C++, and no others") {
  Names layers{"custom", "sequential"}, optimizers, policies{"staged"}, transforms{"none"};
  for (std::string_view const kind : spellings(Policy::Kind{})) policies.push_back(camel_case(kind));
  add_names(BuiltinLayers{}, layers);
  add_names(BuiltinLosses{}, layers);
  add_names(BuiltinStatistics{}, layers);
  add_names(BuiltinOptimizers{}, optimizers);
  add_kinds(static_cast<data::Transform const*>(nullptr), transforms);
  for (Names* names : {&layers, &optimizers, &policies, &transforms}) std::sort(names->begin(), names->end());
  with_schema("capnp/juice.capnp", [&](capnp::ParsedSchema const& schema) {
    CHECK(members_of(schema, "LayerConfig", "layerType") == layers);
    CHECK(members_of(schema, "Transform", nullptr) == transforms);
  });
  with_schema("capnp/coldpress.capnp", [&](capnp::ParsedSchema const& schema) {
    CHECK(members_of(schema, "SolverConfig", "solver") == optimizers);
    CHECK(members_of(schema, "Policy", nullptr) == policies);
  });
}
