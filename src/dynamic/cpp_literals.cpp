// Prints a layer as a braced list of those fields that differ from their defaults.
#include "cpp_literals.hpp"

#include <coldpress/core/to_string.hpp>
#include <coldpress/typed/sentence.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace coldpress::dynamic {
namespace {

/// What the compiler calls an enumerator: "coldpress::RnnType::gru".
template <auto enumerator>
constexpr std::string_view name_of_enumerator() {
  std::string_view text = __PRETTY_FUNCTION__;
  text.remove_prefix(text.find("enumerator = ") + 13);
  return text.substr(0, text.find_first_of(";]"));
}
template <Spelled Enum>
std::string_view name_of(Enum value) {
  return [&]<std::size_t... i>(std::index_sequence<i...>) {
    constexpr std::array names{name_of_enumerator<static_cast<Enum>(i)>()...};
    return names[static_cast<std::size_t>(value)];
  }
  (std::make_index_sequence<spellings(Enum{}).size()>{});
}

/// The shortest text that is read as the same number.
std::string text_of_float(float value) {
  if (std::isnan(value)) return "std::numeric_limits<float>::quiet_NaN()";
  if (std::isinf(value)) return std::string{value < 0 ? "-" : ""} + "std::numeric_limits<float>::infinity()";
  std::array<char, 32> digits;
  std::string text{digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr};
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text + "f";
}

/// Whether a field has its default; -0 is not 0.
template <class Value>
bool is_same(Value const& a, Value const& b) {
  if constexpr (std::is_floating_point_v<Value>) {
    return a == b && std::signbit(a) == std::signbit(b);
  } else {
    return a == b;
  }
}

/// The fields of a struct between braces.
class Fields {
 public:
  void add(std::string_view field, std::string const& value) {
    text_.append(text_.empty() ? "." : ", .").append(field).append(" = ").append(value);
  }
  std::string in_braces() const { return "{" + text_ + "}"; }

 private:
  std::string text_;
};

class Literals {
 public:
  Literals(bool weights, LibraryNames& names) : weights_(weights), names_(names) {}

  /// The fields of a layer, or of a struct in it, that differ from their defaults.
  template <class Struct>
  std::string fields_of(Struct const& value) {
    Fields fields;
    for_each_field(value, Struct{}, [&](std::string_view field, auto const& here, auto const& usual) {
      if (std::is_same_v<decltype(here), Weight const&> && !weights_) return;
      if (!is_same(here, usual)) fields.add(field, literal(here));
    });
    return fields.in_braces();
  }

 private:
  template <class Value>
  std::string literal(Value const& value) {
    if constexpr (std::is_same_v<Value, bool>) {
      return value ? "true" : "false";
    } else if constexpr (std::is_floating_point_v<Value>) {
      return text_of_float(value);
    } else if constexpr (std::is_integral_v<Value>) {
      // The least number is no literal: -2147483648 is the negative of a number that is too large.
      if (std::is_signed_v<Value> && value == std::numeric_limits<Value>::min())
        return std::to_string(value + 1) + " - 1";
      return std::to_string(value) + (std::is_signed_v<Value> ? "" : "u");
    } else if constexpr (Spelled<Value>) {
      return names_(name_of(value));
    } else if constexpr (std::is_same_v<Value, Shape>) {
      return cpp_literal(value);
    } else if constexpr (NumberList<Value>) {
      if (value.count == 1 && Value{}.count == 1) return literal(*value.data());
      return listed(value.data(), static_cast<std::size_t>(value.count));
    } else if constexpr (std::is_same_v<Value, Filler>) {
      return filler(value);
    } else if constexpr (std::is_same_v<Value, Weight>) {
      Weight only{};
      only.filler = value.filler;
      return value == only && value.filler.kind != Filler::Kind::own ? filler(value.filler) : fields_of(value);
    } else if constexpr (requires { value.has_value(), *value; }) {
      return value ? literal(*value) : "{}";
    } else {
      return fields_of(value);
    }
  }
  std::string listed(auto const* values, std::size_t count) {
    std::string text = "{";
    for (std::size_t i = 0; i < count; ++i) text.append(i > 0 ? ", " : "").append(literal(values[i]));
    return text + "}";
  }
  /// The struct that people write for a filler: Gaussian{.deviation = 0.01f}.
  std::string filler(Filler const& value) {
    switch (value.kind) {
      case Filler::Kind::own:
        return "{}";
      case Filler::Kind::constant:
        return names_("Constant") + "{" + literal(value.a) + "}";
      case Filler::Kind::glorot:
        return names_("Glorot") + "{}";
      case Filler::Kind::xavier:
        return names_("Xavier") + "{}";
      case Filler::Kind::juice_bias:
        return names_("JuiceBias") + "{}";
      case Filler::Kind::gaussian: {
        Fields fields;
        if (value.a != Gaussian{}.mean) fields.add("mean", literal(value.a));
        if (value.b != Gaussian{}.deviation) fields.add("deviation", literal(value.b));
        return names_("Gaussian") + fields.in_braces();
      }
      case Filler::Kind::orthogonal: {
        Fields fields;
        if (value.a != Orthogonal{}.gain) fields.add("gain", literal(value.a));
        return names_("Orthogonal") + fields.in_braces();
      }
    }
    return "{}";  // not reached
  }

