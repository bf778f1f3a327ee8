// The functions of a program that follow from its groups alone, for programs whose groups are run-time numbers.
#pragma once

// TableProgram has them, and so have the plans from which its tables are made.

#include <coldpress/core/pass.hpp>
#include <coldpress/graph/group.hpp>

namespace coldpress {

/// `Program` has plan() and group(g), which is an empty group for g < 0.
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
  constexpr bool adds_in_place(int g, int k) const { return self().group(g).edges[k].adds_in_place(); }
  constexpr bool adds_apart(int g, int k) const { return self().group(g).edges[k].adds_apart(); }
  constexpr bool shares_gradient(int g, int k) const { return self().group(g).edges[k].shares; }
  constexpr bool finishes(int g, int k) const { return self().group(g).edges[k].finishes; }
  constexpr bool applies(int g, int k) const { return finishes(g, k) && !adds_apart(g, k); }
  constexpr bool carries(int) const { return true; }
  template <PassKind>
  static constexpr NoVariant variant(int) {
    return {};
  }
  constexpr bool seed_finishes(int g) const { return g < 0 || self().group(g).seed_finishes; }
  constexpr bool blocked(int g) const { return self().group(g).blocked; }
  static constexpr std::false_type maps_images(int) { return {}; }
  constexpr bool pools(int) const { return true; }
  constexpr bool pooled_last(int g) const { return self().group(g).pooled_last; }

 private:
  constexpr Program const& self() const { return static_cast<Program const&>(*this); }
};

}  // namespace coldpress
