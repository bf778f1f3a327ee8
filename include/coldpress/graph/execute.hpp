// Runs a plan: forward, backward and a whole training step, each written once for static and dynamic networks. A
// Program says what the groups are (as constants where the compiler knows them); everything else is a Run.
#pragma once

#include <coldpress/backend/backend.hpp>
#include <coldpress/graph/plan.hpp>

#include <array>

namespace coldpress {

/// The parameters of one layer in a flat buffer: p[i] is where parameter i starts.
template <class T>
struct ParameterView {
  T* base;
  Slot const* slots;
  T* operator[](int i) const { return base + slots[i].offset; }
};

/// Sinks of the parameters of one layer, or of all: `slots` begins with the first.
template <class T>
struct GradientSinks {
  GradientSink<T> whole;  // of the whole buffer
  Slots slots;
  GradientSink<T> operator[](int i) const {
    GradientSink<T> sink = whole.at(slots.slots[i].offset);
    sink.add = sink.add || slots.slots[i].adds;
    return sink;
  }
};
template <class Optimizer, class T>
struct UpdateSinks {
  UpdateSink<Optimizer, T> whole;  // of the whole buffer
  Slots slots;
  bool const* frozen;  // by number of the owner; null: none
  float observation;   // the factor of what statistics are handed
  UpdateSink<Optimizer, T> operator[](int i) const {
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

namespace detail {

template <class Chain>
constexpr bool empty(Chain const& chain) {
  return chain.length == 0;
}

/// The slope, or none where more is to be added before it applies: that is known only of networks that branch.
template <class Chain, class T>
Slope<Chain, T> applied(Slope<Chain, T> slope, bool apply) {
  if constexpr (requires { slope.chain.length = 0; }) {
    if (!apply) slope.chain.length = 0;
  }
  return slope;
}

template <class X, class P, class Y, class DY, class DX, class Chain, class Sinks, class T>
auto backward_pass(Shape in, X x, P p, Y y, DY dy, DX dx, Slope<Chain, T> slope, Sinks sinks, T* memory,
                   std::uint64_t key, std::uint64_t step) {
  return BackwardPass<X, P, Y, DY, DX, Chain, Sinks, T>{in, x, p, y, dy, dx, slope, sinks, memory, key, step};
}

}  // namespace detail

/// One pass of a minibatch through a network. Pointers only: the caller owns all memory, sized by the plan.
///   Program: inputs_capacity; group(g), plan(); for_each_group(f), for_each_group_reversed(f) with f(g); head(g, some,
///   none), chain(g, seed), loss(f); columns(g), slots(g), passes_gradient(g), head_input(g), head_key(g, seed). In a
///   static program g is a constant.
template <class Program, class Backend, class Count>
struct Run {
  using T = typename Backend::Scalar;
  Program const& program;
  Backend backend;
  T const* parameters;
  T* workspace;
  std::array<T const*, Program::inputs_capacity> inputs;
  [[no_unique_address]] Count batch;
  std::uint64_t seed;
  std::uint64_t step;  // 0: inference
  T* state = nullptr;  // where the network streams

  T* at(Buffer const& buffer) const { return buffer.used() ? workspace + buffer.offset * batch : nullptr; }

  /// Rows of what group g makes; input k of the network where g is -1 - k.
  template <class G>
  auto value(G g) const {
    auto const columns = program.columns(g);
    if (g < 0)
      return Rows<T, Count, decltype(columns)>{const_cast<T*>(inputs[static_cast<std::size_t>(-1 - g)]), batch, columns,
                                               columns};
    Buffer const& buffer = program.group(g).value;
    return Rows<T, Count, decltype(columns)>{at(buffer), batch, columns, buffer.pitch};
  }
  /// Rows of the gradient with respect to group g's sums before its chain; of the network's input where g < 0.
  template <class G>
  auto gradient(G g) const {
    auto const columns = program.columns(g);
    Buffer const& buffer = g < 0 ? program.plan().input_gradients[-1 - g] : program.group(g).gradient;
    return Rows<T, Count, decltype(columns)>{at(buffer), batch, columns, buffer.pitch};
  }
  template <class G>
  auto then(G g) const {
    Group const& group = program.group(g);
    auto const chain = program.chain(g, seed);
    return Then<std::remove_const_t<decltype(chain)>, T>{chain, step, at(group.kept), group.kept.pitch};
  }
  /// The slope of group g's chain; none for the network's input.
  template <class G>
  auto slope(G g) const {
    auto const chain = program.chain(g, seed);
    using Result = Slope<std::remove_const_t<decltype(chain)>, T>;
    if (g < 0) return Result{.chain = chain};
    Group const& group = program.group(g);
    bool const from_input = group.head < 0 && group.chain_needs_input;  // then the chain's input is the group's
    auto const x = value(program.input(g));
    Buffer const& kept = group.kept;
    return Result{chain,
                  step,
                  from_input ? x.data : at(kept),
                  from_input ? Index{x.pitch} : kept.pitch,
                  at(group.value),
                  group.value.pitch};
  }
  /// Where group g leaves the gradient of its input, and with which slope: with none where others add to it.
  template <class G>
  auto target(G g) const {
    auto rows = gradient(program.input(g));
    if (program.group(g).adds) rows.data = at(program.group(g).addend), rows.pitch = program.group(g).addend.pitch;
    return rows;
  }
  template <class G>
  auto target_slope(G g) const {
    Group const& group = program.group(g);
    return detail::applied(slope(program.input(g)), group.finishes && !group.adds);
  }
  template <class G>
  auto parameters_of(G g) const {
    return ParameterView<T const>{parameters, program.slots(g).slots};
  }
  template <class G, class X, class Y, class Chain>
  auto forward_pass(G g, X x, Y y, Then<Chain, T> const& then) const {
    Group const& group = program.group(g);
    T* const carried = state ? state + group.state * batch : nullptr;
    return ForwardPass<X, ParameterView<T const>, Y, Chain, T>{
        program.head_input(g), x,       parameters_of(g),          y,   then,
        at(group.memory),      carried, program.head_key(g, seed), step};
  }
  template <class G, class Sinks>
  auto backward_pass(G g, Sinks const& sinks) const {
    auto const from = program.input(g);
    return detail::backward_pass(program.head_input(g), value(from), parameters_of(g), value(g), gradient(g), target(g),
                                 target_slope(g), sinks, at(program.group(g).memory), program.head_key(g, seed), step);
  }
};

/// Computes every group's value; those that end in a loss are left to loss_and_gradient where `skip_loss`.
template <class Run>
void forward(Run const& run, bool skip_loss = false) {
  run.program.for_each_group([&](auto g) {
    Group const& group = run.program.group(g);
    if (!group.needed || (group.loss >= 0 && (skip_loss || group.head < 0))) return;
    auto const x = run.value(run.program.input(g));
    auto const y = run.value(g);
    auto const then = run.then(g);
    run.program.head(
        g,
        [&](auto const& layer) {
          layer.forward(run.backend, run.forward_pass(g, x, y, then));
          if constexpr (!fuses<std::remove_cvref_t<decltype(layer)>>) {
            if (!detail::empty(then.chain)) run.backend.map(y, y, then);
          }
        },
        [&] { run.backend.map(x, y, then); });
  });
}

/// The loss of the minibatch (its mean), and the gradient of its sum with respect to what goes into the last group.
template <class Run, class T = typename Run::T>
T loss_and_gradient(Run const& run, T const* target) {
  T result{};
  run.program.for_each_group([&](auto g) {
    Group const& group = run.program.group(g);
    if (group.loss < 0) return;
    auto const from = run.program.input(g);
    run.program.loss([&](auto const& loss_function) {
      auto const x = run.value(from);
      auto const dx = run.gradient(from);
      run.program.head(
          g,
          [&](auto const& layer) {
            if constexpr (requires { layer.normalization; }) {
              result = run.backend.loss(loss_function, layer.normalization, x, run.value(g), target, dx);
            }
          },
          [&] { result = run.backend.loss(loss_function, Normalization::none, x, x, target, dx); });
      auto const slope = run.slope(from);
      if (group.finishes && !detail::empty(slope.chain)) run.backend.map_gradient(dx, dx, slope);
    });
  });
  return result;
}

/// Takes the gradient of an output from the user: the first step of a backward pass without a loss.
template <class Run, class Output, class T = typename Run::T>
void seed_gradient(Run const& run, Output output, T const* dy) {
  if (!(output < 0 ? run.program.plan().input_gradients[-1 - output].used() : run.program.group(output).needs_gradient))
    return;
  auto const columns = run.program.columns(output);
  Rows<T const, decltype(run.batch), decltype(columns)> const rows{dy, run.batch, columns, columns};
  bool const whole = output < 0 || run.program.group(output).seed_finishes;
  run.backend.map_gradient(rows, run.gradient(output), detail::applied(run.slope(output), whole));
}

/// What a backward pass computes. Both at once lets the plan reuse memory; apart needs one with keep_gradients.
enum class Pass { both, inputs, parameters };

/// Passes gradients from the last group to the first. sinks(slots) says where those of a layer's parameters go; a
/// layer's input gradient is computed before its parameters may change. What nobody needs is not computed, and in a
/// static network not even compiled.
template <class Run, class Sinks>
void backward(Run const& run, Sinks sinks, Pass pass = Pass::both) {
  run.program.for_each_group_reversed([&](auto g) {
    Group const& group = run.program.group(g);
    if (group.loss >= 0 || !group.needs_gradient) return;
    bool const inputs = pass != Pass::parameters, parameters = pass != Pass::inputs;
    auto const from = run.program.input(g);
    auto const wanted = run.program.passes_gradient(g);
    constexpr bool possible = !std::is_same_v<decltype(wanted), std::false_type const>;
    run.program.head(
        g,
        [&](auto const& layer) {
          using L = std::remove_cvref_t<decltype(layer)>;
          auto const all = run.backward_pass(g, sinks(run.program.slots(g)));
          if constexpr (requires { layer.backward(run.backend, all); }) {
            if (inputs) layer.backward(run.backend, all);
          }
          if constexpr (possible) {
            if (wanted && inputs) {
              layer.backward_input(run.backend, all);
              // Also without a chain: what lies beyond the columns becomes zero.
              if constexpr (!fuses<L>) run.backend.map_gradient(all.dx, all.dx, all.slope);
            }
          }
          if constexpr (has_parameters<L>) {
            if (parameters) layer.backward_parameters(run.backend, all);
          }
        },
        [&] {
          if constexpr (possible) {
            if (wanted && inputs) run.backend.map_gradient(run.gradient(g), run.target(g), run.target_slope(g));
          }
        });
    if (group.adds && inputs)
      run.backend.add_gradient(run.target(g), run.gradient(from), detail::applied(run.slope(from), group.finishes));
  });
}

}  // namespace coldpress
