// Products for sequences with few outputs per step, in which the lanes are steps.
#pragma once

// Where outputs are the lanes, few of them leave most lanes empty. So the values of a step, which lie side by side, are
// deinterleaved into planes, each with one value of every step, and the results are interleaved again. Both happen in
// registers. The order of each sum is the same. (multiply_turned in tile.hpp transposes results alone, for the gradient
// of a dense layer's weights.)

#include <coldpress/backend/convolution_parts.hpp>
#include <coldpress/backend/tile.hpp>

namespace coldpress::cpu::inline COLDPRESS_ISA {

/// The largest number of outputs for which planes are worth their transposition, and the steps of each plane.
inline constexpr Index most_planes = has_fma ? lanes / 2 : 0, plane_steps = Panel::most_steps;
/// Those of some numbers of outputs that are few enough.
constexpr Sizes few_of(Sizes const& sizes) {
  Sizes few = sizes.unknown() && most_planes > 0 ? sizes : Sizes{};
  for (int i = 0; i < sizes.count && !sizes.unknown(); ++i) {
    if (sizes.list[i] <= most_planes) few.add(sizes.list[i]);
  }
  return few;
}
/// Whether there may be planes, in convolutions with these numbers of outputs and of steps that are computed at once.
constexpr bool has_planes(Sizes const& outputs, Sizes const& steps) {
  bool whole = steps.unknown();
  for (int i = 0; i < steps.count && !steps.unknown(); ++i) whole = whole || steps.list[i] == plane_steps;
  return few_of(outputs).count > 0 && whole;
}

/// Adds those lanes of vector number `next` of an array to a vector that has those of the vectors before it. Lane l is
/// lane Places::from(l) of the array, counted through all of its vectors.
template <class Places, int next, int... l>
COLDPRESS_INLINE Vector add_lanes(Vector before, Vector v, std::integer_sequence<int, l...>) {
  constexpr auto place = [](int lane) {
    int const from = Places::from(lane);
    if (from / lanes == next) return lanes + from % lanes;
    return next == 1 && from < lanes ? from : lane;
  };
  return __builtin_shufflevector(before, v, place(l)...);
}
template <class Places, int n>
COLDPRESS_INLINE Vector gather(Vector const (&v)[n]) {
  Vector result = v[0];
  for_constants<n - 1>([&](auto i) COLDPRESS_INLINE_LAMBDA {
    result = add_lanes<Places, decltype(i)::value + 1>(result, v[i + 1], std::make_integer_sequence<int, lanes>{});
  });
  return result;
}
/// Where the values of plane c are in n vectors of steps, and those of vector m of the steps in n planes.
template <int n, int c>
struct InSteps {
  static constexpr int from(int lane) { return lane * n + c; }
};
template <int n, int m>
struct InPlanes {
  static constexpr int from(int lane) { return (m * lanes + lane) % n * lanes + (m * lanes + lane) / n; }
};

/// Takes n vectors with the n values of one step after another apart into n planes, one for each value.
template <int n>
COLDPRESS_INLINE void deinterleave(Vector (&v)[n]) {
  if constexpr (n % 2 == 0) {
    Vector even[n / 2], odd[n / 2];
    COLDPRESS_UNROLL
    for (int i = 0; i < n / 2; ++i) {
      even[i] = every_second<0>(v[2 * i], v[2 * i + 1]);
      odd[i] = every_second<1>(v[2 * i], v[2 * i + 1]);
    }
    deinterleave(even), deinterleave(odd);
    COLDPRESS_UNROLL
    for (int i = 0; i < n / 2; ++i) v[2 * i] = even[i], v[2 * i + 1] = odd[i];
  } else if constexpr (n > 1) {
    Vector all[n];
    for_constants<n>([&](auto c) COLDPRESS_INLINE_LAMBDA { all[c] = gather<InSteps<n, decltype(c)::value>>(v); });
    COLDPRESS_UNROLL
    for (int i = 0; i < n; ++i) v[i] = all[i];
  }
}
/// The inverse.
template <int n>
COLDPRESS_INLINE void interleave(Vector (&v)[n]) {
  if constexpr (n % 2 == 0) {
    Vector even[n / 2], odd[n / 2];
    COLDPRESS_UNROLL
    for (int i = 0; i < n / 2; ++i) even[i] = v[2 * i], odd[i] = v[2 * i + 1];
    interleave(even), interleave(odd);
    COLDPRESS_UNROLL
    for (int i = 0; i < n / 2; ++i) {
      v[2 * i] = interleave<0>(even[i], odd[i]);
      v[2 * i + 1] = interleave<1>(even[i], odd[i]);
    }
  } else if constexpr (n > 1) {
    Vector all[n];
    for_constants<n>([&](auto m) COLDPRESS_INLINE_LAMBDA { all[m] = gather<InPlanes<n, decltype(m)::value>>(v); });
    COLDPRESS_UNROLL
    for (int i = 0; i < n; ++i) v[i] = all[i];
  }
}

/// to[c][t] = from[t][c] for plane_steps steps.
template <int n>
__attribute__((noinline)) void store_planes(float const* from, float* to) {
  for (Index t = 0; t < plane_steps; t += lanes, from += n * lanes, to += lanes) {
    Vector v[n];
    COLDPRESS_UNROLL
    for (int i = 0; i < n; ++i) v[i] = load(from + i * lanes);
    deinterleave(v);
    COLDPRESS_UNROLL
    for (int i = 0; i < n; ++i) store(to + i * plane_steps, v[i]);
  }
}

/// Stores sums of which each row is a plane, or adds them to what is there.
template <class Adds>
struct PlaneSums {
  float const* bias;  // or null
  float* y;
  [[no_unique_address]] Adds adds;

