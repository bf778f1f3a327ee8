// Epilogues of a tile: what happens to its h x w vectors of finished sums while they are in registers.
#pragma once

#include <coldpress/backend/tile.hpp>
#include <coldpress/core/pass.hpp>
#include <coldpress/core/type_list.hpp>

namespace coldpress::cpu::inline COLDPRESS_ISA {

/// Calls f(i, j) for every vector of a tile, either unrolled or, where the work is long, in a loop over rows (for code
/// size and compile time).
template <int h, int w, bool rolled, class F>
COLDPRESS_INLINE void for_tile(Vector (&sum)[h][w], F f) {
  if constexpr (rolled && h > 1) {
    Vector done[h][w];  // a copy, because indexing `sum` itself would move it to memory
    COLDPRESS_UNROLL
    for (int n = 0; n < h * w; ++n) done[n / w][n % w] = sum[n / w][n % w];
    for (int i = 0; i < h; ++i) {
      COLDPRESS_UNROLL
      for (int j = 0; j < w; ++j) f(i, j, done[i][j]);
    }
  } else {
    COLDPRESS_UNROLL
    for (int n = 0; n < h * w; ++n) f(n / w, n % w, sum[n / w][n % w]);
  }
}

/// The vectors of a tile in a matrix: the address of its row i and vector j is a base and multiples of the pitch, which
/// processors add for nothing.
template <class T>
struct Place {
  T* first;
  Index pitch;
  COLDPRESS_INLINE T* operator()(int i, int j) const { return first + i * pitch + j * lanes; }
};
template <class T>
COLDPRESS_INLINE Place<T> place(T* data, Index pitch, Index row, Index column) {
  return {data + (row * pitch + column), pitch};
}

template <int h, int w>
struct Block {
  alignas(64) float values[h * w * lanes];
  static constexpr ErasedOp::Block extents{h, w* lanes, w* lanes};
  COLDPRESS_INLINE float* at(int i, int j) { return values + (i * w + j) * lanes; }
};

/// The layers whose operation is applied in registers if it is the only one of a type-erased chain, and the joins that
/// are. erased.hpp has the lists, for sources that compile kernels of erased chains.
template <class Chain>
struct CommonOps {
  using List = TypeList<>;
  using Joins = TypeList<>;
};
/// The same in streams, where fewer tiles are compiled, and in passes over values, where there are none: more
/// operations are worth their code there.
template <class Chain>
struct StreamOps : CommonOps<Chain> {};
template <class Chain>
struct PassOps : StreamOps<Chain> {};
/// Calls f(operation) if that is of a layer in the list; returns whether it is.
template <class Common, class Erased, class F, class... Layers>
COLDPRESS_INLINE bool as_common(Erased const& erased, TypeList<Layers...>, F f) {
  [[maybe_unused]] auto const try_one = [&]<class L>(TypeList<L>) COLDPRESS_INLINE_LAMBDA {
    using Op = decltype(Common::template op_of<L>());
    bool const same = erased.id == Common::template id<L>;
    if (same) f(*static_cast<Op const*>(erased.op));
    return same;
  };
  return (try_one(TypeList<Layers>{}) || ...);
}

/// Applies a chain to a block, one operation after another.
inline void apply(ErasedChain chain, float* x, ErasedOp::Block block, Position at) {
  for (int n = 0; n < chain.length; ++n) chain.ops[n].value(chain.ops[n].op, x, block, at);
}

/// y = chain(join(sum + bias)). `whole`: whole vectors may be read and written everywhere.
template <class Chain, class Join = NoJoin, class Common = CommonOps<Chain>, bool whole = false>
struct Output {
  PostOps<Chain, float, Join> post_ops;
  float const* bias;  // or null
  float* y;
  Index pitch, columns;  // nothing is written at or beyond `columns`, a multiple of the lanes where y is padded

