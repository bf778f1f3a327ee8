#include "config.hpp"

#include "message.hpp"

#include <cmath>

namespace coldpress::persist {
namespace {

using capnp::DynamicStruct;
using capnp::DynamicValue;
using dynamic::Custom;
using dynamic::LayerConfig;
using dynamic::LayerType;
using dynamic::SequentialConfig;

constexpr std::size_t max_layers = 65536;
constexpr unsigned max_entries = 65536;                  // of any other list in a configuration
constexpr unsigned max_file_rank = Shape::max_rank + 1;  // with the batch

template <class Action>
decltype(auto) in_field(std::string const& field, Action&& action) {
  return with_context([&]() -> decltype(auto) { return translated(action); },
                      [&](Error& error) { error.in_field(field); });
}

template <class Action>
decltype(auto) in_layer(std::string const& place, Action&& action) {
  return with_context([&]() -> decltype(auto) { return translated(action); },
                      [&](Error& error) {
                        if (!place.empty()) error.in_layer(place);
                      });
}

void check_entries(std::size_t entries) {
  if (entries > max_entries)
    throw ConfigError{"has " + std::to_string(entries) + " entries, at most " + std::to_string(max_entries) +
                      " are possible"};
}

/// One of PerAxis; a layer knows which may be zero.
Index checked_number(std::uint64_t number) {
  if (number > std::uint64_t{1} << 40) throw ConfigError{"must be at most 2^40, is " + std::to_string(number)};
  return static_cast<Index>(number);
}

/// The containers around a layer, and what is counted over the whole tree.
class Tree {
 public:
  void enter(std::size_t depth) {
    if (++layers_ > max_layers) throw ConfigError{"more than " + std::to_string(max_layers) + " layers"};
    if (depth > max_nesting)
      throw ConfigError{"more than " + std::to_string(max_nesting) + " layers inside each other"};
  }

