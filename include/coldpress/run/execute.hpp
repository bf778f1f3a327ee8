// Runs a plan: forward, backward and a whole training step, written once for static and dynamic networks.
#pragma once

// A Program says what the groups are, as constants where the compiler knows them; a Run has everything else.

#include <coldpress/core/executor.hpp>
#include <coldpress/run/computed_by.hpp>
#include <coldpress/run/part_stage.hpp>
#include <coldpress/run/run.hpp>

namespace coldpress {

namespace detail {
template <class Run>
using ComputedIn = ComputedBy<std::remove_cvref_t<decltype(Run::backend)>>;

// In a static program, the functions below are called with templates, lambdas of (auto...) for example, so that what is
// not called is not even instantiated.

/// Calls f(k) if group g passes a gradient to edge k. In a static program the call is not compiled if it does not.
template <class Run, class G, class K, class F>
constexpr void where_passed(Run const& run, G g, K k, F const& f) {
  auto const passed = run.program.passes_gradient(g, k);
  if constexpr (!std::is_same_v<decltype(passed), std::false_type const>) {
    if (passed) f(k);
  }
}

/// The same for every edge of the group: f(k).
template <class Run, class G, class F>
constexpr void for_each_passed(Run const& run, G g, F const& f) {
  run.program.for_each_edge(g, [&](auto k) { where_passed(run, g, k, f); });
}

/// Calls f(k) if the edge does not share the gradient of the group, which would then be copied to where it is.
template <class Run, class G, class K, class F>
constexpr void unless_shared(Run const& run, G g, K k, F const& f) {
  auto const shared = run.program.shares_gradient(g, k);
  if constexpr (!std::is_same_v<decltype(shared), std::true_type const>) {
    if (!shared) f(k);
  }
}

/// Passes the gradient through edge k of a group that ends in a join.
template <class Run, class L, class G, class K>
constexpr void join_gradient(Run const& run, L const& layer, G g, K k) {
  auto const b = run.value(run.program.input(g, run.program.side(g)));
  auto const pass_gradient = [&](auto a) {
    run.backend.join_gradient(layer, k == run.program.side(g), run.gradient(g), a, b, run.target(g, k),
                              run.target_derivative(g, k));
  };
  if constexpr (decltype(layer.join())::needs_inputs) {
    pass_gradient(run.value(run.program.input(g, run.first_edge)));  // then there is no head
  } else {
    pass_gradient(b);
  }
}

/// The mean of a loss that compares whole samples. The sum is accumulated in double.
template <class Backend, class L, class Y, class Target, class DY, class T>
constexpr T sample_losses(Backend const& backend, L const& loss, Shape const& in, Y y, Target t, DY dy, Rows<T> dt) {
  if constexpr (requires { backend.sample_losses(loss, in, y, t, dy, dt); }) {
    return backend.sample_losses(loss, in, y, t, dy, dt);
  } else {
    auto const one = [&](Index i) {
      return static_cast<double>(loss.sample(in, y.row(i), t.row(i), dy.row(i), dt.data ? dt.row(i) : nullptr));
    };
    double total = 0;
    if constexpr (std::is_base_of_v<Context, Backend>) {
      total = backend.template sum_of<double>(y.rows, product_of(y.columns, Fixed<Context::value_cost>{}), one);
    } else {
      for (Index i = 0; i < y.rows; ++i) total += one(i);
    }
    return static_cast<T>(total / static_cast<double>(Index{y.rows}));
  }
}
/// Adds a mean loss to those of other minibatches.
template <class Run, class T>
constexpr void gather(Run const& run, double* sums, T mean) {
  ComputedIn<Run>::gather(run.backend, sums, mean, run.batch);
}
/// Lets the statistic that is group g observe the samples.
template <class Run, class Statistic, class G>
constexpr void observe_group(Run const& run, Statistic const& statistic, Shapes in, G g, double* sums) {
  ComputedIn<Run>::observe(run.backend, statistic, in, run.values(g), run.batch, sums);
}
}  // namespace detail

/// Lets the statistics observe the samples.
template <class Run>
constexpr void observe(Run const& run) {
  using detail::observe_group;  // a program may have overloads, for its own type of layer
  run.program.for_each_group([&](auto g) {
    run.program.statistic(g, [&](auto const& statistic, Shapes in) {
      double* const sums = run.sums_of(run.program.group(g).statistic);
      if (sums) observe_group(run, statistic, in, g, sums);
    });
  });
}

namespace detail {
/// Computes a group of a block of steps one step after another. `Head` is the type of the head or void, so that the
/// compiler looks at this only where it is needed.
template <class Head, class Run, class G>
constexpr void forward_by_steps(Run const& run, G g);
template <class Run>
constexpr bool is_block_of = is_step_block<std::remove_cvref_t<decltype(Run::batch)>>;
/// Whether a head's forward pass may be given the values as they are.
template <class Run, class L>
constexpr bool takes_values = !is_block_of<Run> || (has_signals<decltype(Run::backend)> && LayerTraits<L>::signals);

/// Computes the layer at the head of a group, or a phase of it, and what follows it in the group. It is inlined down to
/// the kernels, since passing arguments through memory would take longer than a small layer.
template <class Run, class L, class G, class Y, class PostOps, class Stage>
__attribute__((always_inline)) constexpr void forward_head(Run const& run, L const& layer, G g, Y y,
                                                           PostOps const& post_ops,
                                                           [[maybe_unused]] Stage const& stage) {
  if constexpr (takes_values<Run, L>) {
    auto const pass = run.template forward_pass<L>(g, y, post_ops);
    using Backend = decltype(run.backend);
    if constexpr (Stage::in_part && has_totals<L>) {
      ComputedIn<Run>::forward(run.backend, layer, staged<L>(stage, Index{g}, pass));
      if (!stage.ends(Index{g})) return;
    } else if constexpr (takes_layers<Backend> || has_loops<Backend, L> || Run::template maps_images<G>) {
      ComputedIn<Run>::forward(run.backend, layer, pass);
    } else {
      layer.forward(run.backend, pass);  // with a function in between g++ inlines less, which costs T1 5 %
    }
    if constexpr (!LayerTraits<L>::fuses && !PostOps::nothing) {
      // An argument of its own, since clang otherwise looks for map() where this branch is discarded, too.
      auto const map = [&](auto& backend) __attribute__((always_inline)) { backend.map(y, y, post_ops); };
      if (!post_ops.empty()) map(run.backend);
    }
  } else {
    forward_by_steps<L>(run, g);
  }
}

/// Computes the value of one group, or a phase of it.
template <class Run, class G, class Stage = WholePass>
__attribute__((always_inline)) constexpr void forward_group(Run const& run, G g, Stage const& stage = {}) {
  auto const y = run.value(g);
  auto const post_ops = run.post_ops(g);
  if constexpr (is_block_of<Run>) {
    if (run.batch.by_steps[Index{g}]) return forward_by_steps<void>(run, g);
  }
  run.program.head(
      g, [&](auto const& layer) __attribute__((always_inline)) { forward_head(run, layer, g, y, post_ops, stage); },
      [&](auto...) {
        if constexpr (!is_block_of<Run> || has_signals<decltype(run.backend)>)
          run.backend.map(run.value(run.program.input(g, run.first_edge)), y, post_ops);
      });
}

template <class Head, class Run, class G>
constexpr void forward_by_steps(Run const& run, G g) {
  auto const one = run.single_step(g);
  auto const to = run.value(g);
  for (Index t = 0; t < run.batch; ++t) {
    run.program.for_each_edge(g, [&](auto k) {
      auto const input = run.program.input(g, k);
      auto const from = run.value(input);
      auto const x = one.value(input);
      for (Index c = 0; c < from.features; ++c) x.data[c] = from.row(c)[t];
    });
    forward_group(one, g);
    auto const y = one.value(g);
    for (Index c = 0; c < to.features; ++c) to.row(c)[t] = y.data[c];
  }
}

/// f(k, value of output k)
template <class Run, class F>
constexpr void for_each_output(Run const& run, F f) {
  using Program = typename Run::ProgramType;
  if constexpr (requires { typename Program::Net; }) {
    [&]<int... k>(std::integer_sequence<int, k...>) {
      (f(std::size_t{k}, run.value(run.program.output(std::integral_constant<int, k>{}))), ...);
    }
    (std::make_integer_sequence<int, static_cast<int>(Program::Net::outputs.size())>{});
  } else {
    for (int k = 0; k < run.program.output_count(); ++k)
      f(static_cast<std::size_t>(k), run.value(run.program.output(k)));
  }
}
}  // namespace detail

/// Computes the value of every group of a stage, except those that end in a loss, which loss_and_gradient computes.
template <class Run, class Stage = WholePass>
__attribute__((always_inline)) constexpr void forward(Run const& run, Stage const& stage = {}) {
  run.program.for_each_group([&](auto g) __attribute__((always_inline)) {
    Group const& group = run.program.group(g);
    if (!group.needed || group.loss >= 0 || group.statistic >= 0 || !stage.has(Index{g})) return;
    detail::forward_group(run, g, stage);
  });
}

namespace detail {
/// Computes the mean of the loss at the end of a group, and its gradients with respect to what it compares.
template <class Run, class L, class G, class T = typename Run::T>
constexpr T loss_gradient(Run const& run, L const& any_shape, G g) {
  using Second = std::integral_constant<int, 1>;
  auto const x = run.value(run.program.input(g, run.first_edge));
  auto const t = run.value(run.program.input(g, Second{}));
  auto const dx = run.target(g, run.first_edge);
  Shape const in = run.program.loss_input(g);
  L const loss = loss_for(any_shape, in);
  Rows<T> dt{};
  where_passed(run, g, Second{}, [&](auto k) { dt = run.target(g, k); });
  auto const compare = [&](auto kind, auto y) {
    T mean{};
    if constexpr (ElementLoss<L>) {
      mean = run.backend.loss(loss, kind, x, y, t, dx);
      if constexpr (has_target_gradient<L>) {
        if (dt.data) run.backend.loss_target_gradient(loss, Rows<T>(y), Rows<T>(t), dt);
      }
    } else if constexpr (std::is_same_v<decltype(kind), NoNormalization>) {
      mean = sample_losses(run.backend, loss, in, y, t, dx, dt);
    } else {
      run.backend.normalize(kind, x, y);
      mean = sample_losses(run.backend, loss, in, y, t, dx, dt);
      run.backend.normalize_gradient(kind, y, dx, dx);
    }
    return mean;
  };
  auto const kind = run.program.normalization(g);
  T const mean = [&] {
    if constexpr (std::is_same_v<decltype(kind), NoNormalization const>) {
      return compare(kind, x);
    } else {
      return kind == Normalization::none ? compare(NoNormalization{}, x) : compare(kind, run.value(g));
    }
  }();
  for_each_passed(run, g, [&](auto k) {
    auto const rows = run.target(g, k);
    auto const derivative = run.target_derivative(g, k);
    // With a SampleLoss this is done even without a chain, because the padding beyond the columns is not yet zero.
    if constexpr (SampleLoss<L> || !std::remove_cvref_t<decltype(derivative)>::nothing) {
      if (SampleLoss<L> || !derivative.empty()) run.backend.map_gradient(rows, rows, derivative);
    }
    run.add(g, k);
  });
  return mean;
}
}  // namespace detail

/// Computes the losses of the minibatch, the gradients of their sums with respect to what they compare, and then the
/// statistics. Calls each(g, mean) with the mean of each loss, and returns the sum of the means.
template <class Run, class Each, class T = typename Run::T>
constexpr T loss_and_gradient(Run const& run, Each each) {
  using detail::loss_gradient;
  T total{};
  run.program.for_each_group([&](auto g) {
    auto const node = run.program.group(g).loss;  // a number: no table of groups
    if (node < 0) return;
    run.program.loss(g, [&](auto const& loss) {
      T const mean = loss_gradient(run, loss, g);
      each(g, mean);
      total += mean;
      if (double* const sums = run.sums_of(node)) detail::gather(run, sums, mean);
    });
  });
  observe(run);
  return total;
}

/// Takes the gradient of an output from the user. This is the first step of a backward pass without a loss.
template <class Run, class Output, class T = typename Run::T>
constexpr void seed_gradient(Run const& run, Output output, T const* dy) {
  if (!(output < 0 ? run.program.plan().input_gradients[-1 - output].used() : run.program.group(output).needs_gradient))
    return;
  auto const columns = run.program.columns(output);
  Rows<T const, decltype(run.batch), decltype(columns)> const rows{dy, run.batch, columns, columns};
  run.backend.map_gradient(rows, run.gradient(output),
                           detail::applied(run.derivative(output), run.program.seed_finishes(output)));
}

/// What a backward pass computes. Computing both at once lets the plan reuse memory; computing them separately needs a
/// plan with keep_gradients.
enum class Pass { both, inputs, parameters };

namespace detail {
/// Computes the gradients of the layer at the head of a group, where `sinks` are those of its own parameters: those of
/// its inputs first, because its parameters may change afterwards. In a part whose sums will be those of all parts, the
/// parameters come first, with its own.
template <class Run, class L, class G, class Sinks, class Stage>
constexpr void layer_gradient(Run const& run, L const& layer, G g, Sinks const& sinks, Pass pass, Stage const& stage) {
  bool const inputs = pass != Pass::parameters;
  auto const all = staged<L>(stage, Index{g}, run.template backward_pass<L>(g, sinks));
  using Computed = ComputedIn<Run>;
  auto const parameters = [&] {
    if constexpr (has_parameters<L>) {
      if (pass != Pass::inputs) Computed::backward_parameters(run.backend, layer, all);
    }
  };
  if (inputs && stage.begins(Index{g})) Computed::backward(run.backend, layer, all);
  if (!stage.ends(Index{g})) return parameters();
  if constexpr (!LayerTraits<L>::propagates) {
  } else if constexpr (OneInput<L>) {
    if (inputs) {
      for_each_passed(run, g, [&](auto k) {
        if (k != 0) return;
        Computed::backward_input(run.backend, layer, all);
        // This is done even without a chain, because it sets the padding beyond the columns to zero.
        if constexpr (!LayerTraits<L>::fuses)
          run.backend.map_gradient(all.dx, all.dx, run.target_derivative(g, run.first_edge));
        run.add(g, k);
      });
    }
  } else if (inputs) {
    int const side = run.program.group(g).side;
    bool any = false;
    for_each_passed(run, g, [&](auto k) { any = any || k != side; });
    if (any) Computed::backward_input(run.backend, layer, all);
    for_each_passed(run, g, [&](auto k) {
      if (k != side) run.backend.map_gradient(run.target(g, k), run.target(g, k), run.target_derivative(g, k));
    });
    for_each_passed(run, g, [&](auto k) {
      if (k != side) run.add(g, k);
    });
  }
  if (stage.begins(Index{g})) parameters();
}

/// The same with the sinks of all parameters. A layer without parameters has one function for all sinks, and a layer
/// that does not sum over the samples one for all stages, of which it has but one.
template <class Run, class L, class G, class Sinks, class Stage>
constexpr void head_gradient(Run const& run, L const& layer, G g, Sinks const& sinks, Pass pass,
                             [[maybe_unused]] Stage const& stage) {
  auto const own = sinks_of<L>(sinks, run.program.slots(g));
  if constexpr (has_totals<L>) {
    layer_gradient(run, layer, g, own, pass, stage);
  } else {
    layer_gradient(run, layer, g, own, pass, WholePass{});
  }
}

/// For backward: nothing is done behind a group.
struct NothingMore {
  constexpr void operator()(auto) const {}
};
}  // namespace detail

/// Passes gradients from the last group to the first, and those of a group in the order of its edges. `sinks` are those
/// of all parameters. Gradients that are not needed are not computed, and in a static network they are not even
/// compiled. Calls passed(g) when it is done with a group. It computes the groups of a stage.
template <class Run, class Sinks, class Passed = detail::NothingMore, class Stage = WholePass>
constexpr void backward(Run const& run, Sinks const& sinks, Pass pass = Pass::both, Passed const& passed = {},
                        Stage const& stage = {}) {
  using detail::head_gradient, detail::join_gradient;
  run.program.for_each_group_reversed([&](auto g) {
    Group const& group = run.program.group(g);
    if (group.loss >= 0 || !group.needs_gradient || !stage.has(Index{g})) return;
    auto const each_passed = [&](auto f) {
      if (pass != Pass::parameters) detail::for_each_passed(run, g, f);
    };
    run.program.head(
        g, [&](auto const& layer) { head_gradient(run, layer, g, sinks, pass, stage); },
        [&](auto...) {
          if (group.join >= 0) return;
          each_passed([&](auto from) {
            detail::unless_shared(run, g, from, [&](auto k) {
              run.backend.map_gradient(run.gradient(g), run.target(g, k), run.target_derivative(g, k));
              run.add(g, k);
            });
          });
        });
    if (!stage.ends(Index{g})) return;
    run.program.join(
        g,
        [&](auto const& layer) {  // with a head, its first operand's gradient is that of the sum
          each_passed([&](auto from) {
            if (group.head >= 0 && from != group.side) return;
            detail::unless_shared(run, g, from, [&](auto k) {
              join_gradient(run, layer, g, k);
              run.add(g, k);
            });
          });
        },
        [] {});
    passed(g);
  });
}

}  // namespace coldpress
