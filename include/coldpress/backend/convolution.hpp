// Convolutions as products of the register tile: what the window sees is packed into panels, block by block, and
// multiplied with the weights as they are. Shapes are arguments.
#pragma once

#include <coldpress/backend/epilogue.hpp>
#include <coldpress/backend/layout.hpp>

namespace coldpress::cpu::inline COLDPRESS_ISA {

using In = Rows<float const>;
using Out = Rows<float>;

/// y = sum + bias, where a row is a channel.
struct Channels {
  float const* bias;  // or null
  float* y;
  Index pitch, columns;  // nothing is written beyond the columns

  template <int h, int w>
  COLDPRESS_INLINE void finish(Vector (&sum)[h][w], Index row, Index column) const {
    unroll<h>([&](auto i) COLDPRESS_INLINE_LAMBDA {
      Vector const b = splat(bias ? bias[row + i] : 0.f);
      unroll<w>([&](auto j) COLDPRESS_INLINE_LAMBDA {
        Index const c = column + j * lanes;
        float* const at = y + (row + i) * pitch + c;
        if (j + 1 < w) {
          store(at, sum[i][j] + b);
        } else {
          store_row(at, sum[i][j] + b, columns - c);
        }
      });
    });
  }
};

/// y += sum; nothing is touched beyond the columns.
struct Added {
  float* y;
  Index pitch, columns;

  template <int h, int w>
  COLDPRESS_INLINE void finish(Vector (&sum)[h][w], Index row, Index column) const {
    unroll<h * w>([&](auto n) COLDPRESS_INLINE_LAMBDA {
      Index const c = column + n % w * lanes;
      float* const at = y + (row + n / w) * pitch + c;
      store_row(at, load_row(at, columns - c) + sum[n / w][n % w], columns - c);
    });
  }
};

/// Copies n floats and, up to the next whole vector, zeros: whatever is copied behind them comes later.
COLDPRESS_INLINE void copy_over(float* to, float const* from, Index n) {
  for (Index i = 0; i < n; i += lanes) store(to + i, load_row(from + i, n - i));
}
COLDPRESS_INLINE void copy(float* to, float const* from, Index n) {
  for (Index i = 0; i < n; i += lanes) store_row(to + i, load_row(from + i, n - i), n - i);
}
COLDPRESS_INLINE void zero(float* to, Index n) {
  for (Index i = 0; i < n; i += lanes) store_row(to + i, Vector{}, n - i);
}

/// A minibatch's part that goes through one panel: positions [row, row + rows) x [column, column + width) of some
/// images; all of their positions where there are several images.
struct Part {
  Index image, images, row, rows, column, width;

  Index positions() const { return rows * width; }  // of each image, and they follow each other
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

/// What one tap sees along an axis, of `count` outputs from `begin` on: those in [first, last) are on the input, from
/// place `from` on.
struct Seen {
  Index first, last, from;

  COLDPRESS_INLINE Seen(Axis const& axis, Index tap, Index begin, Index count)
      : first(within(axis.first(tap) - begin, 0, count)),
        last(within(axis.last(tap) - begin, first, count)),
        from(first == last ? 0 : axis.at(begin + first, tap)) {}
};

/// One row of the panel: what one tap sees of a plane.
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
  } else if (stride == 1 && width <= lanes) {  // a row is a vector, and has zeros behind it
    for (Index i = rows.first; i < rows.last; ++i, from += step, to += width) {
      if (columns.first > 0) store(to, Vector{});
      store(to + columns.first, load_partial(from, count));
    }
  } else {
    for (Index i = rows.first; i < rows.last; ++i, from += step) {
      if (columns.first > 0) blank(columns.first);
      if (stride == 1) {
        copy_over(to, from, count);
      } else {
        for (Index j = 0; j < count; ++j) to[j] = from[j * stride];
      }
      to += count;
      if (right < width) blank(width - right);
    }
  }
  blank((part.rows - rows.last) * width);
}

