// What a stream needs to know about a program.
#pragma once

#include <coldpress/run/execute.hpp>
#include <coldpress/run/stream.hpp>

#include <memory>

namespace coldpress::detail {

/// The shapes of the inputs of a head of type L, for groups that have one.
template <class L, class Program, class G>
constexpr Shapes inputs_of_head(Program const& program, G g) {
  return program.head_inputs(g);
}

/// What a program remembers from block to block, or from step to step.
struct StreamPlan {
  /// Values of a state that never forget: where they are in blocks and in single steps, and how many.
  struct Endless {
    Index in_block, in_step, size;
  };
  std::vector<Index> states;   // by group: where the state of its head is, in values
  std::vector<Index> windows;  // by value, the inputs before the groups: the number of its past steps that layers read
  std::unique_ptr<bool[]> by_steps;  // by group: whether a block is computed one step after another
  std::vector<Endless> endless;
  Index state = 0;         // the size of all states
  Index past = 0;          // the number of earlier steps on which an output depends; endless_past: on all
  Index reach = 0;         // the same without what never forgets
  bool tapes = true;       // whether all calls of a block can be recorded, and ...
  bool step_tapes = true;  // ... those of a step
};
template <class Backend, class Program>
StreamPlan plan_stream(Program const& program, Index inputs) {
  auto const groups = static_cast<std::size_t>(program.plan().groups);
  StreamPlan plan;
  plan.states.resize(groups);
  plan.windows.resize(groups + static_cast<std::size_t>(inputs));
  plan.by_steps = std::make_unique<bool[]>(groups);
  std::vector<Index> past(plan.windows.size()), reach(plan.windows.size());
  auto const at = [&](std::vector<Index>& all, Index g) -> Index& { return all[static_cast<std::size_t>(inputs + g)]; };
  program.for_each_group([&](auto group) {
    Index const g{group};
    Group const& of = program.group(group);
    bool& by_steps = plan.by_steps[static_cast<std::size_t>(g)];
    by_steps = of.positioned || (of.head < 0 && !has_signals<Backend>);
    Index own_past = 0, own_reach = 0, first = -1;  // what the head adds
    program.for_each_edge(group, [&](auto k) {
      if (k == 0) first = Index{program.input(group, k)};
    });
    program.head(
        group,
        [&](auto const& layer) {
          using L = std::remove_cvref_t<decltype(layer)>;
          Shapes const in = inputs_of_head<L>(program, group);
          bool const one_step = in[0].rank() != 2 || in[0][0] == 1;
          by_steps = by_steps || !has_signals<Backend> || !LayerTraits<L>::signals || !one_step;
          plan.step_tapes = plan.step_tapes && LayerTraits<L>::calls_primitives;
          if constexpr (requires { Backend::template records<L>; })
            plan.step_tapes = plan.step_tapes && Backend::template records<L>;
          plan.states[static_cast<std::size_t>(g)] = plan.state;
          Index const window = past_of(layer, in), size = state_of(layer, in);
          own_past = one_step || window == endless_past ? window : (window + in[0][0] - 1) / in[0][0];
          own_reach = window == endless_past ? 0 : own_past;
          if (window == endless_past) plan.endless.push_back({plan.state, of.state, size});
          if (reads_past<L> && !by_steps && window > 0) {
            at(plan.windows, first) = std::max(at(plan.windows, first), window);
          } else {
            plan.state += (size + 15) / 16 * 16;
          }
        },
        [] {});
    program.for_each_edge(group, [&](auto k) {
      bool const beside = of.head >= 0 && k == of.side;  // the operand that is joined to what the head computes
      Index const from{program.input(group, k)};
      at(past, g) = std::max(at(past, g), std::min(at(past, from) + (beside ? 0 : own_past), endless_past));
      at(reach, g) = std::max(at(reach, g), at(reach, from) + (beside ? 0 : own_reach));
    });
    plan.past = std::max(plan.past, at(past, g)), plan.reach = std::max(plan.reach, at(reach, g));
    plan.tapes = plan.tapes && !by_steps;
  });
  return plan;
}

}  // namespace coldpress::detail
