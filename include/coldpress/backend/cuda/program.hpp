// A pass of a static network as one kernel: forward, or a whole training step. Its plan, layers and shapes are
// constants in the kernel; its arguments are addresses and numbers.
#pragma once

#include <coldpress/backend/grid.hpp>
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

/// Of a pass, as its kernel takes them: for how many samples (Fixed<n>, or Index), and where what it makes goes.
template <class Count, int inputs, class Result, class More>
struct PassArguments {
  Addresses<inputs> at;
  [[no_unique_address]] Count batch;
  Result* result;
  More more;
};

/// A kernel's body: what is done with the program of this name.
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