/// The panel of a part and a group: a row for each (c, r, s), or where rows are shared for each (c, s).
template <class = void>
__attribute__((noinline)) void pack(ConvolutionGeometry g, Part part, In x, Index group, Panel const& panel,
                                    float* to) {
  if (panel.shared) {
    g.height.out += panel.more;
    g.height.filter = 1;
    part.rows += panel.more;
  }
  Index const size = g.height.in * g.width.in, pitch = panel.pitch();
  for (Index c = 0; c < g.group_channels(); ++c) {
    for (Index r = 0; r < g.height.filter; ++r) {
      Seen const rows{g.height, r, part.row, part.rows};
      for (Index s = 0; s < g.width.filter; ++s, to += pitch) {
        Seen const columns{g.width, s, part.column, part.width};
        for (Index i = 0; i < part.images; ++i) {
          float const* const plane = x.row(part.image + i) + (group * g.group_channels() + c) * size;
          pack_tap(g, part, plane, rows, columns, to + i * part.positions());
        }
      }
    }
  }
}

/// Goes through the taps d = (c, r, s) of a panel.
struct Taps {
  Index width, height;      // of the filter
  Index tap, row, channel;  // from one to the next s, r and c, from the last before it
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
/// A panel as the left side of a product: its rows are taps, its depth the positions.
struct LeftTaps {
  Taps first;

  template <int h>
  struct Cursor {
    float const* at[h];
    Index k;
    COLDPRESS_INLINE float operator[](int i) const { return at[i][k]; }
    COLDPRESS_INLINE void next() { ++k; }
  };
  template <int h>
  COLDPRESS_INLINE Cursor<h> from(Index row) const {
    Taps taps = first;
    Index const r = row / taps.width, c = r / taps.height;
    taps.s = row % taps.width, taps.r = r % taps.height;
    // Each c takes `channel` and all steps before it, each r likewise.
    Index const line = (taps.width - 1) * taps.tap + taps.row,
                plane = (taps.height - 1) * line + (taps.width - 1) * taps.tap + taps.channel;
    taps.data += c * plane + taps.r * line + taps.s * taps.tap;
    Cursor<h> cursor;
    cursor.k = 0;
    unroll<h>([&](auto i) COLDPRESS_INLINE_LAMBDA { cursor.at[i] = taps.data, taps.next(); });
    return cursor;
  }
};

/// The way back, adding: dx[c] += panel[d] for all taps d of channel c, where each tap has a row of its own, for the
/// `count` channels from `channel` on.
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
          Index const row = y + g.height.padding - part.row, low = row - part.rows + 1;  // of the first tap, ...
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
            total += (columns >= 0) & (columns < static_cast<std::int32_t>(part.width)) ? sum : Vector{};
          }
          store_row(to, total, g.width.in - x);
        }
      }
    }
  }
}

/// The outputs of a part, {channel, position}, out of the rows of y or dy and back into them.
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

/// Where a convolution keeps what it needs for one panel.
struct PanelMemory {
  Panel panel;
  float *inputs, *outputs, *rest;

  PanelMemory(ConvolutionGeometry const& g, float* scratch, bool with_gradient = false)
      : panel(g),
        inputs(scratch + Panel::slack),
        outputs(inputs + std::max(panel.size(), with_gradient ? panel.gradient_size(g.taps()) : 0) + Panel::slack),
        rest(outputs + panel.output_size() + Panel::slack) {}
};

template <class = void>
void convolve_images(ConvolutionGeometry const& g, In x, float const* weight, float const* bias, Out y,
                     float* scratch) {
  PanelMemory const memory{g, scratch};
  Index const pitch = memory.panel.output_pitch(), outputs = g.group_outputs();
  for_each_part(g, memory.panel, x.rows, [&](Part const& part) {
    Taps const taps = Taps{g, memory.panel, part}.at(memory.inputs);
    for (Index group = 0; group < g.groups; ++group) {
      pack(g, part, x, group, memory.panel, memory.inputs);
      float const* const b = bias ? bias + group * outputs : nullptr;
      float* const to = y.row(part.image) + group * outputs * g.positions() + part.offset(g);
      bool const one = part.images == 1;
      multiply(outputs, part.size(), g.depth(), Left{weight + group * outputs, 1, Layout::pitch(g.outputs)}, taps,
               Channels{b, one ? to : memory.outputs, one ? g.positions() : pitch, part.size()});
      if (!one) put_outputs(g, part, memory.outputs, pitch, y, group);
    }
  });
}