  template <int h, int w>
  COLDPRESS_INLINE void finish(Vector (&sum)[h][w], Index row, Index column) const {
    auto const at = place(y, pitch, row, column);
    finish(sum, row, column, [&](int i, int j, Vector v) COLDPRESS_INLINE_LAMBDA {
      if (whole || j + 1 < w) {
        store(at(i, j), v);
      } else {
        store_row(at(i, j), v, columns - column - j * lanes);
      }
    });
  }
  /// Calls write(i, j, v) with the finished vectors.
  template <int h, int w, class Write>
  COLDPRESS_INLINE void finish(Vector (&sum)[h][w], Index row, Index column, Write write) const {
    if (bias) {
      COLDPRESS_UNROLL
      for (int j = 0; j < w; ++j) {
        Vector const b = load(bias + column + j * lanes);
        COLDPRESS_UNROLL
        for (int i = 0; i < h; ++i) sum[i][j] += b;
      }
    }
    join(sum, row, column);
    if (post_ops.kept) {
      COLDPRESS_UNROLL
      for (int n = 0; n < h * w; ++n)
        store(post_ops.kept + (row + n / w) * post_ops.kept_pitch + column + n % w * lanes, sum[n / w][n % w]);
    }
    if constexpr (std::is_same_v<Chain, ErasedChain>) {
      if (post_ops.chain.length == 1 && finish_common(sum, write)) {
      } else if (post_ops.chain.length == 0) {
        for_tile<h, w, false>(sum, write);
      } else {
        Block<h, w> block;
        for_tile<h, w, false>(sum, [&](int i, int j, Vector v) COLDPRESS_INLINE_LAMBDA { store(block.at(i, j), v); });
        apply(post_ops.chain, block.values, block.extents, {row, column, post_ops.step});
        for (int i = 0; i < h; ++i) {
          COLDPRESS_UNROLL
          for (int j = 0; j < w; ++j) write(i, j, load(block.at(i, j)));
        }
      }
    } else {
      for_tile<h, w, Chain::heavy>(sum, [&](int i, int j, Vector v) COLDPRESS_INLINE_LAMBDA {
        write(i, j, post_ops.chain.value(v, Position{row + i, column + j * lanes, post_ops.step}));
      });
    }
  }

  /// Calls write(i, j, v) with the values of an erased chain if its only operation is a common one; returns whether it
  /// is.
  template <int h, int w, class Write>
  COLDPRESS_INLINE bool finish_common(Vector (&sum)[h][w], Write write) const {
    auto const apply = [&]<class Op>(Op op) COLDPRESS_INLINE_LAMBDA {
      for_tile<h, w, Op::heavy>(
          sum, [&](int i, int j, Vector v) COLDPRESS_INLINE_LAMBDA { write(i, j, op.value(v, Position{})); });
    };
    return as_common<Common>(post_ops.chain.ops[0], typename Common::List{}, apply);
  }

