// One pass of a minibatch through a network: where every value, gradient and parameter of a plan is.
#pragma once

// The functions that compute them are in execute.hpp.

#include <coldpress/core/pass.hpp>
#include <coldpress/run/program.hpp>

#include <array>

namespace coldpress {

/// The parameters of one layer in a flat buffer: p[i] is the start of parameter i.
template <class T>
struct ParameterView {
  T* base;
  Slot const* slots;
  constexpr T* operator[](int i) const { return base + slots[i].offset; }
};

/// The sinks of the parameters of one layer or of all. `slots` begins with the first parameter.
template <class T>
struct GradientSinks {
  GradientSink<T> whole;  // for the whole buffer
  Slots slots;
  constexpr GradientSinks of(Slots layer) const { return {whole, layer}; }
  constexpr GradientSink<T> operator[](int i) const {
    GradientSink<T> sink = whole.at(slots.slots[i].offset);
    sink.add = sink.add || slots.slots[i].adds;
    return sink;
  }
};
template <class Optimizer, class T>
struct UpdateSinks {
  UpdateSink<Optimizer, T> whole;  // for the whole buffer
  Slots slots;
  bool const* frozen;  // by the number of the parameter's owner; null: none are frozen
  float observation;   // the factor of the values that running statistics observe
  constexpr UpdateSinks of(Slots layer) const { return {whole, layer, frozen, observation}; }
  constexpr UpdateSink<Optimizer, T> operator[](int i) const {
    Parameter const& parameter = slots.parameters[i];
    UpdateSink<Optimizer, T> sink = whole.at(slots.slots[i].offset);
    sink.optimizer.learning_rate *= parameter.lr_mult;
    sink.decay *= parameter.decay_mult;
    if constexpr (requires { sink.optimizer.weight_decay; }) sink.optimizer.weight_decay *= parameter.decay_mult;
    if (parameter.regularizer == Regularizer::l2) sink.regularization = Regularization::l2;
    if (parameter.regularizer == Regularizer::l1) sink.regularization = Regularization::l1;
    if (parameter.is_statistic()) sink.average = parameter.average, sink.scale = observation;
    sink.frozen = parameter.lr_mult == 0 || (frozen && frozen[slots.slots[i].owner]);
    return sink;
  }
};

/// The sinks of a layer without parameters. Its backward is then the same code, however parameters of others are
/// updated.
struct NoSinks {};

namespace detail {

template <class L, class Sinks>
constexpr auto sinks_of(Sinks const& sinks, Slots layer) {
  if constexpr (has_parameters<L>) {
    return sinks.of(layer);
  } else {
    return NoSinks{};
  }
}

/// The derivative, without its chain if gradients are still to be added before that is applied. `apply` and `adds` are
/// constants in a static program.
template <class Chain, class T, class Apply, class Adds = std::false_type>
constexpr auto applied(Derivative<Chain, T> derivative, Apply apply, Adds adds = {}) {
  if constexpr (requires { derivative.chain.length = 0; }) {
    if (!apply) derivative.chain.length = 0;
    derivative.adds = adds;
    return derivative;
  } else if constexpr (std::is_same_v<Apply, std::false_type>) {
    return Derivative<coldpress::Chain<>, T, Adds>{};
  } else {
    return derivative.adding(adds);
  }
}

template <class Variant, class In, class X, class P, class Y, class DY, class DX, class Chain, class Adds, class Sinks,
          class T, class Windows = NoWindows>
constexpr auto backward_pass(In in, X x, P p, Y y, DY dy, DX dx, Derivative<Chain, T, Adds> derivative, Sinks sinks,
                             T* memory, std::uint64_t key, std::uint64_t step, Windows windows = {}) {
  return BackwardPass<In, X, P, Y, DY, DX, Chain, Sinks, T, Windows, Variant, Adds>{
      in, x, p, y, dy, dx, derivative, sinks, memory, key, step, windows};
}

}  // namespace detail

/// Stands for the number of samples in a pass whose samples are the next steps of one sequence. The values of such a
/// pass are signals (core/rows.hpp).
template <class T>
struct StepBlock {
  StepClock const* clock;
  Index most;               // the length of the longest block, rounded up: the pitch of signals in the workspace
  Signal<T> const* values;  // those that are elsewhere, by group; inputs come before the groups, the last one first
  Index const* states;      // for each group, where its state is, ...
  bool const* by_steps;     // ... and whether it is computed one step after another
  T* row;                   // the workspace of a single step, ...
  T* const* inputs;         // ... and its inputs, for layers that take no signals

