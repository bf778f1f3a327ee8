// Visits those alternatives of a variant that something can be done with.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>
#include <variant>

namespace coldpress::dynamic {

/// Calls f with the layer that the variant holds, if Wanted::of<L> holds for its type L. In each place that asks,
/// std::visit instantiates a function for every alternative, of which there are a hundred; this compares numbers.
template <class Wanted, class F, class... Layers>
void visit_some(std::variant<Layers...> const& held, F const& f) {
  auto const visits = [&]<std::size_t i>(std::integral_constant<std::size_t, i>) {
    if constexpr (Wanted::template of<std::variant_alternative_t<i, std::variant<Layers...>>>) {
      if (held.index() == i) return f(*std::get_if<i>(&held)), true;
    }
    return false;
  };
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    static_cast<void>((visits(std::integral_constant<std::size_t, i>{}) || ...));
  }
  (std::index_sequence_for<Layers...>{});
}

}  // namespace coldpress::dynamic
