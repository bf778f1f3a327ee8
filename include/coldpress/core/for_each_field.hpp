// Loops over the fields of a struct.
#pragma once

#include <coldpress/core/fields.hpp>

#include <boost/hana/accessors.hpp>
#include <boost/hana/adapt_struct.hpp>
#include <boost/hana/core/to.hpp>
#include <boost/hana/first.hpp>
#include <boost/hana/for_each.hpp>
#include <boost/hana/pair.hpp>
#include <boost/hana/second.hpp>
#include <boost/hana/string.hpp>
#include <boost/hana/tuple.hpp>

#include <string_view>
#include <type_traits>
#include <utility>

namespace coldpress {
namespace detail {

/// Name number `n` of "first, second, ...", with any number of spaces around the commas.
constexpr std::string_view field_name(std::string_view names, std::size_t n) {
  for (; n > 0; --n) names.remove_prefix(names.find(',') + 1);
  names = names.substr(0, names.find(','));
  names.remove_prefix(names.find_first_not_of(' '));
  return names.substr(0, names.find(' '));
}
template <class Names, std::size_t n, auto member>
struct Field {
  static constexpr std::string_view name = field_name(Names::names(), n);
  template <std::size_t... i>
  static constexpr auto text(std::index_sequence<i...>) {
    return boost::hana::string_c<name[i]...>;
  }
  template <class Struct>
  constexpr decltype(auto) operator()(Struct&& value) const {
    return static_cast<Struct&&>(value).*member;
  }
  static constexpr auto accessor() {
    return boost::hana::make_pair(text(std::make_index_sequence<name.size()>()), Field{});
  }
};
template <class Names, auto... members, std::size_t... n>
constexpr auto accessors_of(std::index_sequence<n...>) {
  return boost::hana::make_tuple(Field<Names, n, members>::accessor()...);
}
template <class Names, auto... members>
constexpr auto accessors() {
  return accessors_of<Names, members...>(std::make_index_sequence<sizeof...(members)>());
}

/// Converts to the type of any field, but not to the struct itself.
template <class Struct>
struct AnyField {
  template <class T>
  requires(!std::is_base_of_v<T, Struct>) constexpr operator T() const noexcept;  // neither the struct nor a base
};
template <class Struct, std::size_t... i>
constexpr bool takes_fields(std::index_sequence<i...>) {
  return requires { Struct{(static_cast<void>(i), AnyField<Struct>{})...}; };
}
template <class Struct, class Pair>
inline constexpr bool is_array_field = std::is_array_v<
    std::remove_reference_t<decltype(boost::hana::second(std::declval<Pair>())(std::declval<Struct&>()))>>;
/// Whether an aggregate can be initialised with one value more than it has fields in the list. For an aggregate with an
/// array this cannot be determined, because the elements of the array count as values, too.
template <class Struct, class Accessors>
inline constexpr bool has_more_fields = false;
template <class Struct, class... Fields>
requires(std::is_aggregate_v<Struct> &&
         !(is_array_field<Struct, Fields> ||
           ...)) inline constexpr bool has_more_fields<Struct, boost::hana::tuple<Fields...>> =
    takes_fields<Struct>(std::make_index_sequence<sizeof...(Fields) + 1>());

}  // namespace detail

/// Calls f(name, field) for every field, in the order of declaration. It does not compile if the list leaves out a
/// field.
template <class Struct, class F>
constexpr void for_each_field(Struct&& value, F&& f) {
  using Type = std::remove_cvref_t<Struct>;
  constexpr auto fields = boost::hana::accessors<Type>();
  constexpr bool complete = !detail::has_more_fields<Type, std::remove_const_t<decltype(fields)>>;
  static_assert(complete, "COLDPRESS_FIELDS does not name every field of this struct");
  boost::hana::for_each(fields, [&](auto const& field) {
    f(std::string_view{boost::hana::to<char const*>(boost::hana::first(field))}, boost::hana::second(field)(value));
  });
}

/// Calls f(name, field of a, field of b) for every field of two values of one struct.
template <class Struct, class F>
constexpr void for_each_field(Struct const& a, Struct const& b, F&& f) {
  boost::hana::for_each(boost::hana::accessors<Struct>(), [&](auto const& field) {
    f(std::string_view{boost::hana::to<char const*>(boost::hana::first(field))}, boost::hana::second(field)(a),
      boost::hana::second(field)(b));
  });
}

}  // namespace coldpress
