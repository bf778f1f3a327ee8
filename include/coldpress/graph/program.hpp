// What a program is: every function that a pass (graph/run.hpp, graph/execute.hpp) asks of one, with its meaning. The
// three are StaticProgram, whose numbers and flags are types (std::integral_constant), so that the compiler knows them;
// LinkedProgram and dynamic::Program, which answer with values. DeviceProgram is a StaticProgram without tables.
#pragma once

#include <coldpress/backend/backend.hpp>
#include <coldpress/graph/plan.hpp>

namespace coldpress {

namespace detail {
/// Stands for the functions that a program calls back.
struct AnyCallback {};
/// Stands for a backend.
struct AnyBackend {
  using Scalar = float;
};
/// Stands for the function that says where the other operand of a join is.
template <class T>
struct AnyOperand {
  template <class Edge>
  constexpr With<NoJoin, T> operator()(Edge) const {
    return {};
  }
};
}  // namespace detail

namespace concepts {

/// A planned network on a backend. Its groups are numbered from 0, and the edges of each; -1 - k in the place of a
/// group is input k of the network. P::some_group() and P::some_edge() are a number of each, for this check. Run asks
/// for it, so that a network type pays for it only where it is run.
template <class P, class Backend>
concept Program = requires(P const& p, decltype(P::some_group()) g, decltype(P::some_edge()) k, std::uint64_t seed,
                           int node, detail::AnyCallback const& f) {
  // The whole
  int{P::inputs_capacity};                        // inputs at most, with the targets of a loss from outside
  static_cast<PlanSize>(p.plan());                // what make_plan says of the whole
  int{p.parameter_count()};                       // uses of parameters by layers
  { p.slots() } -> std::same_as<Slots>;           // of all parameters
  { P::bounds_weights() } -> std::same_as<bool>;  // some weights may have a bound (MaxNorm)
  int{p.output()};                                // group of the first output
  int{p.sums(node)};                              // where the sums of a loss or statistic start; -1: none
  p.for_each_group(f);                            // f(g) from the first to the last,
  p.for_each_group_reversed(f);                   // and back

  // A group, also an input of the network
  static_cast<Group const&>(p.group(g));  // of an input: an empty one
  Index{p.columns(g)};                    // values of a sample of what it makes
  bool{p.blocked(g)};                     // these are in blocks of images
  bool{p.seed_finishes(g)};               // nothing adds to the gradient that the user gives of it
  p.chain(g, seed);                       // its pointwise operations: a Chain, or an ErasedChain

  // What it computes
  p.head(g, f, f);                                         // some(layer), or none() where it has no layer at its head
  static_cast<Shapes>(p.head_inputs(g));                   // what the head is asked with,
  { p.head_key(g, seed) } -> std::same_as<std::uint64_t>;  // the key of its random numbers,
  { p.slots(g) } -> std::same_as<Slots>;                   // its parameters,
  bool{p.carries(g)};                                      // whether it may have a state from call to call,
  bool{p.pools(g)};                                        // whether it may compute a pooling, too,
  { p.windows(g) } -> std::same_as<PoolingGeometry>;       // which is this, without planes where there is none,
  bool{p.pooled_last(g)};                                  // after the chain
  p.join(g, f, f);                                         // some(layer), or none() where nothing is joined
  p.loss(g, f);                                            // f(loss), where it ends in one,
  { p.loss_input(g) } -> std::same_as<Shape>;              // which compares values of this shape
  p.statistic(g, f);                                       // f(statistic, shapes), where it is one

  // Its edges: what it reads, and how gradients get back there
  p.for_each_edge(g, f);          // f(k)
  int{p.input(g, k)};             // the group, or -1 - the input, that edge k reads
  int{p.side(g)};                 // the edge of the join's other operand
  bool{p.passes_gradient(g, k)};  // a gradient gets there,
  bool{p.adds(g, k)};             // to be added to others,
  bool{p.finishes(g, k)};         // and is the last one,
  bool{p.applies(g, k)};          // to which the slope of the chain there is applied at once
}
// With<operation, T> of the join, whose other operand is where other(edge) says; NoJoin, or one of no operand, without
&&requires(P const& p, decltype(P::some_group()) g, Backend const& backend,
           detail::AnyOperand<typename Backend::Scalar> const& other) {
  p.join_with(g, backend, other);
};

}  // namespace concepts
}  // namespace coldpress