 private:
  std::size_t layers_ = 0;
};

class Reader : Tree {
 public:
  std::vector<Extents> shapes;

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
        weight.share_mode = static_cast<dynamic::DimCheckMode>(param.getShareMode());
      }
    });
    in_field("propagateDown", [&] {
      auto const propagate = file.getPropagateDown();
      check_entries(propagate.size());
      for (bool const down : propagate) config.propagate_down.push_back(down);
    });
    return config;
  }

 private:
  /// A loss's weight stands beside its kind, since Juice's schema has losses without fields.
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
        shapes.push_back(read_extents(input.getShape(), max_file_rank));
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
      if (name == "custom") return stranger(type.get(*member).as<schema::CustomConfig>());
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
      if (name == "loss_weight") return;
      std::string const field = camel_case(name);
      in_field(field, [&] { read(file.as<DynamicStruct>(), field, value); });
    });
    return layer;
  }

  void read(DynamicStruct::Reader file, std::string const& field, Index& value) {
    auto const size = file.get(text_for(field)).as<std::uint64_t>();
    check_size(size);
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
  // A filler, and beside it weightLrMult, weightDecayMult, weightRegularizer, weightMaxNorm and weightMaxNormEvery.
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
  void read(DynamicStruct::Reader file, std::string const& field, Shape&) {
    shapes.push_back(read_extents(file.get(text_for(field)).as<capnp::List<std::uint64_t>>(), max_file_rank));
  }
  template <Spelled Enum>
  void read(DynamicStruct::Reader file, std::string const& field, Enum& value) {
    std::string text = text_of(file.get(text_for(field)).as<capnp::Text>());
    check_text(text);
    if (text == "RelU") text = "ReLU";  // as Juice writes it
    std::string known;
    for (std::size_t i = 0; i < spellings(value).size(); ++i) {
      if (spellings(value)[i] == text) {
        value = static_cast<Enum>(i);
        return;
      }
      known.append(i ? ", " : "").append(spellings(value)[i]);
    }
    throw ConfigError{"'" + text + "' is none of " + known};
  }
  void read(DynamicStruct::Reader file, std::string const& field, PerAxis& value) {
    auto const numbers = file.get(text_for(field)).as<capnp::List<std::uint64_t>>();
    if (numbers.size() == 0) return;  // the layer's own
    if (numbers.size() > PerAxis::max_axes)
      throw ConfigError{"has " + std::to_string(numbers.size()) + " numbers, at most " +
                        std::to_string(PerAxis::max_axes) + " axes are possible"};
    auto const at = [&](unsigned axis) { return checked_number(numbers[axis]); };
    value = numbers.size() == 1   ? PerAxis{at(0)}
            : numbers.size() == 2 ? PerAxis{at(0), at(1)}
                                  : PerAxis{at(0), at(1), at(2)};
  }
  void read(DynamicStruct::Reader file, std::string const& field, Axes& value) {
    auto const numbers = file.get(text_for(field)).as<capnp::List<std::uint64_t>>();
    if (numbers.size() > Axes::max)
      throw ConfigError{"has " + std::to_string(numbers.size()) + " numbers, at most " + std::to_string(Axes::max) +
                        " axes are possible"};
    for (unsigned i = 0; i < numbers.size(); ++i) {
      if (numbers[i] >= Axes::max) throw ConfigError{"there is no axis " + std::to_string(numbers[i])};
      value.order[i] = static_cast<int>(numbers[i]);
    }
    value.count = static_cast<int>(numbers.size());
  }
  void read(DynamicStruct::Reader file, std::string const& field, ClassWeights& value) {
    auto const numbers = file.get(text_for(field)).as<capnp::List<float>>();
    if (numbers.size() > ClassWeights::max)
      throw ConfigError{"has " + std::to_string(numbers.size()) + " numbers, at most " +
                        std::to_string(ClassWeights::max) + " classes can be weighed"};
    for (unsigned i = 0; i < numbers.size(); ++i) check_factor(value.factors[i] = numbers[i]);
    value.count = static_cast<int>(numbers.size());
  }
  // Enumerators are in the same order in the schema.
  template <class Enum>
  void read(DynamicStruct::Reader file, std::string const& field,
            Enum& value) requires(std::is_enum_v<Enum> && !Spelled<Enum>) {
    auto const enumerator = file.get(text_for(field)).as<capnp::DynamicEnum>();
    if (enumerator.getRaw() >= enumerator.getSchema().getEnumerants().size())
      throw UnsupportedError{"has a value that this version of coldpress does not know"};
    value = static_cast<Enum>(enumerator.getRaw());
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

  Custom stranger(schema::CustomConfig::Reader file) {
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

 public:
  static void check_custom_name(std::string const& name) {
    check_text(name);
    if (name.empty()) throw ConfigError{"a custom layer needs the name of its type"};
    for (auto const member : capnp::Schema::from<schema::LayerConfig::LayerType>().getUnionFields())
      if (snake_case(text_of(member.getProto().getName())) == name)
        throw ConfigError{"a custom layer must not be called '" + name + "', the name of another kind of layer"};
  }
};

class Writer : Tree {
 public:
  explicit Writer(Index batch) : batch_(batch) {}

  void layer(schema::LayerConfig::Builder file, LayerConfig const& config, std::string const& place,
             std::size_t depth) {
    enter(depth);
    in_field("name", [&] {
      check_text(config.name);
      file.setName(text_for(config.name));
    });
    std::visit(
        [&](auto const& type) {
          write(file.getLayerType(), type, place, depth);
          if constexpr (Loss<std::remove_cvref_t<decltype(type)>>) {
            in_field("lossWeight", [&] { check_factor(type.loss_weight); });
            file.setLossWeight(type.loss_weight);
          }
        },
        config.layer_type);
    in_field("outputs", [&] { names(file.initOutputs(entries(config.outputs)), config.outputs); });
    in_field("inputs", [&] { names(file.initInputs(entries(config.inputs)), config.inputs); });
    in_field("params", [&] {
      auto params = file.initParams(entries(config.params));
      for (unsigned i = 0; i < params.size(); ++i) {
        check_text(config.params[i].name);
        params[i].setName(text_for(config.params[i].name));
        auto const& weight = config.params[i];
        if (weight.filler) write_filler(params[i].initFiller(), *weight.filler);
        for (auto const& factor : {weight.lr_mult, weight.decay_mult})
          if (factor) check_factor(*factor);
        if (weight.lr_mult) params[i].setLrMult(*weight.lr_mult);
        if (weight.decay_mult) params[i].setDecayMult(*weight.decay_mult);
        put(params[i], "regularizer", weight.regularizer);
        if (weight.max_norm) put(params[i], "maxNorm", *weight.max_norm);
        params[i].setShareMode(static_cast<schema::DimCheckMode>(weight.share_mode));
      }
    });
    in_field("propagateDown", [&] {
      auto propagate = file.initPropagateDown(entries(config.propagate_down));
      for (unsigned i = 0; i < propagate.size(); ++i) propagate.set(i, config.propagate_down[i]);
    });
  }

 private:
  template <class List>
  static unsigned entries(List const& list) {
    check_entries(list.size());
    return static_cast<unsigned>(list.size());
  }
  static void names(capnp::List<capnp::Text>::Builder file, std::vector<std::string> const& names) {
    for (unsigned i = 0; i < file.size(); ++i) {
      check_text(names[i]);
      file.set(i, text_for(names[i]));
    }
  }

  void write(schema::LayerConfig::LayerType::Builder type, SequentialConfig const& config, std::string const& place,
             std::size_t depth) {
    auto file = type.initSequential();
    file.setForceBackward(config.force_backward);
    in_field("inputs", [&] {
      auto inputs = file.initInputs(entries(config.inputs));
      UniqueNames unique;
      for (unsigned i = 0; i < inputs.size(); ++i) {
        unique.add(config.inputs[i].name);
        inputs[i].setName(text_for(config.inputs[i].name));
        auto const extents = with_batch(config.inputs[i].shape);
        inputs[i].setShape({extents.data(), extents.size()});
      }
    });
    if (config.layers.size() > max_layers) throw ConfigError{"more than " + std::to_string(max_layers) + " layers"};
    auto layers = file.initLayers(static_cast<unsigned>(config.layers.size()));
    UniqueNames unique;
    for (unsigned i = 0; i < layers.size(); ++i) {
      std::string const child_place = place_of(place, i, config.layers[i].name);
      in_layer(child_place, [&] {
        in_field("name", [&] { unique.add(config.layers[i].name); });
        layer(layers[i], config.layers[i], child_place, depth + 1);
      });
    }
  }

  template <class Layer>
  void write(DynamicStruct::Builder type, Layer const& layer, std::string const&, std::size_t) {
    auto const member = type.getSchema().getFieldByName(text_for(camel_case(Layer::name)));
    if (member.getType().isVoid()) return type.set(member, capnp::VOID);
    auto file = type.init(member).template as<DynamicStruct>();
    for_each_field(layer, [&](std::string_view name, auto const& value) {
      if (name == "loss_weight") return;
      std::string const field = camel_case(name);
      in_field(field, [&] { put(file, field, value); });
    });
  }

  void put(DynamicStruct::Builder file, std::string const& field, Weight const& value) {
    if (value.filler != Filler{}) write_filler(file.init(text_for(field)).template as<schema::Filler>(), value.filler);
    check_factor(value.lr_mult), check_factor(value.decay_mult);
    file.set(text_for(field + "LrMult"), value.lr_mult);
    file.set(text_for(field + "DecayMult"), value.decay_mult);
    put(file, field + "Regularizer", value.regularizer);
    put(file, field + "MaxNorm", value.max_norm);
  }
  void put(DynamicStruct::Builder file, std::string const& field, MaxNorm const& value) {
    check_factor(value.norm);
    file.set(text_for(field), value.norm);
    put(file, field + "Every", value.every);
  }
  void put(DynamicStruct::Builder file, std::string const& field, Shape const& value) {
    auto const extents = with_batch(value);
    auto list = file.init(text_for(field), entries(extents)).template as<capnp::List<std::uint64_t>>();
    for (unsigned i = 0; i < list.size(); ++i) list.set(i, extents[i]);
  }
  void put(DynamicStruct::Builder file, std::string const& field, PerAxis const& value) {
    auto list =
        file.init(text_for(field), static_cast<unsigned>(value.count)).template as<capnp::List<std::uint64_t>>();
    for (unsigned i = 0; i < list.size(); ++i) {
      auto const number = static_cast<std::uint64_t>(value[static_cast<int>(i)]);
      list.set(i, static_cast<std::uint64_t>(checked_number(number)));
    }
  }
  void put(DynamicStruct::Builder file, std::string const& field, Axes const& value) {
    auto list =
        file.init(text_for(field), static_cast<unsigned>(value.count)).template as<capnp::List<std::uint64_t>>();
    for (unsigned i = 0; i < list.size(); ++i) list.set(i, static_cast<std::uint64_t>(value.order[i]));
  }
  void put(DynamicStruct::Builder file, std::string const& field, ClassWeights const& value) {
    auto list = file.init(text_for(field), static_cast<unsigned>(value.count)).template as<capnp::List<float>>();
    for (unsigned i = 0; i < list.size(); ++i) {
      check_factor(value.factors[i]);
      list.set(i, value.factors[i]);
    }
  }
  template <class Value>
  void put(DynamicStruct::Builder file, std::string const& field, Value const& value) {
    if constexpr (std::is_same_v<Value, Index>) {
      check_size(static_cast<std::uint64_t>(value));
      file.set(text_for(field), static_cast<std::uint64_t>(value));
    } else if constexpr (std::is_same_v<Value, std::string>) {
      check_text(value);
      file.set(text_for(field), capnp::Text::Reader{text_for(value)});
    } else if constexpr (Spelled<Value>) {
      auto const number = static_cast<std::size_t>(value);
      if (number >= spellings(value).size()) throw ConfigError{"is no value of it"};
      file.set(text_for(field), capnp::Text::Reader{text_for(std::string{spellings(value)[number]})});
    } else if constexpr (std::is_enum_v<Value>) {
      auto const type = file.getSchema().getFieldByName(text_for(field)).getType().asEnum();
      file.set(text_for(field), capnp::DynamicEnum{type, static_cast<std::uint16_t>(value)});
    } else {
      if constexpr (std::is_same_v<Value, float>) check_number(field, value);
      file.set(text_for(field), value);
    }
  }

  void write(DynamicStruct::Builder type, Custom const& custom, std::string const&, std::size_t) {
    in_field("custom.name", [&] { Reader::check_custom_name(custom.type); });
    auto file = type.init("custom").as<schema::CustomConfig>();
    file.setName(text_for(custom.type));
    auto fields = file.initFields(entries(custom.fields));
    UniqueNames unique;
    for (unsigned i = 0; i < fields.size(); ++i) {
      auto const& field = custom.fields[i];
      in_field("custom." + printable(field.first), [&] {
        unique.add(field.first);
        fields[i].setName(text_for(field.first));
        std::visit([&](auto const& value) { put(fields[i], value); }, field.second);
      });
    }
  }

  static void put(schema::CustomField::Builder file, std::int64_t value) { file.setInteger(value); }
  static void put(schema::CustomField::Builder file, std::uint64_t value) { file.setNatural(value); }
  static void put(schema::CustomField::Builder file, double value) { file.setNumber(value); }
  static void put(schema::CustomField::Builder file, bool value) { file.setFlag(value); }
  static void put(schema::CustomField::Builder file, std::string const& value) {
    check_text(value);
    file.setText(text_for(value));
  }
  static void put(schema::CustomField::Builder file, std::vector<std::uint64_t> const& value) {
    file.initExtents(entries(value));
    file.setExtents({value.data(), value.size()});
  }

  std::vector<std::uint64_t> with_batch(Shape const& shape) const {
    if (shape.rank() == 0)
      throw ConfigError{"a shape must have 1 to " + std::to_string(Shape::max_rank) + " extents, has 0"};
    Extents extents{batch_};
    extents.insert(extents.end(), shape.extents, shape.extents + shape.rank());
    check_extents(extents);
    return {extents.begin(), extents.end()};
  }

  Index batch_;
};

}  // namespace

std::string place_of(std::string const& container, std::size_t index, std::string const& name) {
  std::string const inside = container.substr(0, container.find(' '));
  std::string place = container.starts_with("layers[") ? inside + "." : "";
  place += "layers[" + std::to_string(index) + "]";
  std::string const shown = printable(name);
  return shown.empty() ? place : place + " " + shown;
}

FileConfig read_config(schema::LayerConfig::Reader file) {
  Reader reader;
  std::string const name = printable(text_of(file.getName()));
  auto config = in_layer(name, [&] { return reader.layer(file, "", 1); });
  return {std::move(config), std::move(reader.shapes)};
}

void write_config(schema::LayerConfig::Builder file, dynamic::LayerConfig const& config, Index batch) {
  in_field("batch", [&] { check_size(static_cast<std::uint64_t>(batch)); });
  in_layer(printable(config.name), [&] { Writer{batch}.layer(file, config, "", 1); });
}

}  // namespace coldpress::persist
