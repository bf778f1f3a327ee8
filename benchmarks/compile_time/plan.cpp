// A residual network of NODES nodes, described and planned for training; no kernels are compiled.
#include <coldpress/backend/layout.hpp>
#include <coldpress/typed/operations.hpp>
#include <coldpress/typed/static_program.hpp>

using namespace coldpress;

constexpr auto net = graph([](auto x) {
  for (int block = 0; block < NODES / 5; ++block) x = ((x | Linear{16} | ReLU{} | Linear{16}) + x) | ReLU{};
  return x;
});
using Planned = StaticProgram<StaticGraph<Graph<net>, Shape{16}>, cpu::Layout, PlanOptions{.training = true}>;
static_assert(Planned::planned.plan.groups == NODES / 5 * 2);
