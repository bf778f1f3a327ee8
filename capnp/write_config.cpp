// Writes the layers of a config into a message, field by field.
#include "config_tree.hpp"

namespace coldpress::persist {
namespace {

using capnp::DynamicStruct;
using dynamic::Custom;
using dynamic::LayerConfig;
using dynamic::LayerType;
using dynamic::SequentialConfig;

class Writer : Tree {
 public:
  explicit Writer(std::optional<Index> batch) : batch_(batch) {}

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
            if constexpr (requires { type.loss_average; }) put(file, "lossAverage", type.loss_average);
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
        put(params[i], "shareMode", weight.share_mode);
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
        put(inputs[i], "shape", config.inputs[i].shape);
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
      if (stands_beside(name)) return;
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
    auto const extents = extents_of(value);
    auto const name = batch_ ? field : camel_case("sample_" + field);
    auto list = file.init(text_for(name), entries(extents)).template as<capnp::List<std::uint64_t>>();
    for (unsigned i = 0; i < list.size(); ++i) list.set(i, extents[i]);
  }
  template <NumberList List>
  void put(DynamicStruct::Builder file, std::string const& field, List const& value) {
    using InFile = std::conditional_t<std::is_integral_v<dynamic::detail::NumberOf<List>>, std::uint64_t, float>;
    auto const size = static_cast<unsigned>(value.count);
    auto list = file.init(text_for(field), size).template as<capnp::List<InFile>>();
    for (unsigned i = 0; i < size; ++i) list.set(i, checked(static_cast<InFile>(value.data()[i])));
  }
  static std::uint64_t checked(std::uint64_t number) { return static_cast<std::uint64_t>(checked_number(number)); }
  static float checked(float factor) { return check_factor(factor), factor; }
  template <class Value>
  void put(DynamicStruct::Builder file, std::string const& field, Value const& value) {
    if constexpr (std::is_same_v<Value, Index>) {
      auto const member = file.getSchema().getFieldByName(text_for(field));
      check_size(static_cast<std::uint64_t>(value), member);
      file.set(member, static_cast<std::uint64_t>(value));
    } else if constexpr (std::is_same_v<Value, std::string>) {
      check_text(value);
      file.set(text_for(field), capnp::Text::Reader{text_for(value)});
    } else if constexpr (std::is_enum_v<Value>) {  // a text, or one of the schema's enumerations
      auto const type = file.getSchema().getFieldByName(text_for(field)).getType();
      if (type.isEnum()) return file.set(text_for(field), written_enumerator(type.asEnum(), value));
      file.set(text_for(field), capnp::Text::Reader{text_for(checked_spelling(value))});
    } else {
      if constexpr (std::is_same_v<Value, float>) check_number(field, value);
      file.set(text_for(field), value);
    }
  }

  void write(DynamicStruct::Builder type, Custom const& custom, std::string const&, std::size_t) {
    in_field("custom.name", [&] { check_custom_name(custom.type); });
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

  std::vector<std::uint64_t> extents_of(Shape const& shape) const {
    if (shape.rank() == 0)
      throw ConfigError{"a shape must have 1 to " + std::to_string(Shape::max_rank) + " extents, has 0"};
    Extents extents;
    if (batch_) extents.push_back(*batch_);
    extents.insert(extents.end(), shape.extents, shape.extents + shape.rank());
    check_extents(extents);
    return {extents.begin(), extents.end()};
  }

  std::optional<Index> batch_;
};

}  // namespace

std::string place_of(std::string const& container, std::size_t index, std::string const& name) {
  std::string const inside = container.substr(0, container.find(' '));
  std::string place = container.starts_with("layers[") ? inside + "." : "";
  place += "layers[" + std::to_string(index) + "]";
  std::string const shown = printable(name);
  return shown.empty() ? place : place + " " + shown;
}

void write_config(schema::LayerConfig::Builder file, dynamic::LayerConfig const& config, std::optional<Index> batch) {
  if (batch) in_field("batch", [&] { check_size(static_cast<std::uint64_t>(*batch)); });
  in_layer(printable(config.name), [&] { Writer{batch}.layer(file, config, "", 1); });
}

}  // namespace coldpress::persist
