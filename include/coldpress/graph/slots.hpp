// Lays out the parameters of a network and says which of them share weights.
#pragma once

#include <coldpress/graph/group.hpp>

namespace coldpress {

/// Whether a backend keeps the values of two parameters in one order, so that one place can hold both.
template <class Backend>
constexpr bool has_one_order(Backend const& backend, Parameter const& a, Parameter const& b) {
  return same_order(a, b) || (backend.is_canonical(a) && backend.is_canonical(b));
}

/// Lays out all parameters in a flat buffer and returns its size in values. For each parameter, `node` is its layer and
/// `owner` is the first parameter that it shares weights with; the backend keeps the values of both in the same order.
template <class Backend>
constexpr Index lay_out(Backend const& backend, View<Parameter const> parameters, View<int const> node,
                        View<int const> owner, View<Group const> groups, View<int const> group_of, View<Slot> slots) {
  Index size = 0;
  int const count = static_cast<int>(parameters.size());
  auto const reached = [&](int i) { return groups[group_of[node[i]]].needs_gradient; };
  for (int i = 0; i < count; ++i) {
    if (owner[i] == i) {
      slots[i] = {.offset = size, .size = backend.storage_size(parameters[i]), .owner = i};
      size += slots[i].size;
    } else {
      slots[i] = slots[owner[i]];
      slots[i].shared = true;
    }
    slots[i].observes = reached(i), slots[i].reached = owner[i] != i && reached(i), slots[i].adds = false;
  }
  // Gradients arrive from the last layer to the first, and within a layer in the order of its parameters. At each
  // point, `reached` of an owner says whether a gradient has arrived so far.
  for (int last = count; last > 0;) {
    int first = last - 1;
    while (first > 0 && node[first - 1] == node[first]) --first;
    for (int i = first; i < last; ++i) {
      bool& any = slots[owner[i]].reached;
      slots[i].adds = any;
      any = any || reached(i);
    }
    last = first;
  }
  return size;
}

}  // namespace coldpress
