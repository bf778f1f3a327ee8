// The fields of a struct by name, declared once for persistence, printing, comparison and Boost.Hana.
#pragma once

#include <boost/hana/fwd/accessors.hpp>

namespace coldpress {

/// A field that is a list of at most `max` numbers: `count` of them at data(). `of` makes the list from numbers;
/// `takes` and `limit` describe it in documentation and errors. Configs, files and commands need nothing else.
template <class L>
concept NumberList = requires(L const& list) {
  L::max, L::takes, L::limit;
  L::of(list.data(), list.count);
};

}  // namespace coldpress
namespace coldpress::detail {

/// Boost.Hana's accessors, defined in for_each_field.hpp. Names::names() is "first, second, ..."; names that were
/// template arguments would be evaluated at each declaration, whether the fields are used or not.
template <class Names, auto... members>
constexpr auto accessors();

}  // namespace coldpress::detail

/// COLDPRESS_FIELDS(Type, fields...) declares the fields of a struct. Use it in the global namespace, like
/// BOOST_HANA_ADAPT_STRUCT (boost/hana/adapt_struct.hpp), which may be used instead. That macro costs 10 ms of compile
/// time per struct at the declaration; this one costs it only where the fields are used.
#define COLDPRESS_FIELDS(Type, ...)                                                                                  \
  template <>                                                                                                        \
  struct boost::hana::accessors_impl<Type> {                                                                         \
    static constexpr char const* names() { return COLDPRESS_FIELD_NAMES(__VA_ARGS__); }                              \
    template <class T = Type>                                                                                        \
    static constexpr auto apply() {                                                                                  \
      return ::coldpress::detail::accessors<accessors_impl<T> __VA_OPT__(, COLDPRESS_FIELD_LIST(T, __VA_ARGS__))>(); \
    }                                                                                                                \
  }

#define COLDPRESS_FIELD_NAMES(...) #__VA_ARGS__  // of the list in which macros have been expanded

// Makes one pointer to a member per name. A macro cannot call itself while it is expanded, so each step ends in a
// deferred call, which COLDPRESS_REREAD expands in a later scan.
#define COLDPRESS_FIELD_LIST(T, ...) COLDPRESS_REREAD(COLDPRESS_FIELD(T, __VA_ARGS__))
#define COLDPRESS_FIELD(T, name, ...) &T::name __VA_OPT__(, COLDPRESS_LATER COLDPRESS_PARENTHESES(T, __VA_ARGS__))
#define COLDPRESS_LATER() COLDPRESS_FIELD
#define COLDPRESS_PARENTHESES ()
#define COLDPRESS_REREAD(...) COLDPRESS_REREAD_9(COLDPRESS_REREAD_9(COLDPRESS_REREAD_9(__VA_ARGS__)))
#define COLDPRESS_REREAD_9(...) COLDPRESS_REREAD_3(COLDPRESS_REREAD_3(COLDPRESS_REREAD_3(__VA_ARGS__)))
#define COLDPRESS_REREAD_3(...) COLDPRESS_REREAD_1(COLDPRESS_REREAD_1(COLDPRESS_REREAD_1(__VA_ARGS__)))
#define COLDPRESS_REREAD_1(...) __VA_ARGS__