 private:
  template <int h, int w>
  COLDPRESS_INLINE void join(Vector (&sum)[h][w], Index row, Index column) const {
    if constexpr (std::is_same_v<Join, BinaryPostOp<ErasedJoin, float>>) {
      if (!post_ops.join.other) return;
      auto const join_one = [&](auto op) COLDPRESS_INLINE_LAMBDA {
        auto const other = place(post_ops.join.other, post_ops.join.pitch, row, column);
        COLDPRESS_UNROLL
        for (int n = 0; n < h * w; ++n)
          sum[n / w][n % w] = op.value(sum[n / w][n % w], load_other(other(n / w, n % w), column + n % w * lanes));
      };
      if (as_common<Common>(post_ops.join.op, typename Common::Joins{}, join_one)) return;
      Block<h, w> block;
      for_tile<h, w, false>(sum, [&](int i, int j, Vector v) COLDPRESS_INLINE_LAMBDA { store(block.at(i, j), v); });
      post_ops.join.op.value(post_ops.join.op.op, block.values,
                             post_ops.join.other + row * post_ops.join.pitch + column, post_ops.join.pitch,
                             post_ops.join.columns - column, block.extents);
      COLDPRESS_UNROLL
      for (int n = 0; n < h * w; ++n) sum[n / w][n % w] = load(block.at(n / w, n % w));
    } else if constexpr (!std::is_same_v<Join, NoJoin>) {
      auto const other = place(post_ops.join.other, post_ops.join.pitch, row, column);
      COLDPRESS_UNROLL
      for (int n = 0; n < h * w; ++n)
        sum[n / w][n % w] =
            post_ops.join.op.value(sum[n / w][n % w], load_other(other(n / w, n % w), column + n % w * lanes));
    }
  }
  COLDPRESS_INLINE Vector load_other(float const* at, Index column) const {
    return whole ? load(at) : load_row(at, post_ops.join.columns - column);
  }
};

/// The derivative of a chain at one vector. Its input may be the user's memory: nothing is read beyond `columns`.
template <class Chain, class Adds>
COLDPRESS_INLINE Vector derivative_at(Derivative<Chain, float, Adds> const& derivative, Index row, Index column,
                                      Index columns) {
  Vector x{};
  if constexpr (Chain::needs_input)
    x = load_row(derivative.input + row * derivative.input_pitch + column, columns - column);
  return derivative.chain.gradient(x, load(derivative.output + row * derivative.output_pitch + column),
                                   Position{row, column, derivative.step});
}

/// Computes the derivative of an erased chain over a block of rows, from the last operation to the first; the values
/// between the operations are recomputed.
inline void derivatives_of(Derivative<ErasedChain, float> const& derivative, float* derivatives, float* middles,
                           ErasedOp::Block block, Index row, Index column, Index columns) {
  ErasedChain const chain = derivative.chain;
  Position const at{row, column, derivative.step};
  Index const size = block.rows * block.pitch;
  auto const copy = [&](float const* from, Index pitch, float* to) {
    for (Index i = 0; i < block.rows; ++i) {
      for (Index j = 0; j < block.columns; j += lanes) {
        store(to + i * block.pitch + j, load_row(from + (row + i) * pitch + column + j, columns - column - j));
      }
    }
  };
  float* const y = middles + chain.length * size;  // `middles`: the input of each operation, then the chain's output
  copy(derivative.output, derivative.output_pitch, y);
  if (derivative.input) {
    copy(derivative.input, derivative.input_pitch, middles);
    for (int n = 0; n + 1 < chain.length; ++n) {
      float* const next = middles + (n + 1) * size;
      for (Index i = 0; i < size; i += lanes) store(next + i, load(middles + n * size + i));
      chain.ops[n].value(chain.ops[n].op, next, block, at);
    }
  }
  for (int n = chain.length - 1; n >= 0; --n) {
    chain.ops[n].gradient(chain.ops[n].op, derivative.input ? middles + n * size : nullptr, middles + (n + 1) * size,
                          derivatives, n + 1 < chain.length, block, at);
  }
}

/// Multiplies a block by the derivative of a chain of one erased operation, which reads its input and output where they
/// are.
template <int h, int w>
void multiply_by_derivative(Derivative<ErasedChain, float> const& derivative, Block<h, w>& block, Index row,
                            Index column) {
  ErasedOp const& op = derivative.chain.ops[0];
  for (int i = 0; i < h; ++i) {
    float const *const x = derivative.input, *const y = derivative.output + (row + i) * derivative.output_pitch;
    op.gradient(op.op, x ? x + (row + i) * derivative.input_pitch + column : nullptr, y + column, block.at(i, 0), true,
                {1, block.extents.columns, block.extents.pitch}, {row + i, column, derivative.step});
  }
}

/// dx = sum * derivative, or (dx + sum) * derivative. Values beyond the columns become zero, whatever the derivative is
/// there, so that sums over padding stay right.
template <class Chain, class Adds, class Common = CommonOps<Chain>>
struct InputGradient {
  Derivative<Chain, float, Adds> derivative;
  float* dx;
  Index pitch, columns;

