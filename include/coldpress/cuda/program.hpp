// A pass of a static network as one kernel: a forward pass, or a whole training step.
#pragma once

// The plan, the layers and the shapes are constants in the kernel; its arguments are addresses and numbers.

#include <coldpress/backend/grid.hpp>
#include <coldpress/cuda/device_program.hpp>
#include <coldpress/run/run.hpp>

namespace coldpress::cuda {

/// The addresses of the values of a pass in the device's memory.
template <int inputs>
struct Addresses {
  float const* parameters;
  float* workspace;
  float const* inputs_[inputs];
  std::uint64_t seed, step;
  float* state;
  double* sums;
};

/// A tuple of arguments of any types that can be passed to a kernel.
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
template <class Program>
__device__ Slots device_tables() {
  static constexpr auto slots = Program::memory.slots;
  static constexpr auto parameters = Program::Net::recorded.parameters;
  return {slots.data(), parameters.data()};
}
#endif

/// A program's tables of parameters: on the device a copy in its memory, on the host the program's own.
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

/// The arguments of a pass's kernel. `batch` is the number of samples (Fixed<n> or Index); `result` is where the
/// kernel stores its result.
template <class Count, int inputs, class Result, class More>
struct PassArguments {
  Addresses<inputs> at;
  [[no_unique_address]] Count batch;
  Result* result;
  More more;
};

/// The body of a kernel: calls What with a run of the named program.
template <class ProgramName, class What, class Count, Precision precision, int inputs, class Result, class More>
struct PassBody : PassArguments<Count, inputs, Result, More> {
  constexpr void operator()(Grid grid) const {
    grid.precision = precision;  // a constant
    using Program = DeviceProgram<decltype(program_of(ProgramName{})), Tables<ProgramName>>;
    Program const program{};
    auto const& places = this->at;
    Run<Program, Grid, Count> run{program,     grid,        places.parameters, places.workspace, {},
                                  this->batch, places.seed, places.step,       places.state,     places.sums};
    for (std::size_t k = 0; k < run.inputs.size(); ++k) run.inputs[k] = places.inputs_[k];
    auto const pass = [&](auto const&... arguments) { return What{}(run, arguments...); };
    if constexpr (std::is_void_v<Result>) {
      this->more.apply(pass);
    } else {
      Result const value = this->more.apply(pass);
      grid.once([&] { *this->result = value; });
    }
  }
};

}  // namespace coldpress::cuda
