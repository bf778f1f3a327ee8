// The primitives whose calls a tape may record: what they pass to their kernels.
#pragma once

#include <coldpress/kernels/table_cpu.hpp>

namespace coldpress::cpu {

template <class Recorder>
void RecordedCpu<Recorder>::affine(In x, float const* weight, float const* bias, Out y,
                                   PostOps<ErasedChain, float> const& post_ops) const {
  if (x.rows > 1) return call(halves ? table->affine_halves : table->affine, x, weight, bias, y, post_ops);
  if (halves) return take(affine_step(x, HalfLayout::matrix(weight), bias, y, post_ops));
  take(affine_step(x, weight, bias, y, post_ops));
}

template <class Recorder>
void RecordedCpu<Recorder>::convolve(VolumeGeometry const& g, In x, float const* weight, float const* bias, Out y,
                                     PostOps<ErasedChain, float> const& post_ops, float* state,
                                     Windows<float> const& windows) const {
  if (is_one_step(g, x) || (state && g.is_sequence() && g.past() > 0 && x.rows == 1 && g.height.in == 1)) {
    FusedStep const step{convolution_step(g, x, weight, bias, y, post_ops, state)};
    if (!tape || !tape->fuse_product(step)) take(step);
    return;
  }
  call(table->convolve, g, x, weight, bias, y, post_ops, state, windows);
}

template <class Recorder>
void RecordedCpu<Recorder>::convolve(ConvolutionGeometry const& g, Signal<float const> x, float const* weight,
                                     float const* bias, Signal<float> y,
                                     SignalPostOps<ErasedChain, float> const& post_ops, Index most) const {
  FusedBlock const step{signal_convolution(g, x, weight, bias, y, post_ops, most)};
  if (!tape || !tape->fuse_product(step)) take(step, *streaming);
}

template <class Recorder>
void RecordedCpu<Recorder>::convolve_transposed(VolumeGeometry const& g, In x, float const* weight, float const* bias,
                                                Out y, PostOps<ErasedChain, float> const& post_ops) const {
  call(table->convolve_transposed, g, x, weight, bias, y, post_ops);
}

template <class Recorder>
void RecordedCpu<Recorder>::pool(PoolingGeometry const& g, In x, Out y, PostOps<ErasedChain, float> const& post_ops,
                                 float* places) const {
  call(table->pool, g, x, y, post_ops, places);
}

template <class Recorder>
void RecordedCpu<Recorder>::map(In x, Out y, PostOps<ErasedChain, float> const& post_ops) const {
  if (!tape || x.rows > 1 || !tape->template fuse_total<FusedStep>(row_map(x, y, post_ops)))
    call(table->map, x, y, post_ops);
}

template <class Recorder>
void RecordedCpu<Recorder>::map(Signal<float const> x, Signal<float> y,
                                SignalPostOps<ErasedChain, float> const& post_ops) const {
  auto const step = signal_map(x, y, post_ops);
  if (!tape || !tape->template fuse_total<FusedBlock>(step)) take(step, *streaming);
}

/// Computes layer L's pointwise operation, whose type the compiler knows, with the type-erased kernel.
template <class L, class Cpu, class Op>
void map_as(Cpu const& cpu, In x, Out y, PostOps<Chain<Op>, float> const& post_ops) {
  ErasedOp op = static_cast<OpKernels<L> const&>(*cpu.table).op;
  op.op = &post_ops.chain.op;
  cpu.table->map(x, y, {{&op, 1}, post_ops.step}, cpu);
}
template <class Recorder>
void RecordedCpu<Recorder>::map(In x, Out y, PostOps<Chain<DropoutOp>, float> const& post_ops) const {
  map_as<Dropout>(*this, x, y, post_ops);
}

template <class Recorder>
void RecordedCpu<Recorder>::map(In x, Out y, PostOps<Chain<PowerOp>, float> const& post_ops) const {
  map_as<Power>(*this, x, y, post_ops);
}

template <class Recorder>
void RecordedCpu<Recorder>::normalize(Normalization kind, In x, Out y) const {
  call(table->normalize, kind, x, y);
}

template <class Recorder>
void RecordedCpu<Recorder>::recurrent(Recurrence<float> const& r, float const* weights) const {
  if (r.x.samples > 1 || r.x.steps > 1 || r.lengths || r.has_initial) return call(table->recurrent, r, weights);
  take(first_step(r, weights));
}

template <class Recorder>
void RecordedCpu<Recorder>::recurrent(SignalRecurrence<> const& s) const {
  take(s, *streaming);
}
template <class Recorder>
void RecordedCpu<Recorder>::attend(AttentionPass<float> const& attention) const {
  call(table->attend, attention);
}

template <class Recorder>
void RecordedCpu<Recorder>::copy(Sequence<float const> const& from, Sequence<float> const& to, bool add) const {
  call(table->copy, from, to, add);
}

}  // namespace coldpress::cpu