  bool weights_;
  LibraryNames& names_;
};

/// The settings of a parameter as those of a field of type Weight that now gives `own`.
Weight setting_of(Parameter const& wanted, Parameter const& own, Weight weight) {
  if (!(wanted.filler == own.filler)) weight.filler = wanted.filler;
  weight.lr_mult = wanted.lr_mult, weight.decay_mult = wanted.decay_mult;
  weight.regularizer = wanted.regularizer, weight.max_norm = wanted.max_norm;
  return weight;
}
bool same_settings(Parameter const& a, Parameter const& b) {
  return a.filler == b.filler && a.lr_mult == b.lr_mult && a.decay_mult == b.decay_mult &&
         a.regularizer == b.regularizer && a.max_norm == b.max_norm;
}

template <class L>
bool set_fields(L& layer, Shapes in, std::span<Parameter const> wanted) {
  auto const parameters = [&] {
    auto const all = parameters_of(layer, in);
    return std::vector<Parameter>(std::begin(all), std::end(all));
  };
  for_each_field(layer, [&](std::string_view, auto& field) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(field)>, Weight>) {
      // Which parameter a field is for is seen when the field changes.
      std::vector<Parameter> const before = parameters();
      Weight const own = field;
      field.lr_mult = own.lr_mult == 2 ? 3 : 2;
      std::vector<Parameter> const changed = parameters();
      field = own;
      for (std::size_t k = 0; k < wanted.size(); ++k) {
        if (changed[k].lr_mult == before[k].lr_mult) continue;
        field = setting_of(wanted[k], before[k], own);
        break;
      }
    }
  });
  return std::ranges::equal(parameters(), wanted, same_settings);
}

}  // namespace

std::string cpp_literal(Shape const& shape) { return to_string(shape); }

std::string cpp_literal(GraphLayer const& layer, bool weights, LibraryNames& names) {
  return std::visit(
      [&](auto const& value) -> std::string {
        using L = std::remove_cvref_t<decltype(value)>;
        if constexpr (std::is_same_v<L, CustomNode>) {
          throw UnsupportedError{
              "a layer of the user's own cannot be written as C++: the config does not know its type"};
        } else {
          return names(coldpress::detail::type_text<L>()) + Literals{weights, names}.fields_of(value);
        }
      },
      layer);
}

bool set_weight_fields(GraphLayer& layer, std::vector<Shape> const& in, std::span<Parameter const> wanted) {
  return std::visit(
      [&](auto& value) {
        using L = std::remove_cvref_t<decltype(value)>;
        if constexpr (std::is_same_v<L, CustomNode> || !coldpress::Layer<L>) {
          return true;
        } else {
          return set_fields(value, Shapes{in}, wanted);
        }
      },
      layer);
}

}  // namespace coldpress::dynamic
