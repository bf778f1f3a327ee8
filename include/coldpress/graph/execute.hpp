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
  GradientSinks of(Slots layer) const { return {whole, layer}; }
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
  UpdateSinks of(Slots layer) const { return {whole, layer, frozen, observation}; }
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

/// Those of a layer without parameters: its backward is the same code whatever happens to the parameters of others.
struct NoSinks {};

namespace detail {

template <class L, class Sinks>
auto sinks_of(Sinks const& sinks, Slots layer) {
  if constexpr (has_parameters<L>) {
    return sinks.of(layer);
  } else {
    return NoSinks{};
  }
}

/// The slope, or none where more is to be added before it applies. `apply` is a constant in a static program.
template <class Chain, class T, class Apply>
auto applied(Slope<Chain, T> slope, Apply apply) {
  if constexpr (std::is_same_v<Apply, std::false_type>) {
    return Slope<coldpress::Chain<>, T>{};
  } else {
    if constexpr (requires { slope.chain.length = 0; }) {
      if (!apply) slope.chain.length = 0;
    }
    return slope;
  }
}

template <class In, class X, class P, class Y, class DY, class DX, class Chain, class Sinks, class T,
          class Windows = NoWindows>
auto backward_pass(In in, X x, P p, Y y, DY dy, DX dx, Slope<Chain, T> slope, Sinks sinks, T* memory, std::uint64_t key,
                   std::uint64_t step, Windows windows = {}) {
  return BackwardPass<In, X, P, Y, DY, DX, Chain, Sinks, T, Windows>{in,    x,     p,      y,   dy,   dx,
                                                                     slope, sinks, memory, key, step, windows};
}

}  // namespace detail

