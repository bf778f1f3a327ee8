// The program of a network type in a GPU's memory.
#pragma once

#include <coldpress/core/fingerprint.hpp>
#include <coldpress/graph/static_program.hpp>

namespace coldpress {

/// A StaticProgram whose tables are its own: code for a GPU has constants, but none of the host's static tables, and
/// nvcc turns what reads them into a trap. What the program calls of itself is constant before nvcc looks at it.
template <class Program>
struct DeviceProgram : Program {
  template <int g>
  using Number = typename Program::template Number<g>;
  decltype(Program::memory.slots) slots_ = Program::memory.slots;
  std::array<Parameter, Program::parameter_count()> parameters_ = Program::parameters;

  template <int g>
  static constexpr Group group(Number<g>) {
    constexpr Group constant = Program::group(g);
    return constant;
  }
  static constexpr PlanSize plan() {
    constexpr PlanSize constant = Program::plan();
    return constant;
  }
  constexpr Slots slots() const { return {slots_.data(), parameters_.data()}; }
  template <int g>
  constexpr Slots slots(Number<g>) const {
    constexpr int head = Program::group(g).head, first = head < 0 ? 0 : Program::first_parameter[head];
    return {slots_.data() + first, parameters_.data() + first};
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
  if constexpr (Loss<std::remove_cvref_t<decltype(loss)>>) print.add(loss.name).add(loss);
  return print;
}

}  // namespace coldpress
