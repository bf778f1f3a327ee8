// Where the parameters of a network are, and which of them are one and the same.
#pragma once

#include <coldpress/graph/group.hpp>

namespace coldpress {

/// Lays out all parameters in a flat buffer and returns its size. `node` and `owner` are of each parameter: the layer
/// that has it, and the first parameter that it is the same as. Throws ShapeError where the backend cannot share.
template <class Backend>
constexpr Index lay_out(Backend const& backend, View<Parameter const> parameters, View<int const> node,
                        View<int const> owner, View<Group const> groups, View<int const> group_of, View<Slot> slots) {
  Index size = 0;
  int const count = static_cast<int>(parameters.size());
  auto const reached = [&](int i) { return groups[group_of[node[i]]].needs_gradient; };
  for (int i = 0; i < count; ++i) {
    Parameter const &own = parameters[owner[i]], &parameter = parameters[i];
    if (owner[i] == i) {
      slots[i] = {.offset = size, .size = backend.storage_size(parameter), .owner = i};
      size += slots[i].size;
    } else {
      slots[i] = slots[owner[i]];
      slots[i].shared = true;
      require(same_order(own, parameter) || (backend.is_canonical(own) && backend.is_canonical(parameter)),
              "weights of different kinds are shared, but this backend keeps them in different orders");
    }
    slots[i].adds = false, slots[i].reached = slots[i].observes = reached(i);
  }
  for (int i = 0; i < count; ++i) {
    for (int other = 0; other < count; ++other) {
      if (other == i || owner[other] != owner[i] || !reached(other)) continue;
      slots[owner[i]].reached = true;
      if (node[other] > node[i] || (node[other] == node[i] && other < i)) slots[i].adds = true;
    }
  }
  return size;
}

}  // namespace coldpress