  constexpr operator Index() const { return clock->steps; }
};
template <class Count>
constexpr bool is_step_block = false;
template <class T>
constexpr bool is_step_block<StepBlock<T>> = true;

/// One pass of a minibatch through a network. It holds only pointers: the caller owns all memory, whose size the plan
/// gives. In a static program, groups, edges and flags are constants. Every program that is run is checked here against
/// the concept (run/program.hpp).
/// `State` is std::nullptr_t for a pass that carries no state, where code for streams need not be compiled.
template <class Program, class Backend, class Count, class State = typename Backend::Scalar*>
requires concepts::Program<Program, Backend>
struct Run {
  using T = typename Backend::Scalar;
  using ProgramType = Program;
  Program const& program;
  Backend backend;
  T const* parameters;
  T* workspace;
  std::array<T const*, Program::inputs_capacity> inputs;
  [[no_unique_address]] Count batch;
  std::uint64_t seed;
  std::uint64_t step;      // 0: inference
  State state = nullptr;   // the states of the layers, if the network streams
  double* sums = nullptr;  // the sums of losses and statistics

  /// The sums of a node; null if none are accumulated.
  constexpr double* sums_of(int node) const {
    int const first = program.sums(node);
    return sums && first >= 0 ? sums + first : nullptr;
  }
  constexpr T* at(Buffer const& buffer) const { return buffer.used() ? workspace + buffer.offset * room() : nullptr; }
  /// The number of samples for which there is room in the workspace.
  constexpr auto room() const {
    if constexpr (is_step_block<Count>) {
      return batch.most;
    } else {
      return batch;
    }
  }
  /// The pass over one step, in a workspace of its own, of a block's layer that takes no signals.
  template <class G>
  constexpr auto single_step(G g) const requires is_step_block<Count> {
    using One = std::conditional_t<has_numbered_groups<Program>, Index, Fixed<1>>;
    Run<Program, Backend, One, T*> one{program, backend, parameters, batch.row, {}, {}, seed, step};
    if constexpr (has_numbered_groups<Program>) one.batch = 1;
    for (std::size_t k = 0; k < inputs.size(); ++k) one.inputs[k] = batch.inputs[k];
    one.state = state + (batch.states[Index{g}] - program.group(g).state);
    return one;
  }

  /// Rows with the shape and the layout of group g's value, or of input k of the network if g is -1 - k.
  template <class G>
  constexpr auto rows(G g, T* data, Index pitch) const {
    auto columns = program.columns(g);
    if constexpr (is_step_block<Count>) {
      Signal<T> const& elsewhere = batch.values[Index{g}];
      if (elsewhere.data)
        return Signal<T, decltype(columns)>{elsewhere.data, columns, batch.clock, elsewhere.pitch, elsewhere.mask};
      return Signal<T, decltype(columns)>{data, columns, batch.clock, batch.most};
    } else {
      auto blocked = program.blocked(g);
      return Rows<T, Count, decltype(columns), Index, decltype(blocked)>{data, batch, columns, pitch, blocked};
    }
  }
  /// The value of group g, or input k of the network.
  template <class G>
  constexpr auto value(G g) const {
    if (g < 0) return rows(g, const_cast<T*>(inputs[static_cast<std::size_t>(-1 - g)]), program.columns(g));
    Buffer const& buffer = program.group(g).value;
    return rows(g, at(buffer), buffer.pitch);
  }
  /// The gradient with respect to the input of group g's chain, or to the network's input if g < 0.
  template <class G>
  constexpr auto gradient(G g) const {
    int const input = g < 0 ? -1 - g : 0;
    Buffer const buffer = g < 0 ? program.plan().input_gradients[input] : program.group(g).gradient;
    return rows(g, at(buffer), buffer.pitch);
  }
  /// Group g's epilogue: what is done with the sums of its head or, without a head, with its input.
  template <class G>
  constexpr auto post_ops(G g) const {
    Group const& group = program.group(g);
    auto const chain = program.chain(g, seed);
    auto const read_once = [&] {
      if constexpr (is_erased_chain<std::remove_const_t<decltype(chain)>>) {
        return group.readers == 1 && !group.is_output;
      } else {
        return std::false_type{};
      }
    }();
    if constexpr (is_step_block<Count>) {
      Index mask = 0;
      auto const join = program.join_with(g, backend, [&](auto edge) {
        auto const other = value(program.input(g, edge));
        mask = other.mask;
        return BinaryPostOp<NoJoin, T>{{}, other.data, other.pitch, PTRDIFF_MAX};
      });
      return SignalPostOps<std::remove_const_t<decltype(chain)>, T, std::remove_const_t<decltype(join)>>{
          {chain, step, nullptr, 0, join, read_once}, mask};
    } else {
      auto const join = program.join_with(g, backend, [&](auto edge) {
        auto const other = value(program.input(g, edge));
        return BinaryPostOp<NoJoin, T>{{}, other.data, other.pitch, other.columns};
      });
      return PostOps<std::remove_const_t<decltype(chain)>, T, std::remove_const_t<decltype(join)>>{
          chain, step, at(group.kept), group.kept.pitch, join, read_once};
    }
  }
  /// The derivative of group g's chain; empty for the network's input.
  template <class G>
  constexpr auto derivative(G g) const {
    auto const chain = program.chain(g, seed);
    using Result = Derivative<std::remove_const_t<decltype(chain)>, T>;
    if (g < 0) return Result{.chain = chain};
    Group const& group = program.group(g);
    T const* input = at(group.kept);
    Index pitch = group.kept.pitch;
    if (group.head < 0 && group.join < 0 && group.chain_needs_input) {  // then the chain's input is the group's
      auto const x = value(program.input(g, first_edge));
      input = x.data, pitch = x.pitch;
    }
    return Result{chain, step, input, pitch, at(group.value), group.value.pitch};
  }
  // Where groups are numbers, a backward pass has one copy of these. Inlined, they would be a quarter of it.
  __attribute__((noinline)) constexpr auto gradient(int g) const { return gradient<int>(g); }
  __attribute__((noinline)) constexpr auto derivative(int g) const { return derivative<int>(g); }
  __attribute__((noinline)) constexpr void add(int g, int k) const { add<int, int>(g, k); }