/// One pass of a minibatch through a network. Pointers only: the caller owns all memory, sized by the plan.
///   Program: inputs_capacity; group(g), plan(); for_each_group(f), for_each_group_reversed(f) with f(g);
///   for_each_edge(g, f) with f(k), input(g, k), side(g); passes_gradient, adds, finishes, applies (g, k), carries(g),
///   seed_finishes(g); pools(g), pooled_last(g), windows(g); head(g, some, none), join(g, some, none), join_with(g,
///   backend, other), chain(g, seed), loss(g, f), loss_input(g), statistic(g, f), sums(node); columns(g), slots(g),
///   head_inputs(g), head_key(g, seed); bounds_weights(). In a static program g, k and flags are constants.
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
  std::uint64_t step;      // 0: inference
  T* state = nullptr;      // where the network streams
  double* sums = nullptr;  // where losses and statistics are gathered

  /// Of a node; null where none are gathered.
  double* sums_of(int node) const {
    int const first = program.sums(node);
    return sums && first >= 0 ? sums + first : nullptr;
  }
  T* at(Buffer const& buffer) const { return buffer.used() ? workspace + buffer.offset * batch : nullptr; }

  /// Rows with the shape and the layout of what group g makes, or of input k of the network where g is -1 - k.
  template <class G>
  auto rows(G g, T* data, Index pitch) const {
    auto columns = program.columns(g);
    auto blocked = program.blocked(g);
    return Rows<T, Count, decltype(columns), Index, decltype(blocked)>{data, batch, columns, pitch, blocked};
  }
  /// What group g makes, or input k of the network.
  template <class G>
  auto value(G g) const {
    if (g < 0) return rows(g, const_cast<T*>(inputs[static_cast<std::size_t>(-1 - g)]), program.columns(g));
    Buffer const& buffer = program.group(g).value;
    return rows(g, at(buffer), buffer.pitch);
  }
  /// Rows of the gradient with respect to what group g's chain starts from; of the network's input where g < 0.
  template <class G>
  auto gradient(G g) const {
    Buffer const& buffer = g < 0 ? program.plan().input_gradients[-1 - g] : program.group(g).gradient;
    return rows(g, at(buffer), buffer.pitch);
  }
  /// What is left to do with the sums of group g's head, or with what it reads.
  template <class G>
  auto then(G g) const {
    Group const& group = program.group(g);
    auto const chain = program.chain(g, seed);
    auto const join = program.join_with(g, backend, [&](auto edge) {
      auto const other = value(program.input(g, edge));
      return With<NoJoin, T>{{}, other.data, other.pitch, other.columns};
    });
    return Then<std::remove_const_t<decltype(chain)>, T, std::remove_const_t<decltype(join)>>{
        chain, step, at(group.kept), group.kept.pitch, join};
  }
  /// The slope of group g's chain; none for the network's input.
  template <class G>
  auto slope(G g) const {
    auto const chain = program.chain(g, seed);
    using Result = Slope<std::remove_const_t<decltype(chain)>, T>;
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
  /// Where group g leaves the gradient of what edge k reads, and with which slope: with none where others add to it.
  template <class G, class K>
  auto target(G g, K k) const {
    auto rows = gradient(program.input(g, k));
    Buffer const& addend = program.group(g).edges[k].addend;
    if (addend.used()) rows.data = at(addend), rows.pitch = addend.pitch;
    return rows;
  }
  template <class G, class K>
  auto target_slope(G g, K k) const {
    return detail::applied(slope(program.input(g, k)), program.applies(g, k));
  }
  /// The gradient that target(g, k) took, to the others: with the slope, if it is the last.
  template <class G, class K>
  void add(G g, K k) const {
    auto const adds = program.adds(g, k);
    if constexpr (!std::is_same_v<decltype(adds), std::false_type const>) {
      auto const from = program.input(g, k);
      if (adds)
        backend.add_gradient(target(g, k), gradient(from), detail::applied(slope(from), program.finishes(g, k)));
    }
  }
  template <class G>
  auto parameters_of(G g) const {
    return ParameterView<T const>{parameters, program.slots(g).slots};
  }
  /// Of a layer of several inputs: what it reads, and where their gradients go.
  template <class G>
  auto values(G g) const {
    std::array<Rows<T>, max_inputs> all{};
    program.for_each_edge(g, [&](auto k) {
      if (k < max_inputs) all[static_cast<std::size_t>(k)] = value(program.input(g, k));
    });
    return all;
  }
  template <class G>
  auto targets(G g) const {
    std::array<Rows<T>, max_inputs> all{};
    program.for_each_edge(g, [&](auto k) {
      if (k < max_inputs && program.group(g).edges[k].passes_gradient) all[static_cast<std::size_t>(k)] = target(g, k);
    });
    return all;
  }
  /// Of the pooling that is one pass with layer L, where there can be one.
  template <class L, class G>
  auto windows(G g) const {
    constexpr bool never = std::is_same_v<decltype(program.pools(g)), std::false_type>;
    if constexpr (never || !keeps_blocks<Backend> || !requires { L::pools; }) {
      return NoWindows{};
    } else {
      auto const last = program.pooled_last(g);
      return Windows<T, std::remove_const_t<decltype(last)>>{program.windows(g), at(program.group(g).memory), last};
    }
  }
  template <class L, class G, class Y, class Then>
  auto forward_pass(G g, Y y, Then const& then) const {
    Group const& group = program.group(g);
    auto const carried = [&] {
      if constexpr (std::is_same_v<decltype(program.carries(g)), std::false_type>) {
        return nullptr;
      } else {
        return state ? state + group.state * batch : nullptr;
      }
    }();
    auto const made = [&](auto in, auto x) {
      auto const pooled = windows<L>(g);
      return ForwardPass<decltype(in), decltype(x), ParameterView<T const>, Y, Then, T, decltype(carried),
                         std::remove_const_t<decltype(pooled)>>{
          in, x, parameters_of(g), y, then, at(group.memory), carried, program.head_key(g, seed), step, pooled};
    };
    if constexpr (OneInput<L>) {
      return made(program.head_inputs(g)[0], value(program.input(g, first_edge)));
    } else {
      return made(program.head_inputs(g), values(g));
    }
  }
  template <class L, class G, class Sinks>
  auto backward_pass(G g, Sinks const& sinks) const {
    T* const memory = at(program.group(g).memory);
    std::uint64_t const key = program.head_key(g, seed);
    if constexpr (OneInput<L>) {
      return detail::backward_pass(program.head_inputs(g)[0], value(program.input(g, first_edge)), parameters_of(g),
                                   value(g), gradient(g), target(g, first_edge), target_slope(g, first_edge), sinks,
                                   memory, key, step, windows<L>(g));
    } else {
      return detail::backward_pass(program.head_inputs(g), values(g), parameters_of(g), value(g), gradient(g),
                                   targets(g), Slope<Chain<>, T>{}, sinks, memory, key, step);
    }
  }
  static constexpr std::integral_constant<int, 0> first_edge{};
};

