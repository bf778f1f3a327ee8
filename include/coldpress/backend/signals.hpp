// Blocks of a stream's steps: pointwise operations and causal convolutions.
#pragma once

// The lanes are steps, and weights are broadcast, so any number of channels fills the lanes. Each output is summed in
// the order of a whole sequence: by tap, then by channel, and then the bias.

#include <coldpress/backend/epilogue.hpp>
#include <coldpress/backend/single_sample.hpp>

namespace coldpress::cpu::inline COLDPRESS_ISA {

/// f(first step, Int<number of vectors>{}) for all vectors that hold steps of a block: `most` at a time, and then the
/// rest.
template <int most = tile_columns, class F>
COLDPRESS_INLINE void for_signal_vectors(Index steps, F f) {
  Index t = 0;
  for (; t + (most - 1) * lanes < steps; t += most * lanes) f(t, Int<most>{});
  if constexpr (most > 1)
    for_signal_vectors<most / 2>(steps - t, [&](Index rest, auto w) COLDPRESS_INLINE_LAMBDA { f(t + rest, w); });
}
/// The epilogue of a block.
template <class Chain, class Join>
using SignalOutput = Output<Chain, Join, StreamOps<Chain>, true>;
template <class Chain, class Join>
COLDPRESS_INLINE SignalOutput<Chain, Join> signal_output(SignalStep<Chain, Join> const& s) {
  PostOps<Chain, float, Join> post_ops = s.post_ops;
  post_ops.kept = nullptr;  // streams keep nothing for a backward pass
  if constexpr (!std::is_same_v<Join, NoJoin>) {
    if (post_ops.join.other) post_ops.join.other += s.y.clock->now & s.post_ops.other_mask;
  }
  return {post_ops, nullptr, s.y.row(0), s.y.pitch, PTRDIFF_MAX};
}
/// The epilogue of a step that also computes what follows it in the network (Fused in single_sample.hpp).
struct FusedOutput : SignalOutput<ErasedChain, DefaultJoin<ErasedChain, float>> {
  float const *signal, *weight, *product_bias, *from;
  float* to;
  Index from_pitch, to_pitch;

  /// `activated`: nothing is joined, the chain is one common operation, and `to` is not null.
  template <bool activated = false, int h, int w>
  COLDPRESS_INLINE void finish(Vector (&sum)[h][w], Index row, Index t) const {
    if (weight) add_product(sum, row, t);
    auto const finish_with = [&](auto write) COLDPRESS_INLINE_LAMBDA {
      if constexpr (activated) {
        Output::finish_common(sum, write);
      } else {
        Output::finish(sum, row, t, write);
      }
    };
    auto const at = place(y, pitch, row, t);
    if (!activated && !to)
      return finish_with([&](int i, int j, Vector v) COLDPRESS_INLINE_LAMBDA { store(at(i, j), v); });
    auto const from_at = place(from, from_pitch, row, t);
    auto const to_at = place(to, to_pitch, row, t);
    finish_with([&](int i, int j, Vector v) COLDPRESS_INLINE_LAMBDA {
      Vector const before = load(from_at(i, j));
      store(at(i, j), v);
      store(to_at(i, j), before + v);
    });
  }

