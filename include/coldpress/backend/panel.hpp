// Panels: what a convolution's window sees of images, packed so that the register tile can multiply it.
#pragma once

// Shapes are arguments.

#include <coldpress/backend/epilogue.hpp>
#include <coldpress/backend/layout.hpp>
#include <coldpress/core/freestanding.hpp>

namespace coldpress::cpu::inline COLDPRESS_ISA {

/// y = sum + bias, where each row is a channel. A sum whose terms come in parts is kept in y from one part to the next.
struct Channels {
  float const* bias;  // or null
  float* y;
  Index pitch, columns;            // columns beyond the last are not written
  bool first = true, last = true;  // whether the sums begin and end with these terms

  COLDPRESS_INLINE Channels from(Index row) const {
    return {bias ? bias + row : nullptr, y + row * pitch, pitch, columns, first, last};
  }
  template <int h, int w>
  COLDPRESS_INLINE void start(Vector (&sum)[h][w], Index row, Index column) const {
    if (first) return;
    COLDPRESS_UNROLL
    for (int n = 0; n < h * w; ++n) {
      Index const c = column + n % w * lanes;
      sum[n / w][n % w] = load_row(y + (row + n / w) * pitch + c, columns - c);
    }
  }

  template <int h, int w>
  COLDPRESS_INLINE void finish(Vector (&sum)[h][w], Index row, Index column) const {
    COLDPRESS_UNROLL
    for (int i = 0; i < h; ++i) {
      if (last) {
        Vector const b = splat(bias ? bias[row + i] : 0.f);
        COLDPRESS_UNROLL
        for (int j = 0; j < w; ++j) sum[i][j] += b;
      }
      COLDPRESS_UNROLL
      for (int j = 0; j < w; ++j) {
        Index const c = column + j * lanes;
        float* const at = y + (row + i) * pitch + c;
        if (j + 1 < w) {
          store(at, sum[i][j]);
        } else {
          store_row(at, sum[i][j], columns - c);
        }
      }
    }
  }
};

/// The filters of a convolution as a matrix {outputs, terms}: as the layer's weights are stored, {terms, outputs}, or
/// as pack_filters stores them.
struct Filters {
  float const* data;
  Index terms;
  Index pitch;  // from one term to the next, or 0 if they are packed
  Index ahead;  // so many floats ahead, those that are not packed are fetched into the L2 cache

  static constexpr bool in_tiles = true;  // they have the rows that pack_filters packs for
  static constexpr Filters packed(float const* data, Index terms) { return {data, terms, 0, 0}; }

