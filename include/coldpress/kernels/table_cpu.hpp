// The primitives of the CPU backend as calls into a table of kernels.
#pragma once

#include <coldpress/backend/layout.hpp>
#include <coldpress/kernels/dispatch.hpp>
#include <coldpress/kernels/tape.hpp>

namespace coldpress::cpu {

/// Whether the tables have kernels for a layer, a loss or an optimizer: those of the lists.
template <class T, class List>
constexpr bool is_builtin = index_of<T>(List{}) >= 0;

/// The primitives that make calls which a tape may record, or record them. They take the compiler long, so their
/// definitions are in kernels/cpu/recorded_cpu.hpp and compiled once for all programs. It is a template so that the
/// sources that include these may inline them; its one argument is Tape.
template <class Recorder>
struct RecordedCpu : Layout, Context {
  Table const* table = nullptr;
  StreamTable const* streaming = nullptr;  // null unless it computes blocks of a stream, because it links more kernels
  Recorder* tape = nullptr;                // if not null, calls of a forward pass are recorded here, not made
  bool halves = false;                     // whether the weight matrices of dense layers are stored as Bfloat16

  void affine(In x, float const* weight, float const* bias, Out y, PostOps<ErasedChain, float> const& post_ops) const;
  void convolve(VolumeGeometry const& g, In x, float const* weight, float const* bias, Out y,
                PostOps<ErasedChain, float> const& post_ops, float* state, Windows<float> const& windows = {}) const;
  void convolve(ConvolutionGeometry const& g, Signal<float const> x, float const* weight, float const* bias,
                Signal<float> y, SignalPostOps<ErasedChain, float> const& post_ops, Index most) const;
  void convolve_transposed(VolumeGeometry const& g, In x, float const* weight, float const* bias, Out y,
                           PostOps<ErasedChain, float> const& post_ops) const;
  void pool(PoolingGeometry const& g, In x, Out y, PostOps<ErasedChain, float> const& post_ops, float* places) const;
  void map(In x, Out y, PostOps<ErasedChain, float> const& post_ops) const;
  void map(Signal<float const> x, Signal<float> y, SignalPostOps<ErasedChain, float> const& post_ops) const;
  void map(In x, Out y, PostOps<Chain<DropoutOp>, float> const& post_ops) const;
  void map(In x, Out y, PostOps<Chain<PowerOp>, float> const& post_ops) const;
  void normalize(Normalization kind, In x, Out y) const;
  void recurrent(Recurrence<float> const& r, float const* weights) const;
  void recurrent(SignalRecurrence<> const& s) const;
  void attend(AttentionPass<float> const& attention) const;
  void copy(Sequence<float const> const& from, Sequence<float> const& to, bool add = false) const;

  // For layers without pointwise operations after them.
  void affine(In x, float const* weight, float const* bias, Out y, PostOps<Chain<>, float> const&) const {
    affine(x, weight, bias, y, PostOps<ErasedChain, float>{});
  }
  // For a layer whose backward pass is a convolution.
  void convolve(VolumeGeometry const& g, In x, float const* weight, float const* bias, Out y,
                PostOps<Chain<>, float, NoJoin> const&, std::nullptr_t) const {
    convolve(g, x, weight, bias, y, PostOps<ErasedChain, float>{}, static_cast<float*>(nullptr));
  }
  template <class R>
  void recurrent(SignalRecurrence<R> const& s) const {
    using To = Recurrence<float>;
    recurrent(SignalRecurrence<>{{s.layers[0].template as<To>(), s.layers[1].template as<To>()}, s.count, s.clock});
  }
  void copy(Signal<float const> from, Signal<float> to) const { map(from, to, SignalPostOps<ErasedChain, float>{}); }

 private:
  /// Calls a kernel; adds the context (threads and scratch) if the kernel takes one.
  template <class... Parameters, class... Args>
  void call(void (*kernel)(Parameters...), Args const&... args) const {
    if constexpr (sizeof...(Args) < sizeof...(Parameters)) {
      call(kernel, args..., static_cast<Context const&>(*this));
    } else {
      tape ? tape->record(kernel, args...) : kernel(args...);
    }
  }
  /// Runs a step whose arguments have been computed, or records it.
  template <class Step>
  void take(Step const& step) const {
    take(step, *table);
  }
  template <class Step>
  void take(Step const& step, std::type_identity_t<StepKernels<Step>> const& kernels) const {
    tape ? tape->record(kernels.kernel_of, step) : kernels.kernel_of(step)(&step);
  }
};

/// All primitives.
struct TableCpu : RecordedCpu<Tape> {
  /// Whether the optimizer's step can be the epilogue of a gradient's tile.
  template <class Optimizer>
  static constexpr bool fuses_update = !Optimizer::heavy;
  static constexpr bool has_signals = true;

  TrainingTable const* training = nullptr;  // null unless the network trains, since it links more kernels

  void prepare_training() { training = &training_table_of(*table); }
  void link_streams() { streaming = &stream_table_of(*table); }

