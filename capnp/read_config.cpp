// Reads the layers of a message into a config, field by field, and knows messages that only have Juice's fields.
#include "config_tree.hpp"
#include "spelling.hpp"

#include <coldpress/persist/defaults.hpp>

#include <algorithm>
#include <cmath>

namespace coldpress::persist {
namespace {

using capnp::DynamicStruct;
using capnp::DynamicValue;
using dynamic::Custom;
using dynamic::LayerConfig;
using dynamic::LayerType;
using dynamic::SequentialConfig;

constexpr std::uint64_t own_annotation = 0x8a28a8e07e8d3cda, juice_annotation = 0xab63f0d15fa788f8;

class Reader : Tree {
 public:
  std::vector<FileShape> shapes;

  LayerConfig layer(schema::LayerConfig::Reader file, std::string const& place, std::size_t depth) {
    enter(depth);
    LayerConfig config{text_of(file.getName()), SequentialConfig{}};
    in_field("name", [&] { check_text(config.name); });
    auto const type = file.getLayerType();
    if (type.isSequential()) {
      config.layer_type = sequential(type.getSequential(), place, depth);
    } else {
      config.layer_type = leaf(type);
    }
    in_field("lossWeight", [&] { weigh(config.layer_type, file.getLossWeight()); });
    in_field("lossAverage", [&] {
      Average average{};
      read(file, "lossAverage", average);
      std::visit(
          [&](auto& loss) {
            if constexpr (requires { loss.loss_average; }) {
              loss.loss_average = average;
            } else if (average != Average::samples) {
              throw ConfigError{"only meanSquaredError and huber have one"};
            }
          },
          config.layer_type);
    });
    in_field("outputs", [&] { config.outputs = names(file.getOutputs()); });
    in_field("inputs", [&] { config.inputs = names(file.getInputs()); });
    in_field("params", [&] {
      auto const params = file.getParams();
      check_entries(params.size());
      for (auto const param : params) {
        auto& weight = config.params.emplace_back(dynamic::WeightConfig{.name = text_of(param.getName())});
        check_text(weight.name);
        if (param.hasFiller()) weight.filler = read_filler(param.getFiller());
        auto const factor = [](float value) {
          if (std::isnan(value)) return std::optional<float>{};
          check_factor(value);
          return std::optional{value};
        };
        in_field("lrMult", [&] { weight.lr_mult = factor(param.getLrMult()); });
        in_field("decayMult", [&] { weight.decay_mult = factor(param.getDecayMult()); });
        in_field("regularizer", [&] { read(param, "regularizer", weight.regularizer); });
        if (!std::isnan(param.getMaxNorm())) weight.max_norm = max_norm(param, "maxNorm");
        if (param.getShareMode() > schema::DimCheckMode::PERMISSIVE)
          throw UnsupportedError{"has a share mode that this version of coldpress does not know"};
        read(param, "shareMode", weight.share_mode);
      }
    });
    in_field("propagateDown", [&] {
      auto const propagate = file.getPropagateDown();
      check_entries(propagate.size());
      for (bool const down : propagate) config.propagate_down.push_back(down);
    });
    return config;
  }

  /// The layer as read from a file that omits all of its fields.
  template <class Layer>
  FileDefaults defaults(DynamicStruct::Reader file) {
    Layer layer{};
    std::vector<std::string> required;
    for_each_field(layer, [&](std::string_view name, auto& value) {
      if (stands_beside(name)) return;
      try {
        read(file, camel_case(name), value);
      } catch (ConfigError const&) {
        required.emplace_back(name);
      }
    });
    return {layer, std::move(required)};
  }

 private:
  static void weigh(LayerType& type, float weight) {
    check_factor(weight);
    std::visit(
        [&](auto& layer) {
          if constexpr (Loss<std::remove_cvref_t<decltype(layer)>>) {
            layer.loss_weight = weight;
          } else if (weight != 1) {
            throw ConfigError{"only a loss has a weight"};
          }
        },
        type);
  }

