// Decides which recorded calls of a stream are merged into one pass over its values.
#pragma once

#include <coldpress/kernels/table.hpp>

#include <type_traits>

namespace coldpress::cpu {

/// What a step reads and writes. In a single step, the values of a row are the features of a signal.
inline Signal<float const> input_of(FusedBlock const& step) { return step.x; }
inline Signal<float const> input_of(FusedStep const& step) { return {step.x, step.groups * step.channels, nullptr, 1}; }
template <class Step>
Signal<float> output_of(Step const& step) {
  return step.y;
}
inline Signal<float> output_of(FusedStep const& step) { return {step.y, step.writable, nullptr, 1}; }
/// The other operand of its join, if it has one.
template <class Step>
Signal<float const> other_of(Step const& step) {
  return {step.post_ops.join.other, step.y.features, step.y.clock, step.post_ops.join.pitch, step.post_ops.other_mask};
}
inline Signal<float const> other_of(FusedStep const& step) {
  return {step.post_ops.join.other, step.post_ops.join.columns, nullptr, 1};
}
inline void write_like(FusedBlock& step, FusedBlock const& other) { step.y = other.y; }
inline void write_like(FusedStep& step, FusedStep const& other) {
  step.y = other.y, step.y_pitch = other.y_pitch, step.writable = other.writable;
}
/// The operation on one row as that on a signal of one step.
inline SignalMap<> row_map(In x, Out y, PostOps<ErasedChain, float> const& post_ops) {
  SignalPostOps<ErasedChain, float> as_signal{post_ops};
  as_signal.join.pitch = 1;
  return {{{x.data, x.columns, nullptr, 1}, {y.data, writable(y), nullptr, 1}, as_signal}};
}

/// Whether writing one signal leaves the other as it is. A signal in a ring has memory of its own.
inline bool apart(Signal<float const> const& a, Signal<float const> const& b) {
  if (!a.data || !b.data) return true;
  if (a.mask || b.mask) return a.data != b.data;
  return a.data + a.features * a.pitch <= b.data || b.data + b.features * b.pitch <= a.data;
}
/// Whether writing a signal leaves everything that a step reads as it is.
template <class Step>
bool apart(Signal<float const> const& written, Fused<Step> const& step) {
  return apart(written, input_of(step)) && apart(written, other_of(step)) && apart(written, step.mixed.x) &&
         apart(written, step.total.x);
}
template <class PostOps>
bool adds(PostOps const& post_ops) {
  return post_ops.join.other && post_ops.join.op.id == operation_id<Add>;
}

/// If `next` adds to the value of the convolution `first` the product of one value with the weights of `next`, lets
/// `first` compute that sum, too. Returns whether it does.
template <class Step>
bool fuse(Fused<Step>& first, Fused<Step> const& next) {
  bool const plain = first.post_ops.chain.length == 0 && !first.post_ops.join.other && !first.mixed.weight &&
                     !first.total.y.data && first.post_ops.read_once;
  bool const product = next.taps == 1 && next.channels == 1 && next.groups == 1;
  if (!plain || !product || !adds(next.post_ops) || next.post_ops.join.other != output_of(first).data) return false;
  if (!apart(output_of(next), first) || !apart(output_of(next), input_of(next))) return false;
  first.mixed = {input_of(next), next.weight, next.bias};
  write_like(first, next), first.post_ops = next.post_ops, first.post_ops.join = {};
  return true;
}
/// The same for a sum `next` of the value of the convolution `first` and another value. `between` is null, or a
/// convolution that is computed between the two.
template <class Step>
bool fuse(Fused<Step>& first, std::type_identity_t<Fused<Step>> const* between, SignalMap<> const& next) {
  if (first.total.y.data || next.post_ops.chain.length > 0 || !adds(next.post_ops)) return false;
  if (first.groups > 1) return false;  // in a single step, a group's last vector is also written to the next group's
  auto const* const value = output_of(first).data;
  if ((next.x.data == value) == (next.post_ops.join.other == value)) return false;
  Signal<float const> const x = next.x.data == value ? other_of(next) : next.x;
  if (!apart(next.y, first)) return false;
  if (between) {
    if (!apart(next.y, *between) || !apart(next.y, output_of(*between)) || !apart(x, output_of(*between))) return false;
    if (!apart(output_of(first), output_of(*between)) || between->total.y.data) return false;
  }
  first.total = {x, next.y};
  return true;
}

}  // namespace coldpress::cpu
