// A pass of a static network as one kernel: forward, or a whole training step. Its plan, layers and shapes are constants
// in the kernel; its arguments are addresses and numbers.
#pragma once

#include <coldpress/backend/cuda/kernel.hpp>
#include <coldpress/core/fingerprint.hpp>
#include <coldpress/graph/device_program.hpp>
#include <coldpress/graph/run.hpp>

namespace coldpress::cuda {

/// Where the values of a pass are, in the device's memory.
template <int inputs>
struct Addresses {
  float const* parameters;
  float* workspace;
  float const* inputs_[inputs];
  Index batch;
  std::uint64_t seed, step;
  float* state;
  double* sums;
};

/// Arguments of any types, as a kernel takes them.
template <class... Types>
struct Pack {
  template <class F, class... Done>
  constexpr auto apply(F const& f, Done const&... done) const {
    return f(done...);
  }
};
template <class First, class... More>
struct Pack<First, More...> {
  First first;
  Pack<More...> more;
  template <class F, class... Done>
  constexpr auto apply(F const& f, Done const&... done) const {
    return more.apply(f, done..., first);
  }
};
constexpr Pack<> pack() { return {}; }
template <class First, class... More>
constexpr Pack<First, More...> pack(First const& first, More const&... more) {
  return {first, pack(more...)};
}

/// What is done with which plan, and for how many samples: Fixed<n>, or Index.
template <class What, class Program, class Count>
struct Pass {
  static constexpr int inputs = Program::inputs_capacity;

  static constexpr auto run(Grid const& grid, Addresses<inputs> const& at, auto const& more) {
    DeviceProgram<Program> const program{};
    Run<DeviceProgram<Program>, Grid, Count> run{program, grid,    at.parameters, at.workspace, {}, count(at.batch),
                                                 at.seed, at.step, at.state,      at.sums};
    for (std::size_t k = 0; k < inputs; ++k) run.inputs[k] = at.inputs_[k];
    return more.apply([&](auto const&... arguments) { return What{}(run, arguments...); });
  }
  static constexpr Fingerprint fingerprint() {
    Fingerprint print = fingerprint_of(static_cast<Program const*>(nullptr));
    if constexpr (requires { Count::value; }) print.word(Count::value);
    return print.add(What::name);
  }

 private:
  static constexpr Count count(Index batch) {
    if constexpr (requires { Count::value; }) {
      return {};
    } else {
      return batch;
    }
  }
};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-template-friend"
#pragma nv_diag_suppress 1301
/// The name of a pass in that of its kernel: nvcc writes layers that are template arguments down in ways of its own, and
/// such a kernel is never found. The pass is bound to its number where it is first asked for; two passes of the same
/// number are two definitions, and do not compile.
template <std::uint64_t number>
struct Named {
  friend constexpr auto pass_of(Named);
};
template <class P, std::uint64_t number = P::fingerprint().number>
struct Name {
  friend constexpr auto pass_of(Named<number>) { return P{}; }
  using type = Named<number>;
};
#pragma nv_diag_default 1301
#pragma GCC diagnostic pop

/// A pass as a kernel's body.
template <class PassName, int inputs, class Result, class More>
struct PassBody {
  Addresses<inputs> at;
  Result* result;
  More more;
  constexpr void operator()(Grid const& grid) const {
    using P = decltype(pass_of(PassName{}));
    if constexpr (std::is_void_v<Result>) {
      P::run(grid, at, more);
    } else {
      Result const value = P::run(grid, at, more);
      grid.once([&] { *result = value; });
    }
  }
};

}  // namespace coldpress::cuda
