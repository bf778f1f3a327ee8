// Convolutions of volumes as convolutions of images, whose channels are planes of the volume.
#pragma once

// A plane of the output is what an image is whose channels {channels, depth of the filter} are the planes that the
// filters see there; the weights are the same. These planes are copied, and the kernels for images do the rest. A
// copied value takes part in as many products as the filters have outputs and taps in a plane, so copying costs little.
// Shapes are arguments.

#include <coldpress/backend/convolution.hpp>
#include <coldpress/backend/image_weight_gradient.hpp>

namespace coldpress::cpu::inline COLDPRESS_ISA {

/// Some planes of all samples, counted one sample after another: {sample, place along the depth}.
struct PlaneNumber {
  Index sample, place;
  PlaneNumber(Index number, Index depth) : sample(number / depth), place(number % depth) {}
};

/// Copies what the filters see of some channels for the plane `z` of the output: to[c, t] is channel c under tap t of
/// the depth, or zero.
template <class = void>
void copy_seen_planes(VolumeGeometry const& g, float const* x, Index z, Index first, Index last, float* to) {
  Index const size = g.height.in * g.width.in;
  to += first * g.depth.filter * size;
  for (Index c = first; c < last; ++c) {
    for (Index t = 0; t < g.depth.filter; ++t, to += size) {
      Index const from = g.depth.at(z, t);
      if (from < 0 || from >= g.depth.in) {
        zero(to, size);
      } else {
        copy(to, x + (c * g.depth.in + from) * size, size);
      }
    }
  }
}
/// Copies the plane `z` of each output.
template <class = void>
void copy_output_planes(VolumeGeometry const& g, float const* dy, Index z, float* to) {
  Index const size = g.height.out * g.width.out;
  for (Index k = 0; k < g.outputs; ++k) copy(to + k * size, dy + (k * g.depth.out + z) * size, size);
}

/// The planes [first, first + count) of y.
template <class = void>
__attribute__((noinline)) void convolve_planes(VolumeGeometry const& g, VolumePlanes const& planes, In x,
                                               float const* weight, float const* bias, Out y, Index first, Index count,
                                               float* scratch) {
  Index const size = g.height.out * g.width.out;
  Out const in{scratch, count, planes.g.in(), planes.in()},
      out{scratch + planes.images * planes.in(), count, planes.g.out(), planes.out()};
  for (Index i = 0; i < count; ++i) {
    PlaneNumber const n{first + i, g.depth.out};
    copy_seen_planes(g, x.row(n.sample), n.place, 0, g.channels, in.row(i));
  }
  convolve_images(planes.g, in, weight, bias, out, scratch + planes.size());
  for (Index i = 0; i < count; ++i) {
    PlaneNumber const n{first + i, g.depth.out};
    for (Index k = 0; k < g.outputs; ++k)
      copy(y.row(n.sample) + (k * g.depth.out + n.place) * size, out.row(i) + k * size, size);
  }
}

/// Copies the weights [first, last) of {channels of a group, depth, taps of a plane} to {depth, channels, taps of a
/// plane}, so that those of each tap of the depth are the weights of images.
template <class = void>
void order_by_tap(VolumeGeometry const& g, float const* weight, Index first, Index last, float* to) {
  Index const pitch = Layout::pitch(g.outputs), taps = g.height.filter * g.width.filter;
  for (Index n = first; n < last; ++n) {
    Index const c = n / taps / g.depth.filter, t = n / taps % g.depth.filter;
    copy_run(weight + n * pitch, to + ((t * g.group_channels() + c) * taps + n % taps) * pitch, pitch);
  }
}
/// The planes [first, first + count) of the input gradient, plus `bias` unless it is null: what each tap of the depth
/// adds, in their order. `weight` is in that order, too. With `adds`, the sums are added to dx.
template <class = void>
__attribute__((noinline)) void planes_input_gradient(VolumeGeometry const& g, VolumePlanes const& planes, In dy,
                                                     float const* weight, float const* bias, Out dx, bool adds,
                                                     Index first, Index count, float* scratch) {
  Index const size = g.height.in * g.width.in, weights = planes.g.terms() * Layout::pitch(g.outputs);
  Out const sums{scratch, count, planes.g.in(), planes.in()},
      from{scratch + planes.images * planes.in(), count, planes.g.out(), planes.out()};
  float* const free = scratch + planes.size();
  fill_planes(g.channels, bias, sums);
  for (Index t = 0; t < g.depth.filter; ++t) {
    Index run = 0;  // of neighbouring planes that the tap has outputs for; they are the last before i
    for (Index i = 0; i <= count; ++i) {
      PlaneNumber const n{first + i, g.depth.in};
      Index const z = i < count ? g.depth.output(n.place, t) : -1;
      if (z >= 0) {
        copy_output_planes(g, dy.row(n.sample), z, from.row(i)), ++run;
      } else if (run > 0) {
        image_input_gradient(planes.g, some(from, i - run, run), weight + t * weights, some(sums, i - run, run), free);
        run = 0;
      }
    }
  }
  for (Index i = 0; i < count; ++i) {
    PlaneNumber const n{first + i, g.depth.in};
    for (Index c = 0; c < g.channels; ++c) {
      Out const to{dx.row(n.sample) + (c * g.depth.in + n.place) * size, 1, size, size};
      Out const sum{sums.row(i) + c * size, 1, size, size};
      adds ? add_rows(sum, to) : copy(to.data, sum.data, size);
    }
  }
}

/// Adds the gradient of the weights to scratch, as image_weight_gradient does, and that of the biases to `biases`.
template <class = void>
__attribute__((noinline)) void volume_weight_gradient(WorkPartition const& context, VolumeGeometry const& g, In x,
                                                      In dy, float* biases) {
  VolumePlanes const planes{g.of_planes()};
  Index const kept = Layout::gradients(g);
  float *const in = context.scratch + kept, *const out = in + planes.in();
  for (Index n = 0; n < x.rows; ++n) {
    for (Index z = 0; z < g.depth.out; ++z) {
      context.each(g.channels, planes.in() / g.channels * Context::value_cost,
                   [&](Index first, Index last, int) { copy_seen_planes(g, x.row(n), z, first, last, in); });
      copy_output_planes(g, dy.row(n), z, out);
      image_weight_gradient(context, planes.g, {in, 1, planes.g.in(), planes.in()},
                            {out, 1, planes.g.out(), planes.out()}, kept + planes.in() + planes.out(), biases);
    }
  }
}

}  // namespace coldpress::cpu::inline COLDPRESS_ISA
