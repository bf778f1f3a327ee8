// The program of a network type in a GPU's memory.
#pragma once

#include <coldpress/core/fingerprint.hpp>
#include <coldpress/graph/static_program.hpp>

namespace coldpress {

/// A StaticProgram that reads no table of the host's: code for a GPU has constants, but nvcc turns what reads static
/// tables into a trap. Those of parameters are Tables::slots(); the others are small, and copied where they are read.
/// What the program calls of itself is constant before nvcc looks at it.
template <class Program, class Tables>
struct DeviceProgram : Program {
  template <int g>
  using Number = typename Program::template Number<g>;

  template <int g>
  static constexpr Group group(Number<g>) {
    constexpr Group constant = Program::group(g);
    return constant;
  }
  static constexpr PlanSize plan() {
    constexpr PlanSize constant = Program::plan();
    return constant;
  }
  static constexpr Slots slots() { return Tables::slots(); }
  template <int g>
  static constexpr Slots slots(Number<g>) {
    constexpr int head = Program::group(g).head, first = head < 0 ? 0 : Program::first_parameter[head];
    Slots const all = slots();
    return {all.slots + first, all.parameters + first};
  }
  template <int g>
  static constexpr auto head_inputs(Number<g>) {
    constexpr auto shapes = Program::Net::template input_shapes<Program::group(g).head>;
    return shapes;
  }
  template <int g, class F>
  static constexpr void statistic(Number<g>, F f) {
    constexpr int node = Program::group(g).statistic;
    if constexpr (node >= 0) {
      constexpr auto shapes = Program::Net::template input_shapes<node>;
      Program::statistic(Number<g>{}, [&](auto const& statistic, Shapes) { f(statistic, Shapes{shapes}); });
    }
  }
  static constexpr int sums(int node) {
    constexpr auto all = [] {
      std::array<int, Program::size> sums{};
      for (int i = 0; i < Program::size; ++i) sums[static_cast<std::size_t>(i)] = Program::sums(i);
      return sums;
    }();
    return node < 0 ? -1 : all[static_cast<std::size_t>(node)];
  }
};

/// Of all that makes a program what it is: layers and their fields, what reads what, names, options, the loss.
template <class Graph, class Backend, PlanOptions options, auto loss>
constexpr Fingerprint fingerprint_of(StaticProgram<Graph, Backend, options, loss> const*) {
  Fingerprint print;
  for (int i = 0; i < Graph::size; ++i) {
    print.add(Graph::nodes[i].kind).add(Graph::nodes[i].inputs).add(Graph::nodes[i].shape).add(Graph::names[i].text);
  }
  [&]<int... i>(std::integer_sequence<int, i...>) {
    (print.add(Graph::template layer<Graph::inputs + i>.name).add(Graph::template layer<Graph::inputs + i>), ...);
  }
  (std::make_integer_sequence<int, Graph::size - Graph::inputs>{});
  print.add(Graph::outputs).add(Graph::parameters.owner);
  print.add(options.training).add(options.losses).add(options.input_gradient).add(options.keep_gradients);
  print.add(options.blocks);
  if constexpr (Loss<std::remove_cvref_t<decltype(loss)>>) print.add(loss.name).add(loss);
  return print;
}

}  // namespace coldpress