  void product(In dy, float const* weight, Out dx, Derivative<ErasedChain, float> const& derivative) const {
    training->product(dy, weight, dx, derivative, *this);
  }
  // For a layer without pointwise operations before it.
  void product(In dy, float const* weight, Out dx, Derivative<Chain<>, float> const&) const {
    (halves ? table->plain_product_halves : table->plain_product)(dy, weight, dx, *this);
  }
  template <class Sink>
  void weight_gradient(In x, In dy, Sink const& sink) const {
    static_cast<SinkKernels<Sink> const&>(*training).weight_gradient(x, dy, sink, *this);
  }
  template <class Sink>
  void sum_rows(In dy, Sink const& sink) const {
    static_cast<SinkKernels<Sink> const&>(*training).sum_rows(dy, sink, *this);
  }
  void convolve_input_gradient(VolumeGeometry const& g, In dy, float const* weight, Out dx,
                               Derivative<ErasedChain, float> const& derivative,
                               Windows<float> const& windows = {}) const {
    training->convolve_input_gradient(g, dy, weight, dx, derivative, windows, *this);
  }
  template <class Sink>
  void convolve_parameter_gradients(VolumeGeometry const& g, In x, In dy, Sink const& weights, Sink const* biases,
                                    Windows<float> const& windows = {}) const {
    SinkKernels<Sink> const& kernels = *training;
    kernels.convolve_parameter_gradients(g, x, dy, weights, biases, windows, *this);
  }
  void pool_gradient(PoolingGeometry const& g, In dy, float const* places, Out dx,
                     Derivative<ErasedChain, float> const& derivative) const {
    training->pool_gradient(g, dy, places, dx, derivative, *this);
  }
  void map_gradient(In dy, Out dx, Derivative<ErasedChain, float> const& derivative) const {
    training->map_gradient(dy, dx, derivative, *this);
  }
  void add_gradient(In dy, Out dx, Derivative<ErasedChain, float> const& derivative) const {
    training->add_gradient(dy, dx, derivative, *this);
  }
  void normalize_gradient(Normalization kind, In y, In dy, Out dx) const {
    training->normalize_gradient(kind, y, dy, dx, *this);
  }
  template <class LossType>
  float loss(LossType const& loss, Normalization kind, In x, Out y, In target, Out dx) const {
    return static_cast<LossKernels<LossType> const&>(*table).loss(loss, kind, x, y, target, dx, *this);
  }
  template <class LossType>
  void loss_target_gradient(LossType const& loss, In y, In target, Out dt) const {
    static_cast<LossKernels<LossType> const&>(*table).target_gradient(loss, y, target, dt, *this);
  }
  template <class L>
  void join_gradient(L const& layer, bool second, In dy, In a, In b, Out dx,
                     Derivative<ErasedChain, float> const& derivative) const {
    static_cast<JoinGradientKernels<L> const&>(*training).gradient(layer, second, dy, a, b, dx, derivative, *this);
  }
  void recurrent_gradient(Recurrence<float> const& r, float const* weights, Sequence<float const> const& upper,
                          Index truncation) const {
    training->recurrent_gradient(r, weights, upper, truncation, *this);
  }
  void recurrent_input_gradient(Recurrence<float> const& r, float const* weights, Out dx) const {
    training->recurrent_input_gradient(r, weights, dx, *this);
  }
  template <class Sink>
  void recurrent_weight_gradient(Recurrence<float> const& r, Sink const& sink) const {
    static_cast<SinkKernels<Sink> const&>(*training).recurrent_weight_gradient(r, sink, *this);
  }
  void attend_gradient(AttentionPass<float> const& attention, AttentionGradients<float> const& to) const {
    training->attend_gradient(attention, to, *this);
  }
  template <class Sink>
  void apply_gradient(float const* gradient, Index size, Sink const& sink) const {
    static_cast<ApplyGradientKernels<Sink> const&>(*training).apply_gradient(gradient, size, sink, *this);
  }
  void constrain(Parameter const& parameter, float* weight, float most) const {
    for_units(parameter, weight, [&](Out units) { training->limit_columns(units, most); });
  }
  double squared_norm(float const* values, Index size) const { return training->squared_norm(values, size, *this); }
  // Layers that compute in loops.
  template <class L>
  static constexpr bool has_loops = LayerTraits<L>::loops&& is_builtin<L, BuiltinLayers>;
  template <class L, class Pass>
  void forward(L const& layer, Pass const& pass) const {
    loops_of<L>(*table).forward(layer, loop_pass<L>(pass), *this);
  }
  template <class L, class Pass>
  void backward(L const& layer, Pass const& pass) const {
    auto const kernel = loops_of<L>(*training).backward;
    if (kernel) kernel(layer, loop_gradient_pass<L>(pass), *this);
  }
  template <class L, class Pass>
  void backward_input(L const& layer, Pass const& pass) const {
    loops_of<L>(*training).backward_input(layer, loop_gradient_pass<L>(pass), *this);
  }
  template <class L, class Pass>
  void backward_parameters(L const& layer, Pass const& pass) const {
    auto const sinks = loop_sinks<L>(pass.sinks);
    using Sink = typename decltype(sinks)::value_type;
    auto all = loop_gradient_pass<L>(pass);
    for (std::size_t i = 0; i < sinks.size(); ++i) {
      all.sinks[i] = ErasedSink::of(sinks[i], static_cast<ApplyGradientKernels<Sink> const&>(*training));
    }
    loops_of<L>(*training).backward_parameters(layer, all, *this);
  }
  template <class L>
  ErasedOp erased() const {
    return static_cast<OpKernels<L> const&>(*table).op;
  }
  template <class L>
  ErasedJoin erased_join() const {
    return static_cast<JoinKernels<L> const&>(*table).join;
  }
};

}  // namespace coldpress::cpu
