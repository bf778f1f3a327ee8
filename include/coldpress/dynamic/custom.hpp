// Custom layers as data: the name of a type, and fields that a file can hold.
#pragma once

#include <coldpress/core/enumerator.hpp>
#include <coldpress/core/for_each_field.hpp>
#include <coldpress/core/geometry.hpp>
#include <coldpress/core/layer.hpp>
#include <coldpress/layers/permute.hpp>

#include <boost/hana/concept/struct.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace coldpress::dynamic {

/// A layer as its type's name and its fields. It can run if its type is registered (register_layer.hpp); any can be
/// inspected and written again.
struct Custom {
  using Value = std::variant<std::int64_t, std::uint64_t, double, bool, std::string, std::vector<std::uint64_t>>;
  std::string type;
  std::vector<std::pair<std::string, Value>> fields;
  bool operator==(Custom const&) const = default;
};

/// A layer whose fields have names.
template <class L>
concept Described = coldpress::Layer<L> && boost::hana::Struct<L>::value;

namespace detail {

/// Calls f(name, value) for every part of a field. The first part has the name of the field: those of a Weight are
/// called "weight", "weight.lr_mult" and so on.
template <class Field, class F>
void for_each_value(std::string const& name, Field& field, F const& f) {
  using T = std::remove_const_t<Field>;
  if constexpr (boost::hana::Struct<T>::value && !NumberList<T> && !std::is_same_v<T, Shape>) {
    bool first = true;
    for_each_field(field, [&](std::string_view part, auto& value) {
      for_each_value(std::exchange(first, false) ? name : name + "." + std::string{part}, value, f);
    });
  } else {
    f(name, field);
  }
}

template <NumberList L>
using NumberOf = std::remove_cvref_t<decltype(*L{}.data())>;
template <class L>
concept WholeNumberList = NumberList<L> && std::is_integral_v<NumberOf<L>>;
/// Converts a number from a file to one of the list's type, where an int is an axis. Throws ConfigError if there is no
/// such axis.
template <WholeNumberList L>
NumberOf<L> number_of(std::uint64_t number) {
  if (std::is_same_v<NumberOf<L>, int> && number >= std::uint64_t{L::max})
    throw ConfigError{"there is no axis " + std::to_string(number)};
  return static_cast<NumberOf<L>>(number);
}

template <class T>
Custom::Value value_of(T const& field) {
  if constexpr (std::is_same_v<T, Shape>) {
    return std::vector<std::uint64_t>(field.extents, field.extents + field.rank());
  } else if constexpr (WholeNumberList<T>) {
    return std::vector<std::uint64_t>(field.data(), field.data() + field.count);
  } else if constexpr (std::is_enum_v<T>) {
    static_assert(Spelled<T>, "register_layer: a field that is an enumeration needs spellings(value), its texts");
    return std::string{spelling(field)};
  } else if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::string>) {
    return field;
  } else if constexpr (std::is_floating_point_v<T>) {
    return double{field};
  } else {
    static_assert(std::is_integral_v<T>,
                  "register_layer: a field is a number, bool, string, enumeration, Shape, PerAxis, Axes or Weight");
    if constexpr (std::is_signed_v<T>) {
      return std::int64_t{field};
    } else {
      return std::uint64_t{field};
    }
  }
}

