// The program of a network type in a form that a GPU can run.
#pragma once

#include <coldpress/typed/static_program.hpp>

namespace coldpress {

/// A StaticProgram that reads no static table of the host. Code for a GPU may use constants, but nvcc replaces code
/// that reads static tables with a trap. The tables of parameters come from Tables::slots(); the others are small and
/// are copied where they are read. Everything that the program itself calls is constant before nvcc compiles it.
template <class Program, class Tables>
struct DeviceProgram : Program {
  template <int g>
  using Number = typename Program::template Number<g>;

  template <int g>
  static constexpr Group group(Number<g>) {
    constexpr Group constant = Program::group(g);
    return constant;
  }
  static constexpr PlanSummary plan() {
    constexpr PlanSummary constant = Program::plan();
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
    constexpr int head = Program::group(g).head;
    if constexpr (head >= 0) {
      constexpr auto shapes = Program::Net::template input_shapes<head>;
      return shapes;
    } else {
      return Shapes{};
    }
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

}  // namespace coldpress