  template <int h, int w>
  COLDPRESS_INLINE void finish(Vector (&sum)[h][w], Index row, Index column) const {
    auto const at = [&](int i, int j) COLDPRESS_INLINE_LAMBDA { return dx + (row + i) * pitch + column + j * lanes; };
    if constexpr (!std::is_same_v<Adds, std::false_type>) {
      if (derivative.adds) {
        COLDPRESS_UNROLL
        for (int n = 0; n < h * w; ++n)
          sum[n / w][n % w] += load_row(at(n / w, n % w), columns - column - n % w * lanes);
      }
    }
    auto const write = [&](int i, int j, Vector v) COLDPRESS_INLINE_LAMBDA {
      Index const left = columns - column - j * lanes;
      if (j + 1 < w || left >= lanes) {
        store(at(i, j), v);
      } else if (pitch - column - j * lanes >= lanes) {
        store(at(i, j), masked(v, left));
      } else {  // rows have no padding between them
        store_partial(at(i, j), v, left);
      }
    };
    if constexpr (std::is_same_v<Chain, ErasedChain>) {
      auto const multiply_one = [&]<class Op>(Op op) COLDPRESS_INLINE_LAMBDA {
        Derivative<coldpress::Chain<Op>, float> const known{chain_of(op),      derivative.step,
                                                            derivative.input,  derivative.input_pitch,
                                                            derivative.output, derivative.output_pitch};
        for_tile<h, w, false>(sum, [&](int i, int j, Vector v) COLDPRESS_INLINE_LAMBDA {
          write(i, j, v * derivative_at(known, row + i, column + j * lanes, columns));
        });
      };
      bool const common = derivative.chain.length == 1 &&
                          as_common<Common>(derivative.chain.ops[0], typename Common::List{}, multiply_one);
      if (common) {
      } else if (derivative.chain.length == 0) {
        for_tile<h, w, false>(sum, write);
      } else {
        Block<h, w> sums;
        for_tile<h, w, false>(sum, [&](int i, int j, Vector v) COLDPRESS_INLINE_LAMBDA { store(sums.at(i, j), v); });
        if (derivative.chain.length == 1 && column + w * lanes <= columns) {
          multiply_by_derivative(derivative, sums, row, column);
        } else {
          Block<h, w> derivatives{};
          alignas(64) float middles[(max_chain_length + 1) * h * w * lanes];
          derivatives_of(derivative, derivatives.values, middles, derivatives.extents, row, column, columns);
          for (int i = 0; i < h * w * lanes; i += lanes)
            store(sums.values + i, load(sums.values + i) * load(derivatives.values + i));
        }
        for (int i = 0; i < h; ++i) {
          COLDPRESS_UNROLL
          for (int j = 0; j < w; ++j) write(i, j, load(sums.at(i, j)));
        }
      }
    } else if constexpr (Chain::length == 0) {
      for_tile<h, w, false>(sum, write);
    } else {
      for_tile<h, w, (Chain::length > 1) && Chain::heavy>(sum, [&](int i, int j, Vector v) COLDPRESS_INLINE_LAMBDA {
        write(i, j, v * derivative_at(derivative, row + i, column + j * lanes, columns));
      });
    }
  }
};

/// Stores a parameter's gradient in memory, or adds it to what is there.
struct StoredGradient {
  GradientSink<float> sink;
  Index pitch;

  template <int h, int w>
  COLDPRESS_INLINE void finish(Vector (&sum)[h][w], Index row, Index column) const {
    auto const at = [&](int i, int j)
                        COLDPRESS_INLINE_LAMBDA { return sink.gradient + (row + i) * pitch + column + j * lanes; };
    if (sink.add) {
      for_tile<h, w, true>(
          sum, [&](int i, int j, Vector v) COLDPRESS_INLINE_LAMBDA { store(at(i, j), load(at(i, j)) + v); });
    } else {
      for_tile<h, w, false>(sum, [&](int i, int j, Vector v) COLDPRESS_INLINE_LAMBDA { store(at(i, j), v); });
    }
  }
};

/// Updates the vector of weights at `offset` with one optimizer step.
template <bool adjusted, class Optimizer>
COLDPRESS_INLINE void step(UpdateSink<Optimizer, float> const& sink, Index offset, Vector gradient) {
  Vector weight = load(sink.weight + offset), state[Optimizer::states];
  COLDPRESS_UNROLL
  for (int s = 0; s < Optimizer::states; ++s) state[s] = load(sink.state[s] + offset);
  sink.template step<adjusted>(weight, gradient, state);
  COLDPRESS_UNROLL
  for (int s = 0; s < Optimizer::states; ++s) store(sink.state[s] + offset, state[s]);
  store(sink.weight + offset, weight);
}

/// The same for the rows of a block. It is not compiled into every tile, because a step with decay or bounds is long
/// code, for which the sums would be in memory anyway.
template <int w, class Optimizer>
__attribute__((noinline)) void adjusted_steps(UpdateSink<Optimizer, float> const& sink, Index offset, Index pitch,
                                              float const* gradients, int rows) {
  UpdateSink<Optimizer, float> const local = sink;  // stores cannot change a copy
  for (int i = 0; i < rows; ++i, offset += pitch, gradients += w * lanes) {
    COLDPRESS_UNROLL
    for (int j = 0; j < w; ++j) step<true>(local, offset + j * lanes, load(gradients + j * lanes));
  }
}

/// Updates a parameter with its gradient while that is in registers.
template <class Optimizer>
struct Updated {
  UpdateSink<Optimizer, float> sink;
  Index pitch;