template <class T>
void check_kind(T const* found, char const* kind) {
  if (!found) throw ConfigError{std::string{"must be "} + kind};
}
inline std::vector<Index> extents_of(Custom::Value const& value, std::size_t most) {
  auto const* const extents = std::get_if<std::vector<std::uint64_t>>(&value);
  check_kind(extents, "a list of extents");
  if (extents->size() > most) throw ConfigError{"has more than " + std::to_string(most) + " extents"};
  for (std::uint64_t const extent : *extents) {
    if (extent > std::uint64_t{1} << 40) throw ConfigError{"has an extent above 2^40"};
  }
  return {extents->begin(), extents->end()};
}
/// Throws ConfigError if the value has a different type, or is not possible for the field.
template <class T>
void take(Custom::Value const& value, T& field) {
  if constexpr (std::is_same_v<T, Shape>) {
    auto const extents = extents_of(value, Shape::max_rank);
    field = {};
    for (std::size_t i = 0; i < extents.size(); ++i) {
      if (extents[i] < 1) throw ConfigError{"an extent must be at least 1"};
      field.extents[i] = extents[i];
    }
  } else if constexpr (WholeNumberList<T>) {
    std::vector<NumberOf<T>> all;
    for (Index const one : extents_of(value, T::max)) all.push_back(number_of<T>(static_cast<std::uint64_t>(one)));
    if (all.empty() && T{}.count > 0) throw ConfigError{"has no number"};
    field = T::of(all.data(), static_cast<int>(all.size()));
  } else if constexpr (std::is_enum_v<T>) {
    auto const* const text = std::get_if<std::string>(&value);
    check_kind(text, "a text");
    auto const found = enumerator<T>(*text);
    if (!found) throw ConfigError{"'" + *text + "' is not one of " + joined(spellings(T{}))};
    field = *found;
  } else if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::string>) {
    auto const* const found = std::get_if<T>(&value);
    check_kind(found, std::is_same_v<T, bool> ? "a flag" : "a text");
    field = *found;
  } else if constexpr (std::is_floating_point_v<T>) {
    auto const* const number = std::get_if<double>(&value);
    check_kind(number, "a number");
    if (!(std::abs(*number) <= double{std::numeric_limits<T>::max()})) throw ConfigError{"must be a finite number"};
    field = static_cast<T>(*number);
  } else {
    auto const assign = [&](auto const* whole) {
      if (!whole) return false;
      if (!std::in_range<T>(*whole)) throw ConfigError{"is out of range: " + std::to_string(*whole)};
      field = static_cast<T>(*whole);
      return true;
    };
    if (!assign(std::get_if<std::int64_t>(&value)) && !assign(std::get_if<std::uint64_t>(&value)))
      throw ConfigError{"must be a whole number"};
  }
}

}  // namespace detail

/// The layer as data, from which layer_from makes an equal layer. `weights` says whether its Weights are included,
/// which describe how it is initialised and trained but not what it computes.
template <coldpress::Layer L>
Custom custom_of(L const& layer, bool weights = true) {
  constexpr bool named = Described<L>;
  static_assert(named, "a layer in a config or a file must have named fields: COLDPRESS_FIELDS(TYPE, FIELDS...)");
  Custom custom{std::string{L::name}, {}};
  if constexpr (named)
    for_each_field(layer, [&](std::string_view name, auto const& field) {
      if (!weights && std::is_same_v<decltype(field), Weight const&>) return;
      detail::for_each_value(std::string{name}, field, [&](std::string const& part, auto const& value) {
        custom.fields.emplace_back(part, detail::value_of(value));
      });
    });
  return custom;
}

/// What a config or a file can only have if it is built in.
template <class L>
concept NeverCustom = coldpress::Loss<L> || coldpress::Statistic<L>;
template <NeverCustom L>
Custom custom_of(L const&, bool = true) {
  static_assert(!NeverCustom<L>,
                "a config or a file cannot have a loss or a statistic of your own: use a network type");
  return {};
}

/// The layer that the data describes. Fields that are missing are as in L{}. Throws ConfigError, which names the field,
/// if L does not have a field, if it is given twice or if its value is not possible.
template <Described L>
L layer_from(Custom const& custom) {
  L layer{};
  std::vector<bool> known(custom.fields.size());
  auto const in_field = [](std::string const& name, auto const& action) {
    coldpress::with_context(action, [&](Error& error) { error.in_field(name); });
  };
  for_each_field(layer, [&](std::string_view name, auto& field) {
    detail::for_each_value(std::string{name}, field, [&](std::string const& part, auto& value) {
      int given = 0;
      for (std::size_t i = 0; i < known.size(); ++i) {
        if (custom.fields[i].first != part) continue;
        known[i] = true;
        in_field(part, [&] {
          if (given++ > 0) throw ConfigError{"a layer '" + custom.type + "' is given this field twice"};
          detail::take(custom.fields[i].second, value);
        });
      }
    });
  });
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (!known[i])
      in_field(custom.fields[i].first, [&] { throw ConfigError{"a layer '" + custom.type + "' has no such field"}; });
  }
  return layer;
}

}  // namespace coldpress::dynamic
