// The primitives of the CPU backend on rows: products of matrices, pointwise operations, losses and updates.
#pragma once

#include <coldpress/backend/affine.hpp>
#include <coldpress/backend/epilogue.hpp>
#include <coldpress/backend/layout.hpp>
#include <coldpress/backend/rowwise.hpp>
#include <coldpress/backend/work_partition.hpp>
#include <coldpress/core/freestanding.hpp>

namespace coldpress::cpu::inline COLDPRESS_ISA {

// Everything is a template, here and in the kernels, even where it need not be: a program then pays only for the tiles
// it uses, and not for all that it includes.
struct RowPrimitives : Layout, WorkPartition {
  /// y = post_ops(x Wᵀ + b). W is stored as floats, or as bfloat16.
  template <class X, class Number, class Y, class Chain, class Join>
  COLDPRESS_INLINE void affine(X x, Number const* weight, float const* bias, Y y,
                               PostOps<Chain, float, Join> const& post_ops) const {
    auto const epilogue = cpu::epilogue_of(y, post_ops, bias);
    cpu::either(
        cpu::is_one(x.rows),
        [&](auto...) COLDPRESS_INLINE_LAMBDA {
          cpu::affine_row(cpu::affine_step(x, weight, bias, y, post_ops), x.columns, y.columns);
        },
        [&](auto...) COLDPRESS_INLINE_LAMBDA {
          cpu::either(
              cpu::is_one(y.columns),
              [&](auto...) { each_row(x, [&](Index i) { cpu::dot(x.columns, x.row(i), weight, epilogue, i); }); },
              [&](auto...) COLDPRESS_INLINE_LAMBDA {
                multiply(y.rows, y.columns, x.columns, {x.data, x.pitch, 1}, cpu::Right{weight, pitch(y.columns)},
                         epilogue, 0, panels_of(y.columns));
              });
        });
  }
  /// dx = derivative(dy W). W is transposed in parts that are small enough to stay in the cache until they are used.
  template <class DY, class Number, class DX, class Chain, class Adds>
  void product(DY dy, Number const* weight, DX dx, Derivative<Chain, float, Adds> const& derivative) const {
    auto const in = dx.columns;
    auto const out = dy.columns;
    auto const all = cpu::vectors(in);
    auto const panels = panels_of(in);
    auto const epilogue = cpu::epilogue_of(dx, derivative);
    auto const multiply_some = [&](auto first, auto count, Index panel, auto some) {
      cpu::either(
          cpu::is_one(out), [&](auto...) { cpu::copy_run(weight + first, scratch, count); },
          [&](auto...) { transpose(count, out, weight + first * pitch(out), pitch(out), scratch, pitch(count)); });
      multiply(dx.rows, in, out, {dy.data, dy.pitch, 1}, cpu::Right<float>{scratch, pitch(count), first}, epilogue,
               panel, some);
    };
    auto const at_once = transposed_at_once(out);
    cpu::either(
        cpu::at_most(in, at_once), [&](auto...) { multiply_some(Fixed<0>{}, in, 0, panels); },
        [&](auto...) {
          Index const most = at_once / (cpu::tile_columns * cpu::lanes);
          auto const column = [&](Index panel) { return cpu::start_of(panel, all, cpu::tile_columns) * cpu::lanes; };
          for (Index panel = 0; panel < panels; panel += most) {
            Index const some = freestanding::min<Index>(most, panels - panel), first = column(panel);
            multiply_some(first, freestanding::min<Index>(column(panel + some), in) - first, panel, some);
          }
        });
  }
  /// sink(dyᵀ x), as {in, out}
  template <class X, class DY, class Sink>
  void weight_gradient(X x, DY dy, Sink const& sink) const {
    weight_gradient(x, dy, sink, pitch(dy.columns));
  }
  /// The same with rows of the sink that are row_pitch apart.
  template <class X, class DY, class Sink>
  void weight_gradient(X x, DY dy, Sink const& sink, Index row_pitch) const {
    auto const epilogue = cpu::epilogue_of(sink, row_pitch);
    cpu::either(
        cpu::is_one(dy.columns),
        [&](auto...) {
          sum_rows_of(x, epilogue, [&](cpu::Vector& sum, Index i, Index c) COLDPRESS_INLINE_LAMBDA {
            sum = cpu::fma(cpu::splat(*dy.row(i)), cpu::load_row(x.row(i) + c, x.columns - c), sum);
          });
        },
        [&](auto...) {
          cpu::either(
              cpu::turns(x.columns, dy.columns),
              [&](auto...) {
                cpu::multiply_turned(x.columns, dy.columns, x.rows, {dy.data, 1, dy.pitch}, {x.data, x.pitch},
                                     epilogue);
              },
              [&](auto...) {
                multiply(x.columns, dy.columns, x.rows, {x.data, 1, x.pitch}, cpu::Right<float>{dy.data, dy.pitch},
                         epilogue, 0, panels_of(dy.columns));
              });
        });
  }
  /// sink(sum of the rows of dy)
  template <class DY, class Sink>
  void sum_rows(DY dy, Sink const& sink) const {
    sum_rows_of(dy, cpu::epilogue_of(sink, 0),
                [&](cpu::Vector& sum, Index i, Index c) COLDPRESS_INLINE_LAMBDA { sum += cpu::load(dy.row(i) + c); });
  }
  /// y = post_ops(x); y may be x.
  template <class X, class Y, class Chain, class Join>
  void map(X x, Y y, PostOps<Chain, float, Join> const& post_ops) const {
    cpu::for_blocked_rows(y, [&](auto part) {
      auto const from = part(x);
      auto const epilogue = cpu::epilogue_of<cpu::PassOps>(part(y), part(post_ops));
      each_row(from, [&](Index i) { cpu::pass_row(from.row(i), from.columns, epilogue, i); });
    });
  }
  /// dx = derivative(dy); dx may be dy.
  template <class DY, class DX, class Chain, class Adds>
  void map_gradient(DY dy, DX dx, Derivative<Chain, float, Adds> const& derivative) const {
    cpu::for_blocked_rows(dx, [&](auto part) {
      auto const from = part(dy);
      auto const epilogue = cpu::epilogue_of<cpu::PassOps>(part(dx), part(derivative));
      each_row(from, [&](Index i) { cpu::pass_row(from.row(i), from.columns, epilogue, i); });
    });
  }
  /// dx = derivative(dx + dy)
  template <class DY, class DX, class Chain>
  void add_gradient(DY dy, DX dx, Derivative<Chain, float> const& derivative) const {
    map_gradient(dy, dx, derivative.adding(std::true_type{}));
  }
  /// dx = derivative(dy times the derivative of a join's value with respect to its first operand, or to its second). a
  /// and b are read only where the join needs them.
  template <class L, class DY, class A, class B, class DX, class Chain, class Adds>
  void join_gradient(L const& layer, bool second, DY dy, A a, B b, DX dx,
                     Derivative<Chain, float, Adds> const& derivative) const {
    auto const op = layer.join();
    cpu::for_blocked_rows(dx, [&](auto part) {
      auto const from = part(dy);
      auto const first = part(a);
      auto const other = part(b);
      auto const epilogue = cpu::epilogue_of<cpu::PassOps>(part(dx), part(derivative));
      each_row(from, [&](Index i) {
        cpu::for_row_vectors(0, from.columns, [&](Index column, auto number) COLDPRESS_INLINE_LAMBDA {
          constexpr int w = number;
          cpu::Vector v[1][w];
          COLDPRESS_UNROLL
          for (int j = 0; j < w; ++j) {
            Index const c = column + j * cpu::lanes, left = from.columns - c;
            cpu::Vector x{}, y{};
            if constexpr (std::remove_cvref_t<decltype(op)>::needs_inputs)
              x = cpu::load_row(first.row(i) + c, left), y = cpu::load_row(other.row(i) + c, left);
            cpu::Vector const d = second ? op.second(x, y) : op.first(x, y);
            v[0][j] = cpu::load_row(from.row(i) + c, left) * d;
          }
          epilogue.finish(v, i, column);
        });
      });
    });
  }
  /// dt, the gradient of the summed loss with respect to the targets.
  template <class LossType, class Y, class Target, class DT>
  void loss_target_gradient(LossType const& loss, Y y, Target target, DT dt) const {
    each_row(y, [&](Index i) {
      cpu::for_row(y.columns, [&](Index c, Index left) {
        cpu::Vector const v = cpu::load_row(y.row(i) + c, left), t = cpu::load_row(target.row(i) + c, left);
        cpu::store_row(dt.row(i) + c, cpu::masked(loss.target_gradient(v, t), left, 0), cpu::writable(dt) - c);
      });
    });
  }
  /// y = softmax or log softmax of each row; y may be x.
  template <class X, class Y>
  void normalize(Normalization kind, X x, Y y) const {
    each_row(x, [&](Index i) { cpu::normalize_row(kind, x.row(i), y.row(i), x.columns); });
  }
  /// Computes dx from y and dy; dx may be dy.
  template <class Y, class DY, class DX>
  void normalize_gradient(Normalization kind, Y y, DY dy, DX dx) const {
    each_row(y, [&](Index i) {
      cpu::normalize_gradient_row(kind, y.row(i), dy.row(i), dx.row(i), y.columns, cpu::writable(dx));
    });
  }
  /// y = normalised x, dx = gradient of the summed loss with respect to x; returns the mean loss. One pass over each
  /// row. y may be x.
  template <class LossType, class X, class Y, class Target, class DX>
  float loss(LossType const& loss, Normalization kind, X x, Y y, Target target, DX dx) const {
    cpu::Vector const total = sum_of<cpu::Vector>(x.rows, product_of(x.columns, Fixed<value_cost>{}), [&](Index i) {
      if (kind != Normalization::none) cpu::normalize_row(kind, x.row(i), y.row(i), x.columns);
      cpu::Vector const value = cpu::loss_row(loss, y.row(i), target.row(i), dx.row(i), y.columns, cpu::writable(dx));
      if (kind != Normalization::none)
        cpu::normalize_gradient_row(kind, y.row(i), dx.row(i), dx.row(i), x.columns, cpu::writable(dx));
      return value;
    });
    return cpu::sum(total) / static_cast<float>(x.rows);
  }
  /// Passes a complete gradient of `size` values, or what a running statistic observed, to the sink.
  template <class Sink>
  void apply_gradient(float const* gradient, Index size, Sink const& sink) const {
    constexpr Index line = 16;  // numbers
    each(cpu::parts_of(size, line), line * value_cost, [&](Index first, Index last, int) {
      cpu::apply_gradient(sink.at(first * line), gradient + first * line,
                          freestanding::min(last * line, size) - first * line);
    });
  }
  /// Scales each unit's weights down to the L2 norm `most` if theirs is larger.
  void constrain(Parameter const& parameter, float* weight, float most) const {
    for_units(parameter, weight, [&](Rows<float> units) { limit_columns(units, most); });
  }
  template <class T>
  void limit_columns(Rows<T> weights, float most) const {
    for (Index c = 0; c < weights.columns; c += cpu::lanes) {
      Index const left = weights.columns - c;
      cpu::Vector squares{};
      for (Index i = 0; i < weights.rows; ++i) {
        cpu::Vector const w = cpu::load_row(weights.row(i) + c, left);
        squares = cpu::fma(w, w, squares);
      }
      cpu::Vector const norm = Math<cpu::Vector>::sqrt(squares);
      cpu::Vector const factor = norm > cpu::splat(most) ? most / norm : cpu::splat(1);
      for (Index i = 0; i < weights.rows; ++i)
        cpu::store_row(weights.row(i) + c, cpu::load_row(weights.row(i) + c, left) * factor, left);
    }
  }
  /// The sum of squares of a flat buffer. Vectors whose squares add up to more than a float can hold are summed in
  /// double.
  double squared_norm(float const* values, Index size) const {
    return sum_of<double>(cpu::parts_of(size, cpu::lanes), cpu::lanes, [&](Index i) {
      cpu::Vector const v = cpu::load(values + i * cpu::lanes);
      auto sum = static_cast<double>(cpu::sum(v * v));
      if (sum - sum == 0) return sum;
      sum = 0;
      for (int j = 0; j < cpu::lanes; ++j) sum += static_cast<double>(v[j]) * static_cast<double>(v[j]);
      return sum;
    });
  }

 private:
  /// epilogue(sum of the rows of x), where add(sum, row, column) adds one term.
  template <class X, class Epilogue, class Add>
  void sum_rows_of(X x, Epilogue const& epilogue, Add add) const {
    constexpr int most = cpu::tile_columns;
    auto const vectors = cpu::vectors(x.columns);
    each(cpu::parts_of(vectors, Fixed<most>{}), product_of(x.rows, Fixed<value_cost * most * cpu::lanes>{}),
         [&](Index first, Index last, int) {
           cpu::split<most>(vectors,
                            [&](Index v, auto number) COLDPRESS_INLINE_LAMBDA {
                              constexpr int w = number;
                              cpu::Vector sum[1][w] = {};
                              for (Index i = 0; i < x.rows; ++i) {
                                COLDPRESS_UNROLL
                                for (int j = 0; j < w; ++j) add(sum[0][j], i, (v + j) * cpu::lanes);
                              }
                              epilogue.finish(sum, 0, v * cpu::lanes);
                            },
                            {first, last});
         });
  }
};

}  // namespace coldpress::cpu::inline COLDPRESS_ISA
