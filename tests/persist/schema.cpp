// What our schema says of Juice's, held against Juice's own schema.
#include "files.hpp"

#include "support/catch.hpp"

#include <capnp/schema-parser.h>
#include <kj/filesystem.h>

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

std::map<std::string, Described> structs_of(std::string const& file) {
  capnp::SchemaParser parser;
  auto const files = kj::newDiskFilesystem();
  auto const path = [&](std::string const& name) { return files->getCurrentPath().evalNative(name.c_str()); };
  auto const standard = files->getRoot().openSubdir(path(COLDPRESS_CAPNP_INCLUDE));
  kj::ReadableDirectory const* const imports[] = {standard.get()};
  auto const schema = parser.parseFromDirectory(files->getRoot(), path(source_file(file)), imports);
  std::map<std::string, Described> found;
  for (auto const nested : schema.getAllNested()) {
    if (!nested.getProto().isStruct()) continue;
    Described& described = found[nested.getShortDisplayName().cStr()];
    add_members(nested.asStruct(), described.members);
    for (auto const annotation : nested.getProto().getAnnotations())
      if (annotation.getValue().isUint16()) described.of_juice = annotation.getValue().getUint16();
  }
  return found;
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