namespace detail {
/// f() where g passes a gradient to edge k; in a static program not compiled where it does not.
template <class Run, class G, class K, class F>
void where_passed(Run const& run, G g, K k, F f) {
  auto const passed = run.program.passes_gradient(g, k);
  if constexpr (!std::is_same_v<decltype(passed), std::false_type const>) {
    if (passed) f();
  }
}

/// Through edge k of a group that joins.
template <class Run, class L, class G, class K>
void join_gradient(Run const& run, L const& layer, G g, K k) {
  auto const b = run.value(run.program.input(g, run.program.side(g)));
  auto const hand_over = [&](auto a) {
    run.backend.join_gradient(layer, k == run.program.side(g), run.gradient(g), a, b, run.target(g, k),
                              run.target_slope(g, k));
  };
  if constexpr (decltype(layer.join())::needs_inputs) {
    hand_over(run.value(run.program.input(g, run.first_edge)));  // then there is no head
  } else {
    hand_over(b);
  }
}

/// The mean of a loss over samples y, which it takes whole.
template <class L, class Y, class Target, class DY, class T>
T sample_losses(L const& loss, Shape const& in, Y y, Target t, DY dy, Rows<T> dt) {
  T total{};
  for (Index i = 0; i < y.rows; ++i)
    total += loss.sample(in, y.row(i), t.row(i), dy.row(i), dt.data ? dt.row(i) : nullptr);
  return total / static_cast<T>(Index{y.rows});
}
template <class Backend, class L, class Y, class Target, class DY, class T>
T sample_losses_by(Backend const& backend, L const& loss, Shape const& in, Y y, Target t, DY dy, Rows<T> dt) {
  if constexpr (takes_layers<Backend>) {
    return backend.sample_losses(loss, in, y, t, dy, dt);
  } else {
    return sample_losses(loss, in, y, t, dy, dt);
  }
}
/// A mean loss, among those of other minibatches.
template <class Run, class T>
void gather(Run const& run, double* sums, T mean) {
  if constexpr (takes_layers<decltype(run.backend)>) {
    run.backend.gather(sums, mean, run.batch);
  } else {
    sums[0] += static_cast<double>(mean) * static_cast<double>(Index{run.batch});
    sums[1] += static_cast<double>(Index{run.batch});
  }
}
}  // namespace detail

/// Shows the samples to the statistics.
template <class Run>
void observe(Run const& run) {
  using T = typename Run::T;
  run.program.for_each_group([&](auto g) {
    run.program.statistic(g, [&](auto const& statistic, Shapes in) {
      double* const sums = run.sums_of(run.program.group(g).statistic);
      if (!sums) return;
      auto const x = run.values(g);
      if constexpr (takes_layers<decltype(run.backend)>) {
        run.backend.observe(statistic, in, x, sums);
      } else {
        for (Index i = 0; i < run.batch; ++i) {
          std::array<T const*, max_inputs> sample{};
          for (std::size_t k = 0; k < in.size(); ++k) sample[k] = x[k].row(i);
          statistic.observe(in, sample.data(), sums);
        }
      }
    });
  });
}

