// The layer Concat: joins its inputs along an axis.
#pragma once

#include <coldpress/core/along.hpp>
#include <coldpress/core/each.hpp>
#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/layer.hpp>

namespace coldpress {

/// Joins two to eight inputs one after another along an axis; their other extents must be equal. A negative axis counts
/// from the last.
struct Concat {
  static constexpr std::string_view name = "concat";
  int axis = 0;

  template <class Needs = Require>
  constexpr Shape output_shape(Shapes in, Needs require = {}) const {
    require(in.size() >= 2 && in.size() <= 8, "concat: takes two to eight inputs");
    int const along = axis_of(in[0], axis, require);
    Shape out = in[0];
    out.extents[along] = 0;
    for (Shape const& shape : in) {
      require(shape.rank() == in[0].rank(), "concat: the inputs have different ranks");
      for (int a = 0; a < shape.rank(); ++a)
        require(a == along || shape[a] == in[0][a], "concat: the inputs differ in another extent than the axis's");
      out.extents[along] += shape[along];
    }
    return out;
  }
  constexpr void forward(auto const& backend, auto const& pass) const {
    if constexpr (is_signal<std::remove_cvref_t<decltype(pass.y)>>) {
      Index const outer = Along{pass.in[0], axis}.outer;
      Index to = 0;
      for (Index o = 0; o < outer; ++o) {
        for (std::size_t k = 0; k < pass.in.size(); ++k) {
          Index const count = pass.in[k].size() / outer;
          backend.copy(pass.x[k].part(o * count, count), pass.y.part(to, count));
          to += count;
        }
      }
    } else {
      for_each_run(backend, pass.in, pass.y, [&](Index i, std::size_t k, Index from, Index to, Index count) {
        freestanding::copy_n(pass.x[k].row(i) + from, count, pass.y.row(i) + to);
      });
    }
  }
  constexpr void backward_input(auto const& backend, auto const& pass) const {
    for_each_run(backend, pass.in, pass.dy, [&](Index i, std::size_t k, Index to, Index from, Index count) {
      if (pass.dx[k].data) freestanding::copy_n(pass.dy.row(i) + from, count, pass.dx[k].row(i) + to);
    });
  }
  static constexpr Capabilities capabilities{
      .backward_reads_input = false, .backward_reads_output = false, .signals = true, .copies = true};
  constexpr InputCapabilities capabilities_for(Shapes in) const {
    return {.streaming = streams_if(keeps_steps(in[0], axis))};
  }
  bool operator==(Concat const&) const = default;

 private:
  /// f(sample, input, place in it, place in the output, count) for all ranges of values that stay contiguous.
  template <class F>
  constexpr void for_each_run(auto const& backend, Shapes in, auto const& samples, F f) const {
    Index outer = 1, starts[9] = {};  // where each input starts in a range of the output
    for (int a = 0; a < axis_of(in[0], axis); ++a) outer *= in[0][a];
    for (std::size_t k = 0; k < in.size(); ++k) starts[k + 1] = starts[k] + in[k].size() / outer;
    Index const whole = starts[in.size()];
    each_part(backend, samples, outer * whole, [&](Index i, auto first, Index last) {
      each_run(first, last, whole, [&](Index o, auto begin, Index end) {
        for (std::size_t k = 0; k < in.size(); ++k) {
          Index const from = freestanding::max<Index>(begin, starts[k]), to = freestanding::min(end, starts[k + 1]);
          if (from < to) f(i, k, o * (starts[k + 1] - starts[k]) + from - starts[k], o * whole + from, to - from);
        }
      });
    });
  }
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Concat, axis);
