// Kernels, for each instruction set, of layers that are written in plain loops. Shapes are arguments, not constants.
#pragma once

#include <coldpress/backend/layout.hpp>
#include <coldpress/core/layer_traits.hpp>
#include <coldpress/core/pass.hpp>
#include <coldpress/core/totals.hpp>
#include <coldpress/graph/node.hpp>

#include <array>

namespace coldpress::cpu {

/// The kernel that passes a gradient in memory to a sink.
template <class Sink>
struct ApplyGradientKernels {
  void (*apply_gradient)(float const* gradient, Index size, Sink const& sink, Context const& context);
};

/// A sink whose type is not known, or a part of it: what GradientSink and UpdateSink (core/pass.hpp) are to layers.
struct ErasedSink {
  void const *whole = nullptr, *kernels = nullptr;
  void (*apply)(ErasedSink const& self, float const* gradient, Index size, Context const& context) = nullptr;
  bool skips = false;
  Index offset = 0;
  float* zeros = nullptr;

  template <class Sink>
  static ErasedSink of(Sink const& sink, ApplyGradientKernels<Sink> const& kernels) {
    ErasedSink erased{&sink, &kernels};
    erased.apply = [](ErasedSink const& self, float const* gradient, Index size, Context const& by) {
      static_cast<ApplyGradientKernels<Sink> const*>(self.kernels)
          ->apply_gradient(gradient, size, self.part_of(*static_cast<Sink const*>(self.whole)), by);
    };
    if constexpr (can_skip<Sink>) erased.skips = sink.skips_zeros();
    return erased;
  }
  bool skips_zeros() const { return skips; }
  ErasedSink at(Index begin) const {
    ErasedSink part = *this;
    part.offset += begin;
    return part;
  }
  ErasedSink skipping_at(Index begin, float* state) const {
    ErasedSink part = at(begin);
    part.zeros = state;
    return part;
  }

 private:
  template <class Sink>
  static constexpr bool can_skip = requires(Sink const& sink) {
    sink.skips_zeros();
  };
  template <class Sink>
  Sink part_of(Sink const& sink) const {
    if constexpr (can_skip<Sink>) {
      if (zeros) return sink.skipping_at(offset, zeros);
    }
    return sink.at(offset);
  }
};

template <class L>
constexpr std::size_t most_parameters() {
  if constexpr (has_parameters<L>) {
    return std::tuple_size_v<decltype(std::declval<L const&>().parameters(
        std::declval<coldpress::detail::Asked<L>>()))>;
  } else {
    return 0;
  }
}
template <class L>
using LoopValues = std::conditional_t<OneInput<L>, In, std::array<Out, max_inputs>>;
template <class L>
using LoopTargets = std::conditional_t<OneInput<L>, Out, std::array<Out, max_inputs>>;
template <class L>
using LoopParameters = std::array<float const*, most_parameters<L>()>;

/// The types of the passes. Pointwise operations that follow such a layer, and their derivatives, are computed
/// separately.
template <class L>
using WholeLoopForward = ForwardPass<coldpress::detail::Asked<L>, LoopValues<L>, LoopParameters<L>, Out,
                                     PostOps<Chain<>, float, NoJoin>, float>;
template <class L>
using WholeLoopBackward = BackwardPass<coldpress::detail::Asked<L>, LoopValues<L>, LoopParameters<L>, In, In,
                                       LoopTargets<L>, Chain<>, std::array<ErasedSink, most_parameters<L>()>, float>;
template <class L>
using LoopForward = std::conditional_t<has_totals<L>, PartPass<WholeLoopForward<L>>, WholeLoopForward<L>>;
template <class L>
using LoopBackward = std::conditional_t<has_totals<L>, PartPass<WholeLoopBackward<L>>, WholeLoopBackward<L>>;

template <class L, bool loops = LayerTraits<L>::loops>
struct LoopKernels {};
template <class L>
struct LoopKernels<L, true> {
  void (*forward)(L const& layer, LoopForward<L> const& pass, Context const& context);
};
template <class L, bool loops = LayerTraits<L>::loops>
struct LoopTrainingKernels {};
/// Each is null unless the layer has such a function.
template <class L>
struct LoopTrainingKernels<L, true> {
  using Kernel = void (*)(L const& layer, LoopBackward<L> const& pass, Context const& context);
  Kernel backward, backward_input, backward_parameters;
};

/// The arguments of a pass over a layer of type L for these kernels.
template <class L, class P>
LoopParameters<L> loop_parameters(P const& from) {
  LoopParameters<L> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = from[static_cast<int>(i)];
  return all;
}
template <class L, class Sinks>
auto loop_sinks(Sinks const& from) {
  return [&]<std::size_t... i>(std::index_sequence<i...>) { return std::array{from[static_cast<int>(i)]...}; }
  (std::make_index_sequence<most_parameters<L>()>{});
}
template <class L, class Pass>
LoopForward<L> loop_pass(Pass const& pass) {
  return as_part<L>(
      pass, WholeLoopForward<L>{
                pass.in, pass.x, loop_parameters<L>(pass.p), pass.y, {}, pass.memory, pass.state, pass.key, pass.step});
}
template <class L, class Pass>
LoopBackward<L> loop_gradient_pass(Pass const& pass) {
  return as_part<L>(pass, WholeLoopBackward<L>{pass.in,
                                               pass.x,
                                               loop_parameters<L>(pass.p),
                                               pass.y,
                                               pass.dy,
                                               pass.dx,
                                               {},
                                               {},
                                               pass.memory,
                                               pass.key,
                                               pass.step});
}

}  // namespace coldpress::cpu
