// A number for each program, which the names of its kernels contain.
#pragma once

#include <coldpress/core/numbers.hpp>
#include <coldpress/typed/static_program.hpp>

namespace coldpress {

/// The fingerprint of everything that defines a program: layers and their fields, connections, names, options, the
/// loss.
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

namespace cuda {

#if defined __CUDACC__
#pragma nv_diag_suppress 1301
#endif
#if !defined __clang__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-template-friend"
#endif
/// Stands for a program in the name of a kernel. nvcc mangles layers that are template arguments in its own way, so a
/// kernel with such a name is never found. A program is bound to its number where Name first asks for it; two programs
/// with the same number would be two definitions of program_of and not compile.
template <std::uint64_t number>
struct Named {
  friend constexpr auto program_of(Named);
};
template <class Program, std::uint64_t number = fingerprint_of(static_cast<Program const*>(nullptr)).number>
struct Name {
  friend constexpr auto program_of(Named<number>) { return Program{}; }
  using type = Named<number>;
};
#if !defined __clang__
#pragma GCC diagnostic pop
#endif
#if defined __CUDACC__
#pragma nv_diag_default 1301
#endif

}  // namespace cuda
}  // namespace coldpress