  SequentialConfig sequential(schema::SequentialConfig::Reader file, std::string const& place, std::size_t depth) {
    SequentialConfig config{.layers = {}, .inputs = {}, .force_backward = file.getForceBackward()};
    in_field("inputs", [&] {
      auto const inputs = file.getInputs();
      check_entries(inputs.size());
      UniqueNames unique;
      for (auto const input : inputs) {
        config.inputs.push_back({text_of(input.getName()), {}});
        unique.add(config.inputs.back().name);
        shapes.push_back(shape(input, "shape"));
      }
    });
    UniqueNames unique;
    std::size_t index = 0;
    for (auto const child : file.getLayers()) {
      std::string const child_place = place_of(place, index++, text_of(child.getName()));
      in_layer(child_place, [&] {
        config.layers.push_back(layer(child, child_place, depth + 1));
        in_field("name", [&] { unique.add(config.layers.back().name); });
      });
    }
    return config;
  }

  std::vector<std::string> names(capnp::List<capnp::Text>::Reader file) {
    check_entries(file.size());
    std::vector<std::string> result;
    for (auto const name : file) check_text(result.emplace_back(text_of(name)));
    return result;
  }

  LayerType leaf(DynamicStruct::Reader type) {
    KJ_IF_MAYBE (member, type.which()) {
      std::string const name = snake_case(text_of(member->getProto().getName()));
      LayerType result = Custom{.type = name, .fields = {}};
      if (name == "custom") return read_custom(type.get(*member).as<schema::CustomConfig>());
      if (builtin(name, type, *member, result, BuiltinLayers{}) ||
          builtin(name, type, *member, result, BuiltinLosses{}) ||
          builtin(name, type, *member, result, BuiltinStatistics{}))
        return result;
    }
    throw UnsupportedError{"is of a kind that this version of coldpress does not know"};
  }

  template <class... Layers>
  bool builtin(std::string const& name, DynamicStruct::Reader type, capnp::StructSchema::Field member,
               LayerType& result, TypeList<Layers...>) {
    return ((Layers::name == name && (result = fields<Layers>(type.get(member)), true)) || ...);
  }

  template <class Layer>
  Layer fields(DynamicValue::Reader file) {
    Layer layer{};
    for_each_field(layer, [&](std::string_view name, auto& value) {
      if (stands_beside(name)) return;
      std::string const field = camel_case(name);
      in_field(field, [&] { read(file.as<DynamicStruct>(), field, value); });
    });
    return layer;
  }

  /// Whether the field is omitted and the layer's struct has its default.
  static bool is_own(DynamicStruct::Reader file, std::string const& field) {
    auto const member = file.getSchema().getFieldByName(text_for(field));
    if (!is_annotated(member, own_annotation)) return false;
    auto const value = file.get(member);
    return value.getType() == DynamicValue::TEXT ? value.as<capnp::Text>().size() == 0 : value.as<std::uint64_t>() == 0;
  }