  template <int h, int w>
  COLDPRESS_INLINE void finish(Vector (&sum)[h][w], Index, Index step) const {
    float* to = y + step * h;
    COLDPRESS_UNROLL
    for (int j = 0; j < w; ++j, to += h * lanes) {
      Vector v[h];
      COLDPRESS_UNROLL
      for (int i = 0; i < h; ++i) v[i] = bias ? sum[i][j] + splat(bias[i]) : sum[i][j];
      interleave(v);
      if (adds) {
        COLDPRESS_UNROLL
        for (int i = 0; i < h; ++i) v[i] += load(to + i * lanes);
      }
      COLDPRESS_UNROLL
      for (int i = 0; i < h; ++i) store(to + i * lanes, v[i]);
    }
  }
};

/// The product of a matrix {outputs, taps * channels} with what the taps see of plane_steps steps, the first of them
/// from `from` on and each other `tap` floats further. `planes` is memory for what all taps see.
template <Sizes channel_sizes, Sizes output_sizes, class Epilogue>
void multiply_planes(Index taps, Index channels, Index outputs, float const* from, Index tap, Left matrix,
                     Epilogue const& epilogue, float* planes) {
  Right<float> seen{planes, plane_steps};
  if (channels == 1) {
    seen = {from, tap};
  } else if (channels > most_planes) {
    for (Index r = 0; r < taps; ++r)
      transpose<true>(plane_steps, channels, from + r * tap, channels, planes + r * channels * plane_steps,
                      plane_steps);
  } else {
    with_size_of_part<most_planes, few_of(channel_sizes)>(channels, [&](auto n) COLDPRESS_INLINE_LAMBDA {
      for (Index r = 0; r < taps; ++r) store_planes<n>(from + r * tap, planes + r * channels * plane_steps);
    });
  }
  with_size_of_part<most_planes, few_of(output_sizes)>(outputs, [&](auto h) COLDPRESS_INLINE_LAMBDA {
    constexpr int w = h <= tile_rows ? tile_columns : tile_columns / 2;
    for (Index t = 0; t < plane_steps; t += w * lanes) tile<h, w>(taps * channels, matrix, seen, epilogue, 0, t);
  });
}

}  // namespace coldpress::cpu::inline COLDPRESS_ISA