/// Computes every group's value; those that end in a loss are left to loss_and_gradient. Inlined down to the kernels:
/// what is passed on through memory takes longer than a small layer.
template <class Run>
__attribute__((always_inline)) inline void forward(Run const& run) {
  run.program.for_each_group([&](auto g) __attribute__((always_inline)) {
    Group const& group = run.program.group(g);
    if (!group.needed || group.loss >= 0 || group.statistic >= 0) return;
    auto const y = run.value(g);
    auto const then = run.then(g);
    run.program.head(
        g,
        [&](auto const& layer) __attribute__((always_inline)) {
          using L = std::remove_cvref_t<decltype(layer)>;
          auto const pass = run.template forward_pass<L>(g, y, then);
          if constexpr (takes_layers<decltype(run.backend)>) {
            run.backend.forward(layer, pass);
          } else {
            layer.forward(run.backend, pass);
          }
          if constexpr (!fuses<L> && !then.nothing) {
            if (!then.empty()) run.backend.map(y, y, then);
          }
        },
        [&] { run.backend.map(run.value(run.program.input(g, run.first_edge)), y, then); });
  });
}

/// The losses of the minibatch (their means), each given to each(g, mean), and the gradients of their sums with respect
/// to what they compare; then the statistics. Returns the sum of the losses.
template <class Run, class Each, class T = typename Run::T>
T loss_and_gradient(Run const& run, Each each) {
  using Second = std::integral_constant<int, 1>;
  T total{};
  run.program.for_each_group([&](auto g) {
    if (run.program.group(g).loss < 0) return;
    run.program.loss(g, [&](auto const& loss) {
      auto const head = run.program.group(g).head, node = run.program.group(g).loss;  // not the group: no table of them
      using L = std::remove_cvref_t<decltype(loss)>;
      auto const x = run.value(run.program.input(g, run.first_edge));
      auto const t = run.value(run.program.input(g, Second{}));
      auto const dx = run.target(g, run.first_edge);
      Shape const in = run.program.loss_input(g);
      T mean{};
      Rows<T> dt{};
      detail::where_passed(run, g, Second{}, [&] { dt = run.target(g, Second{}); });
      run.program.head(
          g,
          [&](auto const& layer) {
            if constexpr (requires { layer.normalization; }) {
              if constexpr (ElementLoss<L>) {
                mean = run.backend.loss(loss, layer.normalization, x, run.value(g), t, dx);
              } else {
                run.backend.normalize(layer.normalization, x, run.value(g));
                mean = detail::sample_losses_by(run.backend, loss, in, run.value(g), t, dx, dt);
                run.backend.normalize_gradient(layer.normalization, run.value(g), dx, dx);
              }
            }
          },
          [&] {
            if constexpr (ElementLoss<L>) {
              mean = run.backend.loss(loss, Normalization::none, x, x, t, dx);
            } else {
              mean = detail::sample_losses_by(run.backend, loss, in, x, t, dx, dt);
            }
          });
      if constexpr (ElementLoss<L> && has_target_gradient<L>) {
        if (dt.data)
          run.backend.loss_target_gradient(loss, head < 0 ? Rows<T>(x) : Rows<T>(run.value(g)), Rows<T>(t), dt);
      }
      auto const hand_over = [&](auto k, auto rows) {
        auto const slope = run.target_slope(g, k);
        // Also without a chain where what lies beyond the columns is not yet zero.
        if constexpr (SampleLoss<L> || !slope.nothing) {
          if (SampleLoss<L> || !slope.empty()) run.backend.map_gradient(rows, rows, slope);
        }
        run.add(g, k);
      };
      detail::where_passed(run, g, run.first_edge, [&] { hand_over(run.first_edge, dx); });
      detail::where_passed(run, g, Second{}, [&] { hand_over(Second{}, run.target(g, Second{})); });
      each(g, mean);
      total += mean;
      if (double* const sums = run.sums_of(node)) detail::gather(run, sums, mean);
    });
  });
  observe(run);
  return total;
}

/// Takes the gradient of an output from the user: the first step of a backward pass without a loss.
template <class Run, class Output, class T = typename Run::T>
void seed_gradient(Run const& run, Output output, T const* dy) {
  if (!(output < 0 ? run.program.plan().input_gradients[-1 - output].used() : run.program.group(output).needs_gradient))
    return;
  auto const columns = run.program.columns(output);
  Rows<T const, decltype(run.batch), decltype(columns)> const rows{dy, run.batch, columns, columns};
  run.backend.map_gradient(rows, run.gradient(output),
                           detail::applied(run.slope(output), run.program.seed_finishes(output)));
}

