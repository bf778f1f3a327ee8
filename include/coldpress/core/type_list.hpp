// A list of types to fold over.
#pragma once

namespace coldpress {

template <class... Types>
struct TypeList {};

/// Calls f.template operator()<T>() for every type of the list.
template <class... Types, class F>
constexpr void for_each_type(TypeList<Types...>, F f) {
  (f.template operator()<Types>(), ...);
}

}  // namespace coldpress
