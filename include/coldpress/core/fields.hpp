// The fields of a struct by name: what persistence, printing and comparison fold over. Declared once, for Boost.Hana.
#pragma once

#include <boost/hana/fwd/accessors.hpp>

#include <cstddef>

namespace coldpress {

/// A field that is a list of at most `max` numbers: `count` of them at data(). It is made `of` them, and says what it
/// `takes` and what its `limit` is, for documents and errors. Configs, files and commands need no more of it.
template <class L>
concept NumberList = requires(L const& list) {
  L::max, L::takes, L::limit;
  L::of(list.data(), list.count);
};

}  // namespace coldpress
namespace coldpress::detail {

/// A text as a template argument.
template <std::size_t n>
struct FieldName {
  char text[n];
  constexpr FieldName(char const (&literal)[n]) {
    for (std::size_t i = 0; i < n; ++i) text[i] = literal[i];
  }
};
template <FieldName name, auto member>
struct Field;

/// Hana's accessors; defined in for_each_field.hpp.
template <class Struct, class... Fields>
constexpr auto accessors();

}  // namespace coldpress::detail

/// COLDPRESS_FIELDS(Type, fields...); in the global namespace, as BOOST_HANA_ADAPT_STRUCT (in
/// boost/hana/adapt_struct.hpp), which may stand in its place. That takes the compiler 10 ms a struct at once; this
/// takes them where the fields are asked for.
#define COLDPRESS_FIELDS(Type, ...)                                                                  \
  template <>                                                                                        \
  struct boost::hana::accessors_impl<Type> {                                                         \
    template <class T = Type>                                                                        \
    static constexpr auto apply() {                                                                  \
      return ::coldpress::detail::accessors<T __VA_OPT__(, COLDPRESS_FIELD_LIST(T, __VA_ARGS__))>(); \
    }                                                                                                \
  }

// One Field for each name. A macro does not call itself while it runs, so each step ends in one that is called later,
// as often as the text is read again.
#define COLDPRESS_FIELD_LIST(T, ...) COLDPRESS_REREAD(COLDPRESS_FIELD(T, __VA_ARGS__))
#define COLDPRESS_FIELD(T, name, ...) \
  ::coldpress::detail::Field<#name, &T::name> __VA_OPT__(, COLDPRESS_LATER COLDPRESS_PARENTHESES(T, __VA_ARGS__))
#define COLDPRESS_LATER() COLDPRESS_FIELD
#define COLDPRESS_PARENTHESES ()
#define COLDPRESS_REREAD(...) COLDPRESS_REREAD_9(COLDPRESS_REREAD_9(COLDPRESS_REREAD_9(__VA_ARGS__)))
#define COLDPRESS_REREAD_9(...) COLDPRESS_REREAD_3(COLDPRESS_REREAD_3(COLDPRESS_REREAD_3(__VA_ARGS__)))
#define COLDPRESS_REREAD_3(...) COLDPRESS_REREAD_1(COLDPRESS_REREAD_1(COLDPRESS_REREAD_1(__VA_ARGS__)))
#define COLDPRESS_REREAD_1(...) __VA_ARGS__
