// A pass of a static network as one kernel: forward, or a whole training step. Its plan, layers and shapes are
// constants in the kernel; its arguments are addresses and numbers.
#pragma once

#include <coldpress/backend/cuda/pass.hpp>
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

#if defined __CUDACC__
#pragma nv_diag_suppress 1301
#endif
#if !defined __clang__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-template-friend"
#endif
/// The name of a program in that of its kernels: nvcc writes layers that are template arguments down in ways of its
/// own, and such a kernel is never found. The program is bound to its number where it is first asked for; two programs
/// of the same number are two definitions, and do not compile.
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

template <class Program>
__device__ Slots device_tables() {
  static constexpr auto slots = Program::memory.slots;
  static constexpr auto parameters = Program::Net::recorded.parameters;
  return {slots.data(), parameters.data()};
}
#endif

/// A program's tables of parameters: the device's own, and on the host the host's.
template <class ProgramName>
struct Tables {
  using Program = decltype(program_of(ProgramName{}));
  static constexpr Slots slots() {
#if defined __CUDA_ARCH__
    return device_tables<Program>();
#else
    return Program::slots();
#endif
  }
};

/// A kernel's body: what is done with a program, for how many samples (Fixed<n>, or Index).
template <class ProgramName, class What, class Count, Precision precision, int inputs, class Result, class More>
struct PassBody {
  Addresses<inputs> at;
  [[no_unique_address]] Count batch;
  Result* result;
  More more;

  constexpr void operator()(Grid grid) const {
    grid.precision = precision;  // a constant
    using Program = DeviceProgram<decltype(program_of(ProgramName{})), Tables<ProgramName>>;
    Program const program{};
    Run<Program, Grid, Count> run{program, grid,    at.parameters, at.workspace, {},
                                  batch,   at.seed, at.step,       at.state,     at.sums};
    for (std::size_t k = 0; k < inputs; ++k) run.inputs[k] = at.inputs_[k];
    auto const pass = [&](auto const&... arguments) { return What{}(run, arguments...); };
    if constexpr (std::is_void_v<Result>) {
      more.apply(pass);
    } else {
      Result const value = more.apply(pass);
      grid.once([&] { *result = value; });
    }
  }
};

}  // namespace coldpress::cuda