/// What a backward pass computes. Both at once lets the plan reuse memory; apart needs one with keep_gradients.
enum class Pass { both, inputs, parameters };

namespace detail {
template <class Run, class G, class F>
void for_each_passed(Run const& run, G g, F f) {
  run.program.for_each_edge(g, [&](auto k) { where_passed(run, g, k, [&] { f(k); }); });
}

/// A layer's own functions, or those of a backend that takes layers whole.
template <class Backend, class L, class Pass>
void input_gradient(Backend const& backend, L const& layer, Pass const& pass) {
  if constexpr (takes_layers<Backend>) {
    backend.backward_input(layer, pass);
  } else {
    layer.backward_input(backend, pass);
  }
}
template <class Backend, class L, class Pass>
void parameter_gradients(Backend const& backend, L const& layer, Pass const& pass) {
  if constexpr (takes_layers<Backend>) {
    backend.backward_parameters(layer, pass);
  } else {
    layer.backward_parameters(backend, pass);
  }
}

/// Through the layer at the head of a group: its input gradient before its parameters, which may change.
template <class Run, class L, class G, class Sinks>
void head_gradient(Run const& run, L const& layer, G g, Sinks const& sinks, Pass pass) {
  bool const inputs = pass != Pass::parameters;
  auto const all = run.template backward_pass<L>(g, sinks);
  if constexpr (takes_layers<decltype(run.backend)>) {
    if (inputs) run.backend.backward(layer, all);
  } else if constexpr (requires { layer.backward(run.backend, all); }) {
    if (inputs) layer.backward(run.backend, all);
  }
  if constexpr (!propagates<L>) {
  } else if constexpr (OneInput<L>) {
    if (inputs) {
      for_each_passed(run, g, [&](auto k) {
        if (k != 0) return;
        input_gradient(run.backend, layer, all);
        // Also without a chain: what lies beyond the columns becomes zero.
        if constexpr (!fuses<L>) run.backend.map_gradient(all.dx, all.dx, all.slope);
      });
    }
  } else if (inputs) {
    int const side = run.program.group(g).side;
    bool any = false;
    for_each_passed(run, g, [&](auto k) { any = any || k != side; });
    if (any) input_gradient(run.backend, layer, all);
    for_each_passed(run, g, [&](auto k) {
      if (k != side) run.backend.map_gradient(run.target(g, k), run.target(g, k), run.target_slope(g, k));
    });
  }
  if constexpr (has_parameters<L>) {
    if (pass != Pass::inputs) parameter_gradients(run.backend, layer, all);
  }
}
}  // namespace detail

/// Passes gradients from the last group to the first. Sinks: of all parameters. What nobody needs is not computed, and
/// in a static network not even compiled.
template <class Run, class Sinks>
void backward(Run const& run, Sinks const& sinks, Pass pass = Pass::both) {
  run.program.for_each_group_reversed([&](auto g) {
    Group const& group = run.program.group(g);
    if (group.loss >= 0 || !group.needs_gradient) return;
    auto const each_passed = [&](auto f) {
      if (pass != Pass::parameters) detail::for_each_passed(run, g, f);
    };
    run.program.join(
        g,
        [&](auto const& layer) {  // with a head, its first operand's gradient is that of the sum
          each_passed([&](auto k) {
            if (group.head < 0 || k == group.side) detail::join_gradient(run, layer, g, k);
          });
        },
        [] {});
    run.program.head(
        g,
        [&](auto const& layer) {
          using L = std::remove_cvref_t<decltype(layer)>;
          detail::head_gradient(run, layer, g, detail::sinks_of<L>(sinks, run.program.slots(g)), pass);
        },
        [&] {
          if (group.join >= 0) return;
          each_passed(
              [&](auto k) { run.backend.map_gradient(run.gradient(g), run.target(g, k), run.target_slope(g, k)); });
        });
    each_passed([&](auto k) { run.add(g, k); });
  });
}

}  // namespace coldpress