/// dx += the input gradient.
template <class = void>
void image_input_gradient(ConvolutionGeometry const& g, In dy, float const* weight, Out dx, float* scratch) {
  PanelMemory const memory{g, scratch, true};
  Index const pitch = memory.panel.output_pitch(), outputs = g.group_outputs();
  for_each_part(g, memory.panel, dy.rows, [&](Part const& part) {
    for (Index group = 0; group < g.groups; ++group) {
      take_outputs(g, part, dy, group, memory.outputs, pitch);
      for (Index c = 0; c < g.group_channels(); c += memory.panel.channels) {  // while they are in the cache
        Index const count = std::min(memory.panel.channels, g.group_channels() - c);
        float const* const rows = weight + c * g.taps() * Layout::pitch(g.outputs) + group * outputs;
        multiply(count * g.taps(), part.size(), outputs, {rows, Layout::pitch(g.outputs), 1}, memory.outputs, pitch,
                 StoredGradient{{memory.inputs}, pitch});
        unpack(g, part, memory.inputs, pitch, dx, group * g.group_channels() + c, count);
      }
    }
  });
}

/// gradient += that of the weights, {depth, outputs}.
template <class = void>
void image_weight_gradient(ConvolutionGeometry const& g, In x, In dy, float* gradient, float* scratch) {
  PanelMemory const memory{g, scratch};
  Index const outputs = g.group_outputs(), other = Layout::pitch(outputs);
  for_each_part(g, memory.panel, x.rows, [&](Part const& part) {
    LeftTaps const taps{Taps{g, memory.panel, part}.at(memory.inputs)};
    for (Index group = 0; group < g.groups; ++group) {
      pack(g, part, x, group, memory.panel, memory.inputs);
      for (Index i = 0; i < part.images; ++i) {
        transpose<true>(outputs, part.positions(),
                        dy.row(part.image + i) + group * outputs * g.positions() + part.offset(g), g.positions(),
                        memory.rest + i * part.positions() * other, other);
      }
      multiply(g.depth(), outputs, part.size(), taps, Right{memory.rest, other},
               Added{gradient + group * outputs, Layout::pitch(g.outputs), outputs});
    }
  });
}

/// A minibatch's part that goes through one panel: steps [step, step + rows) of a sequence; or of sequences of a single
/// step, as many as there are rows.
struct Steps {
  Index sample, step, rows;
  bool single;

  Index sample_of(Index row) const { return single ? sample + row : sample; }
  Index step_of(Index row) const { return single ? 0 : step + row; }
  template <class T>
  Rows<T> of(Rows<T> y, Index width) const {
    return {y.row(sample) + step * width, rows, width, single ? y.pitch : width};
  }
};

template <class F>
COLDPRESS_INLINE void for_each_steps(ConvolutionGeometry const& g, Panel const& panel, Index batch, F f) {
  bool const single = g.height.out == 1;
  Index const samples = single ? 1 : batch, steps = single ? batch : g.height.out;
  for (Index sample = 0; sample < samples; ++sample) {
    for (Index step = 0; step < steps; step += panel.rows) {
      Index const rows = steps - step < panel.rows ? steps - step : panel.rows;
      f(single ? Steps{step, 0, rows, true} : Steps{sample, step, rows, false});
    }
  }
}

/// panel[row][d] for d = (tap, c) of one group.
COLDPRESS_INLINE void pack_steps(ConvolutionGeometry const& g, Steps const& steps, In x, float* state, Index group,
                                 float* panel, Index pitch) {
  Index const channels = g.group_channels(), kept = Past<float>::size(g.past(), g.channels);
  for (Index i = 0; i < steps.rows; ++i, panel += pitch) {
    Index const sample = steps.sample_of(i);
    Past<float> const past{state + sample * kept, g.past(), g.channels};
    float* to = panel;
    for (Index r = 0; r < g.height.filter; ++r, to += channels) {
      Index const t = g.height.at(steps.step_of(i), r);
      if (t >= 0 || state) {
        copy_over(to, (t >= 0 ? x.row(sample) + t * g.channels : past.step(t)) + group * channels, channels);
      } else {
        for (Index c = 0; c < channels; c += lanes) store(to + c, Vector{});
      }
    }
  }
}

/// The way back, adding: dx of all steps that a row has seen.
template <class = void>
void unpack_steps(ConvolutionGeometry const& g, Steps const& steps, float const* panel, Index pitch, Out dx,
                  Index group) {
  Index const channels = g.group_channels();
  for (Index i = 0; i < steps.rows; ++i, panel += pitch) {
    for (Index r = 0; r < g.height.filter; ++r) {
      Index const t = g.height.at(steps.step_of(i), r);
      if (t < 0) continue;
      float* const to = dx.row(steps.sample_of(i)) + t * g.channels + group * channels;
      float const* const from = panel + r * channels;
      for (Index c = 0; c < channels; c += lanes)
        store_row(to + c, load_row(to + c, channels - c) + load(from + c), channels - c);
    }
  }
}