  COLDPRESS_INLINE void fetch(Index row, Index column) const {
    Index const offset = row * pitch + column;
    __builtin_prefetch(sink.weight + offset, 1);
    COLDPRESS_UNROLL
    for (int s = 0; s < Optimizer::states; ++s) __builtin_prefetch(sink.state[s] + offset, 1);
  }
  template <int h, int w>
  COLDPRESS_INLINE void finish(Vector (&sum)[h][w], Index row, Index column) const {
    if (sink.frozen) return;
    auto const offset = [&](int i, int j) COLDPRESS_INLINE_LAMBDA { return (row + i) * pitch + column + j * lanes; };
    if (sink.adjusts()) {
      Block<h, w> block;
      for_tile<h, w, false>(sum, [&](int i, int j, Vector v) COLDPRESS_INLINE_LAMBDA { store(block.at(i, j), v); });
      adjusted_steps<w>(sink, offset(0, 0), pitch, block.values, h);
    } else {
      for_tile<h, w, Optimizer::heavy>(
          sum, [&](int i, int j, Vector v) COLDPRESS_INLINE_LAMBDA { step<false>(sink, offset(i, j), v); });
    }
  }
};

inline StoredGradient epilogue_of(GradientSink<float> sink, Index pitch) { return {sink, pitch}; }
template <class Optimizer>
Updated<Optimizer> epilogue_of(UpdateSink<Optimizer, float> const& sink, Index pitch) {
  return {sink, pitch};
}

/// Calls f(column, Int<w>{}) for the columns of a row from `first` to `end`, w vectors at a time: what an epilogue
/// looks up, and a call of an erased operation, then serve several vectors. Where w is above 1, all columns of these
/// vectors are before `end`, so that they can be loaded and stored whole.
template <class F>
COLDPRESS_INLINE void for_row_vectors(Index first, Index end, F f) {
  constexpr int several = 4;
  Index c = first;
  for (; c + several * lanes <= end; c += several * lanes) f(c, Int<several>{});
  for (; c < end; c += lanes) f(c, Int<1>{});
}
/// Passes the columns of a row of values from `first` to `end` through an epilogue.
template <class Epilogue>
void pass_row(float const* x, Index end, Epilogue const& epilogue, Index row, Index first = 0) {
  for_row_vectors(first, end, [&](Index c, auto number) COLDPRESS_INLINE_LAMBDA {
    constexpr int w = number;
    Vector v[1][w];
    COLDPRESS_UNROLL
    for (int j = 0; j < w; ++j) v[0][j] = w > 1 ? load(x + c + j * lanes) : load_row(x + c, end - c);
    epilogue.finish(v, row, c);
  });
}
/// Passes a gradient in memory, or what a statistic observes, to a sink.
template <class Sink>
void apply_gradient(Sink const& sink, float const* gradient, Index size) {
  if constexpr (requires { sink.average; }) {
    if (sink.average > 0) {
      for (Index i = 0; i < size && !sink.frozen; i += lanes) {
        Vector value = load(sink.weight + i);
        sink.observe(value, load_row(gradient + i, size - i));
        store(sink.weight + i, value);
      }
      return;
    }
  }
  pass_row(gradient, size, epilogue_of(sink, 0), 0);
}

}  // namespace coldpress::cpu::inline COLDPRESS_ISA