  void read(DynamicStruct::Reader file, std::string const& field, Index& value) {
    if (is_own(file, field)) return;
    auto const member = file.getSchema().getFieldByName(text_for(field));
    auto const size = file.get(member).as<std::uint64_t>();
    check_size(size, member);
    value = static_cast<Index>(size);
  }
  void read(DynamicStruct::Reader file, std::string const& field, float& value) {
    value = file.get(text_for(field)).as<float>();
    check_number(field, value);
  }
  void read(DynamicStruct::Reader file, std::string const& field, int& value) {
    value = file.get(text_for(field)).as<std::int32_t>();
  }
  void read(DynamicStruct::Reader file, std::string const& field, bool& value) {
    value = file.get(text_for(field)).as<bool>();
  }
  void read(DynamicStruct::Reader file, std::string const& field, std::uint64_t& value) {
    value = file.get(text_for(field)).as<std::uint64_t>();
  }
  void read(DynamicStruct::Reader file, std::string const& field, std::string& value) {
    check_text(value = text_of(file.get(text_for(field)).as<capnp::Text>()));
  }
  // A filler, and the fields weightLrMult, weightDecayMult, weightRegularizer, weightMaxNorm and weightMaxNormEvery.
  void read(DynamicStruct::Reader file, std::string const& field, Weight& value) {
    if (file.has(text_for(field))) value.filler = read_filler(file.get(text_for(field)).as<schema::Filler>());
    check_factor(value.lr_mult = file.get(text_for(field + "LrMult")).as<float>());
    check_factor(value.decay_mult = file.get(text_for(field + "DecayMult")).as<float>());
    read(file, field + "Regularizer", value.regularizer);
    value.max_norm = max_norm(file, field + "MaxNorm");
  }
  MaxNorm max_norm(DynamicStruct::Reader file, std::string const& field) {
    MaxNorm bound;
    check_factor(bound.norm = file.get(text_for(field)).as<float>());
    in_field(field + "Every", [&] { read(file, field + "Every", bound.every); });
    return bound;
  }
  void read(DynamicStruct::Reader file, std::string const& field, Shape&) { shapes.push_back(shape(file, field)); }
  /// The shape in `field`, with the batch first, or in the field beside it, without a batch: "shape" or "sampleShape".
  static FileShape shape(DynamicStruct::Reader file, std::string const& field) {
    std::string sample = "sample" + field;
    sample[6] = static_cast<char>(sample[6] - 'a' + 'A');
    auto const list = [&](std::string const& name) {
      return file.get(text_for(name)).as<capnp::List<std::uint64_t>>();
    };
    if (list(sample).size() > 0 && list(field).size() > 0)
      throw ConfigError{"'" + field + "' (with the batch first) and '" + sample +
                        "' (without a batch) are both given; give only one of them"};
    if (list(sample).size() > 0) return {read_extents(list(sample), Shape::max_rank), true};
    if (list(field).size() > 0) return {read_extents(list(field), max_file_rank), false};
    throw ConfigError{"a shape must have 1 to " + std::to_string(max_file_rank) +
                      " extents, has 0: give the shape of one sample as '" + sample + "'"};
  }
  template <class Enum>
  void read(DynamicStruct::Reader file, std::string const& field, Enum& value) requires(std::is_enum_v<Enum>) {
    auto const found = file.get(text_for(field));
    if (found.getType() == DynamicValue::ENUM) {
      value = read_enumerator<Enum>(found.as<capnp::DynamicEnum>());
    } else {
      read_text(file, field, value);
    }
  }
  template <class Enum>
  void read_text(DynamicStruct::Reader file, std::string const& field, Enum& value) {
    std::string text = text_of(file.get(text_for(field)).as<capnp::Text>());
    check_text(text);
    if (is_own(file, field)) return;
    if (text == "RelU") text = "ReLU";  // Juice's spelling
    auto const found = enumerator<Enum>(text);
    auto const known = spellings(value);
    if (!found)
      throw ConfigError{"'" + printable(text) + "' is not one of " + joined(known) +
                        suggestion(text, {known.begin(), known.end()})};
    value = *found;
  }
  template <NumberList List>
  void read(DynamicStruct::Reader file, std::string const& field, List& value) {
    using Number = dynamic::detail::NumberOf<List>;
    using InFile = std::conditional_t<std::is_integral_v<Number>, std::uint64_t, float>;
    auto const numbers = file.get(text_for(field)).as<capnp::List<InFile>>();
    if (numbers.size() == 0) return;  // the layer's own
    if (numbers.size() > List::max)
      throw ConfigError{"has " + std::to_string(numbers.size()) + " numbers, at most " + std::to_string(List::max) +
                        " " + std::string{List::limit}};
    std::vector<Number> all;
    for (InFile const number : numbers) all.push_back(read_number<List>(number));
    value = List::of(all.data(), static_cast<int>(all.size()));
  }
  template <class List>
  static auto read_number(std::uint64_t number) {
    auto const one = dynamic::detail::number_of<List>(number);
    return checked_number(number), one;
  }
  template <class List>
  static float read_number(float factor) {
    return check_factor(factor), factor;
  }

  static double finite(double value) {
    if (!std::isfinite(value)) throw ConfigError{"must be a finite number, is " + std::to_string(value)};
    return value;
  }
  static std::vector<std::uint64_t> naturals(capnp::List<std::uint64_t>::Reader file) {
    check_entries(file.size());
    std::vector<std::uint64_t> result;
    for (auto const natural : file) result.push_back(natural);
    return result;
  }

