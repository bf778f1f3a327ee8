// A list of types to loop over.
#pragma once

#include <type_traits>
#include <utility>

namespace coldpress {

template <class... Types>
struct TypeList {
  using Plain = TypeList;  // of a list with a name of its own, which is derived from this
};

/// Calls f.template operator()<T>() for every type of the list.
template <class... Types, class F>
constexpr void for_each_type(TypeList<Types...>, F f) {
  (f.template operator()<Types>(), ...);
}

namespace detail {
template <class... Types>
constexpr int size_of(TypeList<Types...>) {
  return sizeof...(Types);
}
}  // namespace detail

/// The position of a type in the list, or -1.
template <class T, class... Types>
constexpr int index_of(TypeList<Types...>) {
  int index = -1, n = 0;
  ((std::is_same_v<T, Types> ? static_cast<void>(index = n) : static_cast<void>(0), ++n), ...);
  return index;
}
/// Calls f(index as a constant, null pointer to the type) for every type of the list.
template <class... Types, class F>
constexpr void for_each_indexed(TypeList<Types...>, F f) {
  [&]<int... n>(std::integer_sequence<int, n...>) {
    (f(std::integral_constant<int, n>{}, static_cast<Types*>(nullptr)), ...);
  }
  (std::make_integer_sequence<int, static_cast<int>(sizeof...(Types))>{});
}

}  // namespace coldpress