  template <int h>
  struct Cursor {
    float const* at;
    Index step, ahead;
    COLDPRESS_INLINE float operator[](int i) const { return at[i]; }
    COLDPRESS_INLINE void next() {
      __builtin_prefetch(at + ahead, 0, 2);
      at += step;
    }
  };
  template <int h>
  COLDPRESS_INLINE Cursor<h> from(Index output) const {
    return pitch > 0 ? Cursor<h>{data + output, pitch, ahead} : Cursor<h>{data + output * terms, h, ahead};
  }
};
/// Packs the filters of some outputs for the tiles of multiply: {outputs / h, terms, h}. As they are stored, a tile of
/// h outputs would read a part of a cache line for each term, often on another page. `readable` floats of each term may
/// be read.
template <class = void>
__attribute__((noinline)) void pack_filters(Index outputs, Index terms, float const* from, Index pitch, Index readable,
                                            float* to) {
  constexpr Index at_once = 16;  // terms, so that lines that two tiles read are still in the cache
  for (Index first = 0; first < terms; first += at_once) {
    Index const end = freestanding::min(first + at_once, terms);
    split<tile_rows>(outputs, [&](Index output, auto h) COLDPRESS_INLINE_LAMBDA {
      float* const tile = to + output * terms;
      for (Index k = first; k < end; ++k) {
        for (int i = 0; i < h; i += lanes) {  // whole vectors within the tile: the next terms overwrite their ends
          Vector const some = load_row(from + k * pitch + output + i, readable - output - i);
          store_row(tile + k * h + i, some, (terms - k) * h - i);
        }
      }
    });
  }
}

/// Copies n floats and fills up the last vector with zeros. What follows there must therefore be copied afterwards.
COLDPRESS_INLINE void copy_over(float* to, float const* from, Index n) {
  for (Index i = 0; i < n; i += lanes) store(to + i, load_row(from + i, n - i));
}
/// The same for n floats, every second one from `from` on.
COLDPRESS_INLINE void copy_every_second_over(float* to, float const* from, Index n) {
  for (Index i = 0; i < n; i += lanes, from += 2 * lanes) {
    Index const left = 2 * (n - i) - 1;
    store(to + i, every_second<0>(load_row(from, left), load_row(from + lanes, left > lanes ? left - lanes : 0)));
  }
}
COLDPRESS_INLINE void copy(float* to, float const* from, Index n) {
  for (Index i = 0; i < n; i += lanes) store_row(to + i, load_row(from + i, n - i), n - i);
}

/// The part of a minibatch that goes through one panel: positions [row, row + rows) x [column, column + width) of some
/// images. With several images it is all of their positions.
struct Part {
  Index image, images, row, rows, column, width;

  Index positions() const { return rows * width; }  // per image; the images are contiguous
  Index size() const { return images * positions(); }
  Index offset(ConvolutionGeometry const& g) const { return row * g.width.out + column; }
};

/// f(part) for all parts of a minibatch, in order.
template <class F>
COLDPRESS_INLINE void for_each_part(ConvolutionGeometry const& g, Panel const& panel, Index batch, F f) {
  for (Index image = 0; image < batch; image += panel.images) {
    Index const images = batch - image < panel.images ? batch - image : panel.images;
    for (Index row = 0; row < g.height.out; row += panel.rows) {
      Index const rows = g.height.out - row < panel.rows ? g.height.out - row : panel.rows;
      for (Index column = 0; column < g.width.out; column += panel.width) {
        Index const width = g.width.out - column < panel.width ? g.width.out - column : panel.width;
        f(Part{image, images, row, rows, column, width});
      }
    }
  }
}

COLDPRESS_INLINE Index within(Index value, Index low, Index high) {
  return value < low ? low : value > high ? high : value;
}

/// What one tap sees along an axis, for `count` outputs from `begin` on: the outputs [first, last) see the input, from
/// place `from` on.
struct Seen {
  Index first, last, from;

