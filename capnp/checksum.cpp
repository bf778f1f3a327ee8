// Hashes the names and values of all fields that are set, whatever order and layout the bytes have.
#include "checksum.hpp"

#include <coldpress/core/random.hpp>

#include <bit>

namespace coldpress::persist {
namespace {

using capnp::DynamicValue;

class Fold {
 public:
  std::uint64_t state() const { return state_; }

  void add(capnp::DynamicStruct::Reader fields, bool root = false) {
    for (auto field : fields.getSchema().getFields()) {
      bool const chosen = field.getProto().getDiscriminantValue() != capnp::schema::Field::NO_DISCRIMINANT;
      if (!fields.has(field, chosen ? capnp::HasMode::NON_NULL : capnp::HasMode::NON_DEFAULT)) {
        // A chosen member that is a null pointer is still chosen.
        if (chosen && is_chosen(fields, field)) add(field.getProto().getName());
        continue;
      }
      auto const name = field.getProto().getName();
      if (root && (name == "checksum" || name == "checksumKind")) continue;
      auto const value = fields.get(field);
      if (!chosen && is_empty(value)) continue;
      add(name);
      add(value);
    }
    add(std::uint64_t{0});
  }

 private:
  static bool is_chosen(capnp::DynamicStruct::Reader fields, capnp::StructSchema::Field field) {
    KJ_IF_MAYBE (member, fields.which()) {
      return *member == field;
    }
    return false;
  }
  static bool is_empty(DynamicValue::Reader const& value) {
    return (value.getType() == DynamicValue::TEXT && value.as<capnp::Text>().size() == 0) ||
           (value.getType() == DynamicValue::LIST && value.as<capnp::DynamicList>().size() == 0);
  }

  void add(std::uint64_t word) { state_ = mix(state_, word); }
  void add(capnp::Text::Reader text) {
    add(std::uint64_t{text.size()});
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      word |= std::uint64_t{static_cast<unsigned char>(text[i])} << i % 8 * 8;
      if (i % 8 == 7 || i + 1 == text.size()) add(std::exchange(word, 0));
    }
  }
  void add(capnp::List<float>::Reader floats) {
    for (unsigned i = 0; i < floats.size(); i += 2) {
      std::uint64_t const next = i + 1 < floats.size() ? std::bit_cast<std::uint32_t>(floats[i + 1]) : 0;
      add(std::bit_cast<std::uint32_t>(floats[i]) | next << 32);
    }
  }
  void add(DynamicValue::Reader const& value) {
    switch (value.getType()) {
      case DynamicValue::VOID:
        return;
      case DynamicValue::BOOL:
        return add(std::uint64_t{value.as<bool>()});
      case DynamicValue::INT:
        return add(static_cast<std::uint64_t>(value.as<std::int64_t>()));
      case DynamicValue::UINT:
        return add(value.as<std::uint64_t>());
      case DynamicValue::FLOAT:
        return add(std::bit_cast<std::uint64_t>(value.as<double>()));
      case DynamicValue::ENUM:
        return add(std::uint64_t{value.as<capnp::DynamicEnum>().getRaw()});
      case DynamicValue::TEXT:
        return add(value.as<capnp::Text>());
      case DynamicValue::STRUCT:
        return add(value.as<capnp::DynamicStruct>());
      case DynamicValue::LIST: {
        auto const list = value.as<capnp::DynamicList>();
        add(std::uint64_t{list.size()});
        if (list.getSchema().whichElementType() == capnp::schema::Type::FLOAT32)
          return add(list.as<capnp::List<float>>());
        for (auto const element : list) add(element);
        return;
      }
      default:
        throw UnsupportedError{"the schema has a type of field that checksums do not cover"};
    }
  }

  std::uint64_t state_ = 0;
};

}  // namespace

std::uint64_t checksum(capnp::DynamicStruct::Reader root) {
  Fold fold;
  fold.add(root, true);
  return fold.state() == 0 ? 1 : fold.state();
}

}  // namespace coldpress::persist
