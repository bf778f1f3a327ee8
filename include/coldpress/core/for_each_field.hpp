// Folds over the fields of a struct.
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

namespace coldpress {
namespace detail {

template <FieldName name, auto member>
struct Field {
  template <std::size_t... i>
  static constexpr auto text(std::index_sequence<i...>) {
    return boost::hana::string_c<name.text[i]...>;
  }
  template <class Struct>
  constexpr decltype(auto) operator()(Struct&& value) const {
    return static_cast<Struct&&>(value).*member;
  }
  static constexpr auto accessor() {
    return boost::hana::make_pair(text(std::make_index_sequence<sizeof(name.text) - 1>()), Field{});
  }
};
template <class Struct, class... Fields>
constexpr auto accessors() {
  return boost::hana::make_tuple(Fields::accessor()...);
}

}  // namespace detail

/// Calls f(name, field) for every field, in order of declaration.
template <class Struct, class F>
constexpr void for_each_field(Struct&& value, F&& f) {
  boost::hana::for_each(boost::hana::accessors<std::remove_cvref_t<Struct>>(), [&](auto const& field) {
    f(std::string_view{boost::hana::to<char const*>(boost::hana::first(field))}, boost::hana::second(field)(value));
  });
}

}  // namespace coldpress