  COLDPRESS_INLINE Seen(Axis const& axis, Index tap, Index begin, Index count)
      : first(within(axis.first(tap) - begin, 0, count)),
        last(within(axis.last(tap) - begin, first, count)),
        from(first == last ? 0 : axis.at(begin + first, tap)) {}
};

/// Writes one row of the panel: what one tap sees of a plane.
COLDPRESS_INLINE void pack_tap(ConvolutionGeometry const& g, Part const& part, float const* plane, Seen rows,
                               Seen columns, float* to) {
  Index const step = g.height.stride * g.width.in, stride = g.width.stride, width = part.width, right = columns.last,
              count = columns.last - columns.first;
  auto const blank = [&](Index n) COLDPRESS_INLINE_LAMBDA {
    for (Index i = 0; i < n; i += lanes) store(to + i, Vector{});
    to += n;
  };
  float const* from = plane + rows.from * g.width.in + columns.from;
  blank(rows.first * width);
  if (count == 0) {
    blank((rows.last - rows.first) * width);
  } else if (stride == 1) {
    // From the last vector of the rows to the first, which overwrites what the last has stored in the next rows.
    for (Index j = (vectors(width) - 1) * lanes; j >= 0; j -= lanes) {
      auto const copy_rows = [&](auto read) COLDPRESS_INLINE_LAMBDA {
        float const* at = from - columns.first + j;
        float* out = to + j;
        for (Index i = rows.first; i < rows.last; ++i, at += step, out += width) store(out, read(at));
      };
      Index const begin = columns.first - j, end = columns.last - j;
      if (begin <= 0 && end >= lanes) {
        copy_rows([](float const* p) COLDPRESS_INLINE_LAMBDA { return load(p); });
      } else {
        copy_rows([&](float const* p) COLDPRESS_INLINE_LAMBDA { return load_between(p, begin, end); });
      }
    }
    to += (rows.last - rows.first) * width;
  } else {
    for (Index i = rows.first; i < rows.last; ++i, from += step) {
      if (columns.first > 0) blank(columns.first);
      if (stride == 2) {
        copy_every_second_over(to, from, count);
      } else {
        for (Index j = 0; j < count; ++j) to[j] = from[j * stride];
      }
      to += count;
      if (right < width) blank(width - right);
    }
  }
  blank((part.rows - rows.last) * width);
}

/// Writes the panel of a part and of `count` channels: one row for each (c, r, s), or for each (c, s) where rows are
/// shared.
template <class = void>
__attribute__((noinline)) void pack(ConvolutionGeometry g, Part part, In x, Index channel, Index count,
                                    Panel const& panel, float* to) {
  if (panel.shared) {
    g.height.out += panel.more;
    g.height.filter = 1;
    part.rows += panel.more;
  }
  Index const size = g.height.in * g.width.in, pitch = panel.pitch();
  for (Index c = channel; c < channel + count; ++c) {
    for (Index r = 0; r < g.height.filter; ++r) {
      Seen const rows{g.height, r, part.row, part.rows};
      for (Index s = 0; s < g.width.filter; ++s, to += pitch) {
        Seen const columns{g.width, s, part.column, part.width};
        for (Index i = 0; i < part.images; ++i) {
          float const* const plane = x.row(part.image + i) + c * size;
          pack_tap(g, part, plane, rows, columns, to + i * part.positions());
        }
      }
    }
  }
}

/// Iterates over the taps d = (c, r, s) of a panel.
struct Taps {
  Index width, height;      // of the filter
  Index tap, row, channel;  // distances from one s, r or c to the next, from the last tap before it
  Index s = 0, r = 0;
  float const* data = nullptr;