  Custom read_custom(schema::CustomConfig::Reader file) {
    Custom custom{.type = text_of(file.getName()), .fields = {}};
    in_field("custom.name", [&] { check_custom_name(custom.type); });
    in_field("custom.fields", [&] {
      check_entries(file.getFields().size());
      UniqueNames unique;
      for (auto const field : file.getFields()) {
        auto const name = text_of(field.getName());
        unique.add(name);
        custom.fields.emplace_back(name, in_field("custom." + printable(name), [&] { return value_of(field); }));
      }
    });
    return custom;
  }

  static Custom::Value value_of(schema::CustomField::Reader file) {
    switch (file.which()) {
      case schema::CustomField::INTEGER:
        return file.getInteger();
      case schema::CustomField::NATURAL:
        return file.getNatural();
      case schema::CustomField::NUMBER:
        return finite(file.getNumber());
      case schema::CustomField::FLAG:
        return file.getFlag();
      case schema::CustomField::TEXT: {
        auto text = text_of(file.getText());
        check_text(text);
        return text;
      }
      case schema::CustomField::EXTENTS:
        return naturals(file.getExtents());
      default:
        throw UnsupportedError{"has a type that this version of coldpress does not know"};
    }
  }
};

}  // namespace

FileConfig read_config(schema::LayerConfig::Reader file) {
  Reader reader;
  std::string const name = printable(text_of(file.getName()));
  auto config = in_layer(name, [&] { return reader.layer(file, "", 1); });
  return {std::move(config), std::move(reader.shapes)};
}

FileDefaults defaults_in_file(dynamic::LayerType const& kind) {
  return std::visit(
      [](auto const& layer) -> FileDefaults {
        using Kind = std::remove_cvref_t<decltype(layer)>;
        if constexpr (std::is_same_v<Kind, Custom> || std::is_same_v<Kind, SequentialConfig>) {
          return {Kind{}, {}};
        } else {
          capnp::MallocMessageBuilder message;
          DynamicStruct::Builder type = message.initRoot<schema::LayerConfig>().getLayerType();
          auto const member = type.getSchema().getFieldByName(text_for(camel_case(Kind::name)));
          if (member.getType().isVoid()) return {Kind{}, {}};
          return Reader{}.defaults<Kind>(type.init(member).template as<DynamicStruct>().asReader());
        }
      },
      kind);
}

namespace {

/// Whether only Juice's fields are set. `members` is how many of the struct's members are Juice's; a group is counted
/// like the struct around it.
bool has_only(DynamicStruct::Reader fields, unsigned members) {
  auto const is_known = [](DynamicValue::Reader const& value) {
    if (value.getType() != DynamicValue::STRUCT) return true;
    return may_be_juice(value.as<DynamicStruct>());
  };
  for (auto const field : fields.getSchema().getFields()) {
    bool given = fields.has(field, capnp::HasMode::NON_DEFAULT);
    if (field.getProto().getDiscriminantValue() != capnp::schema::Field::NO_DISCRIMINANT) {
      given = false;
      KJ_IF_MAYBE (member, fields.which()) {
        given = *member == field;
      }
    }
    if (field.getProto().isGroup()) {
      if (!has_only(fields.get(field).as<DynamicStruct>(), members)) return false;
      continue;
    }
    if (!given) continue;
    if (field.getProto().getOrdinal().getExplicit() >= members) return false;
    auto const type = field.getType();
    if (type.isStruct()) {
      if (!is_known(fields.get(field))) return false;
    } else if (type.isList() && type.asList().getElementType().isStruct()) {
      for (auto const element : fields.get(field).as<capnp::DynamicList>())
        if (!is_known(element)) return false;
    }
  }
  return true;
}

}  // namespace

bool may_be_juice(DynamicStruct::Reader root) {
  for (auto const one : root.getSchema().getProto().getAnnotations())
    if (one.getId() == juice_annotation) return has_only(root, one.getValue().getUint16());
  return false;
}

}  // namespace coldpress::persist
