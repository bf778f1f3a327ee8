// What a stream needs to know about a program.
#pragma once

#include <coldpress/run/execute.hpp>
#include <coldpress/run/stream.hpp>

namespace coldpress {

namespace detail {
/// What a program remembers from block to block.
struct StreamPlan {
  std::vector<Index> states;   // by group: where the state of its head is, in values
  std::vector<Index> windows;  // by value, the inputs before the groups: the number of its past steps that layers read
  Index state = 0;             // the size of all states
  Index past = 0;              // the number of earlier steps on which an output depends; endless_past: on all
  bool by_steps = false;       // whether any group of a block is computed step by step
  bool calls = true;           // whether every layer computes by calls that a backend can record
};
template <class Backend, class Program>
StreamPlan plan_stream(Program const& program, Index inputs) {
  auto const groups = static_cast<std::size_t>(program.plan().groups);
  StreamPlan plan;
  plan.states.resize(groups);
  plan.windows.resize(groups + static_cast<std::size_t>(inputs));
  std::vector<Index> past(plan.windows.size());
  auto const at = [&](std::vector<Index>& all, Index g) -> Index& { return all[static_cast<std::size_t>(inputs + g)]; };
  program.for_each_group([&](auto group) {
    Index const g{group};
    plan.by_steps = plan.by_steps || program.group(group).positioned;
    Index first = -1;
    program.for_each_edge(group, [&](auto k) {
      if (k == 0) first = Index{program.input(group, k)};
      at(past, g) = std::max(at(past, g), at(past, Index{program.input(group, k)}));
    });
    program.head(
        group,
        [&](auto const& layer) {
          using L = std::remove_cvref_t<decltype(layer)>;
          constexpr bool signals = has_signals<Backend> && LayerTraits<L>::signals;
          auto const in = program.head_inputs(group);
          Index const window = signals ? window_of(layer, in) : 0;
          plan.by_steps = plan.by_steps || !signals;
          if constexpr (requires { Backend::calls_of(layer); }) {
            plan.calls = plan.calls && Backend::calls_of(layer) > 0;
          } else {
            plan.calls = plan.calls && LayerTraits<L>::calls_primitives;
          }
          plan.states[static_cast<std::size_t>(g)] = plan.state;
          if (window > 0) at(plan.windows, first) = std::max(at(plan.windows, first), window);
          if (!signals || window_of(layer, in) == 0) plan.state += (state_of(layer, in) + 15) / 16 * 16;
          at(past, g) = std::min(at(past, g) + past_of(layer, in), endless_past);
        },
        [] {});
    plan.past = std::max(plan.past, at(past, g));
  });
  return plan;
}
}  // namespace detail

}  // namespace coldpress