  Taps(ConvolutionGeometry const& g, Panel const& panel, Part const& part)
      : width(g.width.filter), height(g.height.filter), tap(panel.pitch()), row(tap), channel(tap) {
    if (!panel.shared) return;
    row = g.height.dilation * part.width - (width - 1) * tap;
    channel = tap - (height - 1) * g.height.dilation * part.width;
  }
  COLDPRESS_INLINE Taps at(float const* start) const {
    Taps taps = *this;
    taps.data = start;
    return taps;
  }
  COLDPRESS_INLINE Taps from(Index column) const { return at(data + column); }
  COLDPRESS_INLINE void next() {
    if (++s < width) {
      data += tap;
    } else if (s = 0; ++r < height) {
      data += row;
    } else {
      r = 0, data += channel;
    }
  }
};

/// The backward pass: dx[c] += panel[d] for all taps d of channel c, for the `count` channels from `channel` on. Each
/// tap has a row of its own here.
template <class = void>
__attribute__((noinline)) void unpack(ConvolutionGeometry const& g, Part const& part, float const* panel, Index pitch,
                                      Out dx, Index channel, Index count) {
  Index const size = g.height.in * g.width.in, first = g.height.at(part.row, 0),
              last = g.height.at(part.row + part.rows - 1, g.height.filter - 1);
  Index const top = first > 0 ? first : 0, bottom = last < g.height.in ? last + 1 : g.height.in;
  auto const plane = [&](Index i, Index c)
                         COLDPRESS_INLINE_LAMBDA { return dx.row(part.image + i) + (channel + c) * size; };
  if (g.height.stride > 1 || g.width.stride > 1) {
    for (Index c = 0; c < count; ++c) {
      for (Index r = 0; r < g.height.filter; ++r) {
        for (Index s = 0; s < g.width.filter; ++s, panel += pitch) {
          Index const left = within(g.width.first(s) - part.column, 0, part.width),
                      right = within(g.width.last(s) - part.column, left, part.width);
          for (Index row = 0; row < part.images * part.rows; ++row) {
            Index const y = g.height.at(part.row + row % part.rows, r);
            if (y < 0 || y >= g.height.in) continue;
            float* const to = plane(row / part.rows, c) + y * g.width.in + g.width.at(part.column, s);
            for (Index j = left; j < right; ++j) to[j * g.width.stride] += panel[row * part.width + j];
          }
        }
      }
    }
    return;
  }
  for (Index c = 0; c < count; ++c, panel += g.taps() * pitch) {
    for (Index i = 0; i < part.images; ++i) {
      float const* const taps = panel + i * part.positions();
      for (Index x = 0; x < g.width.in; x += lanes) {
        float* to = plane(i, c) + top * g.width.in + x;
        for (Index y = top; y < bottom; ++y, to += g.width.in) {
          Index const row = y + g.height.padding - part.row, low = row - part.rows + 1;  // for the first tap, ...
          Index const r0 = low > 0 ? (low + g.height.dilation - 1) / g.height.dilation : 0,
                      r1 = within(row / g.height.dilation + 1, 0, g.height.filter);
          Vector total = load_row(to, g.width.in - x);
          for (Index s = 0; s < g.width.filter; ++s) {
            Index const column = x + g.width.padding - s * g.width.dilation - part.column;  // of the first lane
            if (column <= -lanes || column >= part.width) continue;
            float const* at = taps + s * pitch + row * part.width + column;
            Vector sum{};
            for (Index r = r0; r < r1; ++r)
              sum += load(at + r * (g.width.filter * pitch - g.height.dilation * part.width));
            Mask const columns = lane_numbers() + static_cast<std::int32_t>(column);
            Mask const inside = (columns >= 0) & (columns < static_cast<std::int32_t>(part.width));
            total += inside ? sum : Vector{};
          }
          store_row(to, total, g.width.in - x);
        }
      }
    }
  }
}

/// Copies the outputs {channel, position} of a part from the rows of y or dy, and back into them.
template <class = void>
void take_outputs(ConvolutionGeometry const& g, Part const& part, In y, Index group, float* to, Index pitch) {
  for (Index k = 0; k < g.group_outputs(); ++k, to += pitch) {
    for (Index i = 0; i < part.images; ++i) {
      copy_over(to + i * part.positions(),
                y.row(part.image + i) + (group * g.group_outputs() + k) * g.positions() + part.offset(g),
                part.positions());
    }
  }
}
template <class = void>
void put_outputs(ConvolutionGeometry const& g, Part const& part, float const* from, Index pitch, Out y, Index group) {
  for (Index k = 0; k < g.group_outputs(); ++k, from += pitch) {
    for (Index i = 0; i < part.images; ++i) {
      copy(y.row(part.image + i) + (group * g.group_outputs() + k) * g.positions() + part.offset(g),
           from + i * part.positions(), part.positions());
    }
  }
}

/// Where a convolution keeps the values of one panel.
struct PanelMemory {
  Panel panel;
  float *inputs, *outputs, *rest;

  PanelMemory(ConvolutionGeometry const& g, float* scratch, bool backward = false)
      : panel(g, backward),
        inputs(scratch + Panel::slack),
        outputs(inputs + freestanding::max(panel.size(), backward ? panel.gradient_size(g) : 0) + Panel::slack),
        rest(outputs + panel.output_size() + Panel::slack) {}
};

}  // namespace coldpress::cpu::inline COLDPRESS_ISA
