// A compiled-in CPU backend for the blocks of a stream, whose calls can be recorded.
#pragma once

#if defined __CUDACC__  // nvcc does not support the vectors of g++
namespace coldpress {
template <class Backend>
using BlockBackend = Backend;
}  // namespace coldpress
#else

#include <coldpress/backend/cpu.hpp>
#include <coldpress/kernels/tape.hpp>

namespace coldpress {
inline namespace COLDPRESS_ISA {

/// Repeating a call takes less time than working out its arguments again, even where the compiler knows all shapes.
/// `Base` is Cpu, or a backend that extends it.
template <class Base>
struct RecordingCpu : Base {
  cpu::Tape* tape = nullptr;  // if not null, calls for blocks are recorded here, not made

  using Base::convolve;
  using Base::copy;
  using Base::map;
  template <class G, class X, class Y, class Chain, class Join>
  void convolve(G const& g, X x, float const* weight, float const* bias, Y y,
                SignalPostOps<Chain, float, Join> const& post_ops, Index most) const {
    using Outputs = decltype(cpu::outputs_of(g));
    take(cpu::signal_convolution(g, x, weight, bias, y, post_ops, most), [](auto const& step) {
      if constexpr (std::is_same_v<Outputs, Index>) {
        cpu::convolve_signal(step, step.outputs);
      } else {
        cpu::convolve_signal(step, Outputs{});
      }
    });
  }
  template <class X, class Y, class Chain, class Join>
  void map(X x, Y y, SignalPostOps<Chain, float, Join> const& post_ops) const {
    take(cpu::signal_map(x, y, post_ops), [](auto const& step) { cpu::map_signal(step); });
  }
  template <class X, class Y>
  requires is_signal<Y>
  void copy(X from, Y to) const { map(from, to, SignalPostOps<Chain<>, float, NoJoin>{}); }
  template <class R>
  void recurrent(SignalRecurrence<R> const& s) const {
    take(s, [](auto const& step) { Base{}.recurrent(step); });
  }
  template <class R>
  void recurrent(R const& r, float const* weights) const {
    Base::recurrent(r, weights);
  }

 private:
  template <class Step, class Compute>
  void take(Step const& step, Compute compute) const {
    if (!tape) return compute(step);
    cpu::Kernel const kernel = [](void const* kept) { Compute{}(*static_cast<Step const*>(kept)); };
    tape->record(kernel, step);
  }
};

/// The backend with which a stream's blocks are computed.
template <class Backend>
using BlockBackend = std::conditional_t<std::is_base_of_v<Cpu, Backend>, RecordingCpu<Backend>, Backend>;

}  // namespace COLDPRESS_ISA
}  // namespace coldpress

#endif