 private:
  template <int h, int w>
  COLDPRESS_INLINE void add_product(Vector (&sum)[h][w], Index row, Index t) const {
    Vector x[w];
    COLDPRESS_UNROLL
    for (int j = 0; j < w; ++j) {
      x[j] = load(signal + t + j * lanes);
      if constexpr (!has_fma) x[j] = flush_small(x[j], splat(smallest_factor));
    }
    float const* const factors = weight + row;
    auto const add = [&](auto finished) COLDPRESS_INLINE_LAMBDA {
      COLDPRESS_UNROLL
      for (int i = 0; i < h; ++i) {
        Vector const a = splat(factors[i]);
        COLDPRESS_UNROLL
        for (int j = 0; j < w; ++j) sum[i][j] += finished(fma(a, x[j], Vector{}), i);
      }
    };
    if (!product_bias) return add([](Vector product, int) COLDPRESS_INLINE_LAMBDA { return product; });
    float const* const biases = product_bias + row;
    add([&](Vector product, int i) COLDPRESS_INLINE_LAMBDA { return product + splat(biases[i]); });
  }
};
COLDPRESS_INLINE FusedOutput signal_output(FusedBlock const& s) {
  FusedBlock::Total const& total = s.total;
  return {signal_output(static_cast<SignalConvolution<> const&>(s)),
          s.mixed.weight ? s.mixed.x.row(0) : nullptr,
          s.mixed.weight,
          s.mixed.bias,
          total.y.data ? total.x.row(0) : nullptr,
          total.y.data ? total.y.row(0) : nullptr,
          total.x.pitch,
          total.y.pitch};
}

/// y = post_ops(x)
template <class Chain, class Join>
COLDPRESS_INLINE void map_signal(SignalMap<Chain, Join> const& s) {
  auto const epilogue = signal_output(s);
  float const* const x = s.x.row(0);
  for_signal_vectors(s.x.steps(), [&](Index t, auto count) COLDPRESS_INLINE_LAMBDA {
    constexpr int w = count;
    for (Index row = 0; row < s.x.features; ++row) {
      Vector v[1][w];
      COLDPRESS_UNROLL
      for (int j = 0; j < w; ++j) v[0][j] = load(x + row * s.x.pitch + t + j * lanes);
      epilogue.finish(v, row, t);
    }
  });
}
template <class Chain, class Join>
void whole_map_signal(void const* step) {
  map_signal(*static_cast<SignalMap<Chain, Join> const*>(step));
}
template <class Chain, class Join>
Kernel kernel_of(SignalMap<Chain, Join> const&) {
  return whole_map_signal<Chain, Join>;
}

/// The number of outputs whose sums fill the registers together with w vectors of steps each.
constexpr int signal_rows(int w) {
  constexpr int sums = tile_rows * tile_columns;
  return w == 1 ? sums * 2 / 3 : sums / w;
}

/// The vectors of steps of which a few outputs are computed together: so many that their sums fill the registers, but
/// no more than a stream computes at once (steps_at_once in run/stream.hpp).
constexpr int signal_columns(Index outputs) {
  constexpr int usual_steps = 64;
  int w = tile_columns;
  while (2 * w * outputs <= tile_rows * tile_columns && 2 * w * lanes <= usual_steps) w *= 2;
  return w;
}
template <class Outputs>
constexpr int signal_columns() {
  if constexpr (requires { Outputs::value; }) {
    return signal_columns(Outputs::value);
  } else {
    return tile_columns;
  }
}

/// A tile of this form is for any convolution of signals.
struct AnyFilter {
  /// Whether a tile of this size is inlined: with few outputs, or few steps, one is all, and a call takes its time,
  /// too.
  template <int h, int w>
  static constexpr bool is_inlined = false;
  template <class Step>
  static Index groups(Step const& s) {
    return s.groups;
  }
  template <class Step>
  static Index channels(Step const& s) {
    return s.channels;
  }
  template <class Step>
  static Index taps(Step const& s) {
    return s.taps;
  }
};
/// The first convolution of a WaveNet's layer, with one group and as many channels as outputs. One common operation and
/// a sum with another value come after it. With few channels, finding out what a step is takes as long as computing it,
/// so that these forms are worth their code.
template <Index outputs>
struct ActivatedFilter : AnyFilter {
  template <int h, int w>
  static constexpr bool is_inlined = h == outputs && (w == 1 || outputs <= 4);
  template <class Step>
  static Fixed<1> groups(Step const&) {
    return {};
  }
  template <class Step>
  static Fixed<outputs> channels(Step const&) {
    return {};
  }
};
/// The second, with one tap. At most a sum with another value comes after it.
template <Index outputs>
struct Mixing : ActivatedFilter<outputs> {
  template <class Step>
  static Fixed<1> taps(Step const&) {
    return {};
  }
};
template <class Step, class Form, int h, int w>
COLDPRESS_INLINE void finish_signal(Step const& s, Form, Vector (&sum)[h][w], Index row, Index t) {
  signal_output(s).finish(sum, row, t);
}
template <Index number, int h, int w>
COLDPRESS_INLINE void finish_signal(FusedBlock const& s, ActivatedFilter<number>, Vector (&sum)[h][w], Index row,
                                    Index t) {
  signal_output(s).template finish<true>(sum, row, t);
}
template <Index number, int h, int w>
COLDPRESS_INLINE void finish_signal(FusedBlock const& s, Mixing<number>, Vector (&sum)[h][w], Index row, Index t) {
  auto const& join = s.post_ops.join;
  if (join.other) {
    auto const other = place(join.other + (s.y.clock->now & s.post_ops.other_mask), join.pitch, row, t);
    COLDPRESS_UNROLL
    for (int n = 0; n < h * w; ++n) sum[n / w][n % w] += load(other(n / w, n % w));
  }
  auto const y = place(s.y.row(0), s.y.pitch, row, t);
  COLDPRESS_UNROLL
  for (int n = 0; n < h * w; ++n) store(y(n / w, n % w), sum[n / w][n % w]);
}

/// h outputs from `row` on, and w vectors of steps from step t on. `weight` and `first` are those of a group: its first
/// weight, and its first channel.
template <int h, int w, class Step, class Form>
COLDPRESS_INLINE void compute_signal_tile(Step const& s, Form form, float const* weight, Index first, Index row,
                                          Index t) {
  Vector sum[h][w] = {};
  auto const channels = form.channels(s);
  auto const taps = form.taps(s);
  Index const pitch = s.x.pitch, weight_pitch = s.weight_pitch;
  Index from = s.x.place() - (taps - 1) * s.dilation;
  for (Index k = 0; k < taps; ++k, from += s.dilation) {
    float const* at = s.x.data + (from < -s.most ? from + s.x.mask + 1 : from) + first * pitch + t;
    for (Index c = 0; c < channels; ++c, at += pitch, weight += weight_pitch) {
      auto const read = [&](int j) COLDPRESS_INLINE_LAMBDA {
        Vector const x = load_once(at + j * lanes);
        if constexpr (has_fma) {
          return x;
        } else {
          return flush_small(x, splat(smallest_factor));
        }
      };
      if constexpr (h < w) {  // the fewer of the two stay in registers
        Vector a[h];
        COLDPRESS_UNROLL
        for (int i = 0; i < h; ++i) a[i] = splat(weight[i]);
        COLDPRESS_UNROLL
        for (int j = 0; j < w; ++j) {
          Vector const x = read(j);
          COLDPRESS_UNROLL
          for (int i = 0; i < h; ++i) sum[i][j] = fma(a[i], x, sum[i][j]);
        }
      } else {
        Vector x[w];
        COLDPRESS_UNROLL
        for (int j = 0; j < w; ++j) x[j] = read(j);
        COLDPRESS_UNROLL
        for (int i = 0; i < h; ++i) {
          Vector const a = splat(weight[i]);
          COLDPRESS_UNROLL
          for (int j = 0; j < w; ++j) sum[i][j] = fma(a, x[j], sum[i][j]);
        }
      }
    }
  }
  if (s.bias) {
    COLDPRESS_UNROLL
    for (int i = 0; i < h; ++i) {
      Vector const b = splat(s.bias[row + i]);
      COLDPRESS_UNROLL
      for (int j = 0; j < w; ++j) sum[i][j] += b;
    }
  }
  finish_signal(s, form, sum, row, t);
}

template <int h, int w, class Step, class Form>
__attribute__((noinline)) void signal_tile(Step const& s, Form form, float const* weight, Index first, Index row,
                                           Index t) {
  compute_signal_tile<h, w>(s, form, weight, first, row, t);
}

/// The number of outputs of a group, as a constant where the compiler knows it.
template <class G>
constexpr auto outputs_of(G const& g) {
  if constexpr (requires { G::known; }) {
    return Fixed<G::known.group_outputs()>{};
  } else {
    return g.group_outputs();
  }
}
/// `outputs` is outputs_of(the geometry).
template <class Outputs, class Step, class Form = AnyFilter>
COLDPRESS_INLINE void convolve_signal(Step const& s, Outputs outputs, Form form = {}) {
  for_signal_vectors<signal_columns<Outputs>()>(s.x.steps(), [&](Index t, auto w) COLDPRESS_INLINE_LAMBDA {
    for (Index group = 0; group < form.groups(s); ++group) {
      Index const before = group * outputs;
      split<signal_rows(w)>(outputs, [&](Index row, auto h) COLDPRESS_INLINE_LAMBDA {
        if constexpr (Form::template is_inlined<h, w>) {
          compute_signal_tile<h, w>(s, form, s.weight, 0, 0, t);
        } else {
          signal_tile<h, w>(s, form, s.weight + before + row, group * s.channels, before + row, t);
        }
      });
    }
  });
}
/// `outputs` is 0 where it is not a constant.
template <Index outputs, class Form = AnyFilter>
void whole_convolve_signal(void const* step) {
  auto const& s = *static_cast<FusedBlock const*>(step);
  if constexpr (outputs > 0) {
    convolve_signal(s, Fixed<outputs>{}, Form{});
  } else {
    convolve_signal(s, s.outputs);
  }
}
template <class Chain>
bool is_activated(SignalPostOps<Chain, float> const& post_ops) {
  using Common = StreamOps<Chain>;
  return !post_ops.join.other && post_ops.chain.length == 1 &&
         as_common<Common>(post_ops.chain.ops[0], typename Common::List{}, [](auto const&) {});
}
template <class Chain>
bool only_adds(SignalPostOps<Chain, float> const& post_ops) {
  return post_ops.chain.length == 0 && (!post_ops.join.other || post_ops.join.op.id == StreamOps<Chain>::sum);
}
template <class Chain>
Kernel kernel_of(Fused<SignalConvolution<Chain>> const& s) {
  Kernel kernel = whole_convolve_signal<0>;
  for_constants<16>([&](auto i) COLDPRESS_INLINE_LAMBDA {  // the usual numbers of channels
    constexpr Index n = i + 1;
    if constexpr (n < 7 || n % 4 == 0) {
      if (s.outputs != n) return;
      kernel = whole_convolve_signal<n>;
      if constexpr ((n > 1 && n < 5) || n % 8 == 0) {
        if (s.groups > 1 || s.channels != n) return;
        if (s.total.y.data && is_activated(s.post_ops)) kernel = whole_convolve_signal<n, ActivatedFilter<n>>;
        if (s.taps == 1 && !s.mixed.weight && !s.total.y.data && only_adds(s.post_ops))
          kernel = whole_convolve_signal<n, Mixing<n>>;
      }
    }
  });
  return kernel;
}

}  // namespace coldpress::cpu::inline COLDPRESS_ISA
