// The concept of a program: every function that a pass asks of one, with its meaning.
#pragma once

// Passes are in run/run.hpp and run/execute.hpp. There are two programs. The numbers and flags of StaticProgram are
// types (std::integral_constant), so that the compiler knows them; TableProgram, which configs and network types with
// linked kernels have, returns run-time values. The layers of a TableProgram are of one type, detail::TableLayer, for
// which the functions of run/execute.hpp that are given a layer have overloads. DeviceProgram is a StaticProgram
// for GPUs, without constant tables in memory.

#include <coldpress/core/pass.hpp>
#include <coldpress/graph/plan.hpp>

namespace coldpress {

/// What a StaticProgram says of a group whose loss compares values that no softmax has made.
using NoNormalization = std::integral_constant<Normalization, Normalization::none>;

namespace detail {
/// Stands for the functions that a program calls back.
struct ExampleCallback {};
/// Stands for a backend.
struct ExampleBackend {
  using Scalar = float;
};
/// Stands for the function that returns the other operand of a join.
template <class T>
struct ExampleOperand {
  template <class Edge>
  constexpr BinaryPostOp<NoJoin, T> operator()(Edge) const {
    return {};
  }
};
}  // namespace detail

/// Whether the groups of a program are numbers when it runs, and not constants.
template <class Program>
constexpr bool has_numbered_groups = std::is_same_v<decltype(Program::some_group()), int>;

namespace concepts {

/// A planned network on a backend. Its groups g, and the edges k of each group, are numbered from 0. In the place of a
/// group, -1 - k means input k of the network. P::some_group() and P::some_edge() are examples of each, for this check.
/// The concept is checked by Run, so that a network type pays for it only where it is run.
template <class P, class Backend>
concept Program = requires(P const& p, decltype(P::some_group()) g, decltype(P::some_edge()) k, std::uint64_t seed,
                           int node, detail::ExampleCallback const& f) {
  // The whole program
  int{P::inputs_capacity};               // the maximum number of inputs, including the targets of an external loss
  static_cast<PlanSummary>(p.plan());    // the totals from make_plan
  int{p.parameter_count()};              // the number of parameters of all layers, where a shared one counts each time
  { p.slots() } -> std::same_as<Slots>;  // those of all parameters
  { P::bounds_weights() } -> std::same_as<bool>;  // whether any weight may have a bound (MaxNorm)
  int{p.output()};                                // the group of the first output
  int{p.sums(node)};                              // the index of the first sum of a loss or statistic; -1: none
  p.for_each_group(f);                            // calls f(g) from the first group to the last
  p.for_each_group_reversed(f);                   // calls f(g) from the last group to the first

  // A group or an input of the network
  static_cast<Group const&>(p.group(g));  // an empty group for an input
  Index{p.columns(g)};                    // values per sample
  bool{p.blocked(g)};                     // whether the value is kept in blocks of images
  bool{p.seed_finishes(g)};               // whether nothing adds to the gradient that the user gives
  p.chain(g, seed);                       // its pointwise operations: a Chain or an ErasedChain

  // What a group computes
  p.head(g, f, f);                                         // calls some(layer) with its head, or none()
  static_cast<Shapes>(p.head_inputs(g));                   // the shapes of the head's inputs
  { p.head_key(g, seed) } -> std::same_as<std::uint64_t>;  // the key of the head's random numbers
  { p.slots(g) } -> std::same_as<Slots>;                   // the head's parameters
  bool{P::maps_images(g)};                                 // whether its rows are given to it as Rows::sized()
  bool{p.carries(g)};                                      // whether the head may have a state
  P::template variant<PassKind::stream>(g);                // its variant as a type, or NoVariant
  bool{p.pools(g)};                                        // whether the group may have a max pooling
  { p.windows(g) } -> std::same_as<PoolingGeometry>;       // the pooling; no planes: there is none
  bool{p.pooled_last(g)};                                  // whether the pooling comes after the chain
  p.join(g, f, f);                                         // calls some(layer) with its join, or none()
  p.loss(g, f);                                            // calls f(loss) if it ends in a loss
  Normalization{p.normalization(g)};                       // how the head makes what the loss compares; none: no head
  { p.loss_input(g) } -> std::same_as<Shape>;              // the shape of the values that the loss compares
  p.statistic(g, f);                                       // calls f(statistic, shapes) if it is a statistic

  // The edges of a group: the values that it reads, and how gradients get back to them
  p.for_each_edge(g, f);          // calls f(k)
  int{p.input(g, k)};             // the group, or -1 - the input, that edge k reads
  int{p.side(g)};                 // the edge of the join's other operand
  bool{p.passes_gradient(g, k)};  // whether a gradient is passed
  bool{p.adds_in_place(g, k)};    // whether it is added to gradients that arrived before where it is computed, ...
  bool{p.adds_apart(g, k)};       // ... or afterwards, from a buffer of its own
  bool{p.shares_gradient(g, k)};  // whether it is the group's own gradient, in one buffer with it
  bool{p.finishes(g, k)};         // whether it is the last to arrive
  bool{p.applies(g, k)};          // whether the chain's derivative is applied where it is computed
}
// The operation of the join as a BinaryPostOp, whose other operand other(edge) returns. Without a join it is
// NoJoin or a BinaryPostOp without an operand.
&&requires(P const& p, decltype(P::some_group()) g, Backend const& backend,
           detail::ExampleOperand<typename Backend::Scalar> const& other) {
  p.join_with(g, backend, other);
};

}  // namespace concepts
}  // namespace coldpress