  /// Where group g writes the gradient of the value of edge k, and what happens to it before. Its chain is empty if
  /// others are still to be added.
  template <class G, class K>
  constexpr auto target(G g, K k) const {
    auto rows = gradient(program.input(g, k));
    Buffer const& addend = program.group(g).edges[k].addend;
    if (addend.used()) rows.data = at(addend), rows.pitch = addend.pitch;
    return rows;
  }
  template <class G, class K>
  constexpr auto target_derivative(G g, K k) const {
    return detail::applied(derivative(program.input(g, k)), program.applies(g, k), program.adds_in_place(g, k));
  }
  /// If the gradient in target(g, k) has a buffer of its own, adds it to the others, and applies the derivative if it
  /// is the last.
  template <class G, class K>
  constexpr void add(G g, K k) const {
    auto const adds = program.adds_apart(g, k);
    if constexpr (!std::is_same_v<decltype(adds), std::false_type const>) {
      auto const from = program.input(g, k);
      if (adds)
        backend.add_gradient(target(g, k), gradient(from), detail::applied(derivative(from), program.finishes(g, k)));
    }
  }
  template <class G>
  constexpr auto parameters_of(G g) const {
    return ParameterView<T const>{parameters, program.slots(g).slots};
  }
  /// For a layer with several inputs: its inputs, and where their gradients are written. If the compiler knows that
  /// there is but one, the array says so.
  template <class G>
  constexpr auto values(G g) const {
    if constexpr (has_one_input<G>) {
      return std::array{value(program.input(g, first_edge))};
    } else {
      std::array<std::conditional_t<is_step_block<Count>, Signal<T>, Rows<T>>, max_inputs> all{};
      program.for_each_edge(g, [&](auto k) {
        if (k < max_inputs) all[static_cast<std::size_t>(k)] = value(program.input(g, k));
      });
      return all;
    }
  }
  template <class G>
  constexpr auto targets(G g) const {
    auto const is_passed = [&](auto k) { return program.group(g).edges[k].passes_gradient; };
    if constexpr (has_one_input<G>) {
      auto one = target(g, first_edge);
      if (!is_passed(first_edge)) one.data = nullptr;
      return std::array{one};
    } else {
      std::array<Rows<T>, max_inputs> all{};
      program.for_each_edge(g, [&](auto k) {
        if (k < max_inputs && is_passed(k)) all[static_cast<std::size_t>(k)] = target(g, k);
      });
      return all;
    }
  }
  /// The pooling that is one pass with layer L, if L can have one.
  template <class L, class G>
  constexpr auto windows(G g) const {
    constexpr bool never = std::is_same_v<decltype(program.pools(g)), std::false_type>;
    if constexpr (never || !keeps_blocks<Backend> || !LayerTraits<L>::fuses_maxima) {
      return NoWindows{};
    } else {
      auto const last = program.pooled_last(g);
      return Windows<T, std::remove_const_t<decltype(last)>>{program.windows(g), at(program.group(g).memory), last};
    }
  }
  template <class L, class G, class Y, class PostOps>
  constexpr auto forward_pass(G g, Y y, PostOps const& post_ops) const {
    Group const& group = program.group(g);
    auto const carried = [&] {
      if constexpr (std::is_null_pointer_v<State> || std::is_same_v<decltype(program.carries(g)), std::false_type>) {
        return NoState<T>{};
      } else if constexpr (is_step_block<Count>) {
        return state + batch.states[Index{g}];
      } else {
        return state ? state + group.state * batch : nullptr;
      }
    }();
    auto const made = [&](auto in, auto x) {
      auto const to = for_head(g, y);
      auto const ops = if_fused<L>(post_ops, coldpress::PostOps<Chain<>, T>{});
      auto const pooled = windows<L>(g);
      constexpr bool streams = is_step_block<Count> || !is_no_state<std::remove_const_t<decltype(carried)>>;
      constexpr PassKind kind = streams ? PassKind::stream : PassKind::forward;
      using Pass = ForwardPass<decltype(in), decltype(x), ParameterView<T const>, std::remove_const_t<decltype(to)>,
                               std::remove_const_t<decltype(ops)>, T, std::remove_const_t<decltype(carried)>,
                               std::remove_const_t<decltype(pooled)>, decltype(Program::template variant<kind>(g))>;
      std::uint64_t const key = program.head_key(g, seed);
      Pass const made_pass{in, x, parameters_of(g), to, ops, at(group.memory), carried, key, step, pooled};
      if constexpr (is_step_block<Count>) {
        return BlockPass<Pass>{made_pass, batch.most};
      } else {
        return made_pass;
      }
    };
    if constexpr (OneInput<L>) {
      return made(program.head_inputs(g)[0], for_head(g, value(program.input(g, first_edge))));
    } else {
      return made(program.head_inputs(g), values(g));
    }
  }
  template <class L, class G, class Sinks>
  constexpr auto backward_pass(G g, Sinks const& sinks) const {
    T* const memory = at(program.group(g).memory);
    std::uint64_t const key = program.head_key(g, seed);
    using Variant = decltype(Program::template variant<PassKind::backward>(g));
    if constexpr (OneInput<L>) {
      auto const derivative = if_fused<L>(target_derivative(g, first_edge), Derivative<Chain<>, T>{});
      return detail::backward_pass<Variant>(program.head_inputs(g)[0], for_head(g, value(program.input(g, first_edge))),
                                            parameters_of(g), for_head(g, value(g)), for_head(g, gradient(g)),
                                            for_head(g, target(g, first_edge)), derivative, sinks, memory, key, step,
                                            windows<L>(g));
    } else {
      return detail::backward_pass<Variant>(program.head_inputs(g), values(g), parameters_of(g), value(g), gradient(g),
                                            targets(g), Derivative<Chain<>, T>{}, sinks, memory, key, step);
    }
  }
  /// What is applied to a head's values if L applies it itself, otherwise `nothing`, so that the pass has the same type
  /// whatever follows. Erased chains have one type anyway.
  template <class L, class Applied, class Nothing>
  static constexpr auto if_fused(Applied const& applied, [[maybe_unused]] Nothing const& nothing) {
    if constexpr (LayerTraits<L>::fuses || is_erased_chain<decltype(applied.chain)>) {
      return applied;
    } else {
      return nothing;
    }
  }
  /// Whether the compiler knows that the group makes images of images.
  template <class G>
  static constexpr bool maps_images = std::is_same_v<decltype(Program::maps_images(G{})), std::true_type>;
  /// Rows as group g's head is given them.
  template <class G, class X>
  static constexpr auto for_head(G, X rows) {
    if constexpr (maps_images<G>) {
      return rows.sized();
    } else {
      return rows;
    }
  }
  static constexpr std::integral_constant<int, 0> first_edge{};
  template <class G>
  static constexpr bool has_one_input = [] {
    if constexpr (requires { G::value; }) {
      if constexpr (Program::group(G{}).head >= 0) return Program::head_inputs(G{}).size() == 1;
    }
    return false;
  }();
};

}  // namespace coldpress
