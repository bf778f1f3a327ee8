// The fields of a layer by name: what persistence, printing and comparison fold over. Declared once, by
// BOOST_HANA_ADAPT_STRUCT.
#pragma once

#include <boost/hana/accessors.hpp>
#include <boost/hana/adapt_struct.hpp>
#include <boost/hana/core/to.hpp>
#include <boost/hana/first.hpp>
#include <boost/hana/for_each.hpp>
#include <boost/hana/second.hpp>
#include <boost/hana/string.hpp>
#include <boost/hana/tuple.hpp>

#include <string_view>

namespace coldpress {

/// Calls f(name, field) for every field, in order of declaration.
template <class Struct, class F>
constexpr void for_each_field(Struct&& value, F&& f) {
  boost::hana::for_each(boost::hana::accessors<std::remove_cvref_t<Struct>>(), [&](auto const& field) {
    f(std::string_view{boost::hana::to<char const*>(boost::hana::first(field))}, boost::hana::second(field)(value));
  });
}

}  // namespace coldpress
