// The part of a program that follows from its groups alone, where these are numbers: what a network from a config and a
// network type over linked kernels answer alike.
#pragma once

#include <coldpress/graph/group.hpp>

namespace coldpress {

/// `Program` has group(g), of nothing where g < 0, and plan().
template <class Program>
struct NumberedGroups {
  static constexpr int some_group() { return 0; }
  static constexpr int some_edge() { return 0; }
  template <class F>
  constexpr void for_each_group(F f) const {
    for (int g = 0; g < self().plan().groups; ++g) f(g);
  }
  template <class F>
  constexpr void for_each_group_reversed(F f) const {
    for (int g = self().plan().groups - 1; g >= 0; --g) f(g);
  }
  template <class F>
  constexpr void for_each_edge(int g, F f) const {
    for (int k = 0; k < self().group(g).edge_count; ++k) f(k);
  }
  constexpr int input(int g, int k) const { return self().group(g).edges[k].from; }
  constexpr int side(int g) const { return self().group(g).side; }
  constexpr bool passes_gradient(int g, int k) const { return self().group(g).edges[k].passes_gradient; }
  constexpr bool adds(int g, int k) const { return self().group(g).edges[k].adds; }
  constexpr bool finishes(int g, int k) const { return self().group(g).edges[k].finishes; }
  constexpr bool applies(int g, int k) const { return finishes(g, k) && !adds(g, k); }
  constexpr bool carries(int) const { return true; }
  constexpr bool seed_finishes(int g) const { return g < 0 || self().group(g).seed_finishes; }
  constexpr bool blocked(int g) const { return self().group(g).blocked; }
  constexpr bool pools(int) const { return true; }
  constexpr bool pooled_last(int g) const { return self().group(g).pooled_last; }

 private:
  constexpr Program const& self() const { return static_cast<Program const&>(*this); }
};

}  // namespace coldpress