/// A call with a single step in all is a sum in an order of its own, as in affine.
template <class = void>
void convolve_sequences(ConvolutionGeometry const& g, In x, float const* weight, float const* bias, Out y, float* state,
                        float* scratch) {
  PanelMemory const memory{g, scratch};
  Index const pitch = memory.panel.pitch(), outputs = g.group_outputs(), w_pitch = Layout::pitch(g.outputs);
  for_each_steps(g, memory.panel, x.rows, [&](Steps const& steps) {
    Out const to = steps.of(y, g.outputs);
    for (Index group = 0; group < g.groups; ++group) {
      pack_steps(g, steps, x, state, group, memory.inputs, pitch);
      float const* b = bias;
      if (bias && group > 0) {  // whole vectors are read, beyond the last group
        copy_over(memory.rest, bias + group * outputs, outputs);
        b = memory.rest;
      }
      Output<Chain<>> const epilogue{{}, b, to.data + group * outputs, to.pitch, outputs};
      float const* const w = weight + group * outputs;
      if (x.rows * g.height.out == 1) {
        multiply_row(outputs, g.depth(), memory.inputs, w, w_pitch, epilogue);
      } else {
        multiply(steps.rows, outputs, g.depth(), {memory.inputs, pitch, 1}, w, w_pitch, epilogue);
      }
    }
  });
  if (!state || g.past() == 0) return;
  Index const kept = Past<float>::size(g.past(), g.channels);
  for (Index i = 0; i < x.rows; ++i) Past<float>{state + i * kept, g.past(), g.channels}.append(x.row(i), g.height.in);
}

template <class = void>
void sequence_input_gradient(ConvolutionGeometry const& g, In dy, float const* weight, Out dx, float* scratch) {
  PanelMemory const memory{g, scratch, true};
  Index const pitch = memory.panel.pitch(), outputs = g.group_outputs();
  for (Index group = 0; group < g.groups; ++group) {
    transpose(g.depth(), outputs, weight + group * outputs, Layout::pitch(g.outputs), memory.rest, pitch);
    for_each_steps(g, memory.panel, dy.rows, [&](Steps const& steps) {
      In const from = steps.of(dy, g.outputs);
      multiply(steps.rows, g.depth(), outputs, {from.data + group * outputs, from.pitch, 1}, memory.rest, pitch,
               StoredGradient{{memory.inputs}, pitch});
      unpack_steps(g, steps, memory.inputs, pitch, dx, group);
    });
  }
}

template <class = void>
void sequence_weight_gradient(ConvolutionGeometry const& g, In x, In dy, float* gradient, float* scratch) {
  PanelMemory const memory{g, scratch};
  Index const pitch = memory.panel.pitch(), outputs = g.group_outputs(), other = memory.panel.output_pitch();
  for_each_steps(g, memory.panel, x.rows, [&](Steps const& steps) {
    In const from = steps.of(dy, g.outputs);
    for (Index group = 0; group < g.groups; ++group) {
      pack_steps(g, steps, x, nullptr, group, memory.inputs, pitch);
      for (Index i = 0; i < steps.rows; ++i)
        copy_over(memory.outputs + i * other, from.row(i) + group * outputs, outputs);
      multiply(g.depth(), outputs, steps.rows, {memory.inputs, 1, pitch}, memory.outputs, other,
               Added{gradient + group * outputs, Layout::pitch(g.outputs), outputs});
    }
  });
}

/// The sums over all samples and positions of `lanes` channels from `first` on.
template <class = void>
Vector channel_sums(ConvolutionGeometry const& g, In dy, Index first) {
  Vector total{};
  if (g.sequence) {
    for (Index i = 0; i < dy.rows; ++i) {
      for (Index t = 0; t < g.height.out; ++t) total += load_row(dy.row(i) + t * g.outputs + first, g.outputs - first);
    }
  } else {
    for (Index k = first; k < first + lanes && k < g.outputs; ++k) {
      Vector part{};
      for (Index i = 0; i < dy.rows; ++i) {
        float const* const from = dy.row(i) + k * g.positions();
        for (Index p = 0; p < g.positions(); p += lanes) part += load_row(from + p, g.positions() - p);
      }
      total[k - first] = sum(part);
    }
  }
  return total;
}

}  // namespace coldpress::cpu::inline COLDPRESS_ISA
