// The layer Permute: changes the order of the axes.
#pragma once

#include <coldpress/core/each.hpp>
#include <coldpress/core/layer.hpp>

namespace coldpress {

/// An order of a sample's axes; Axes{} leaves the axes as they are.
struct Axes {
  static constexpr int max = Shape::max_rank;
  static constexpr std::string_view takes = "integers, one for each axis", limit = "axes are possible";
  int order[max] = {0, 1, 2, 3, 4, 5, 6, 7};
  int count = 0;
  constexpr Axes() = default;
  static constexpr Axes of(int const* all, int count) {
    Axes axes;
    for (; axes.count < count; ++axes.count) axes.order[axes.count] = all[axes.count];
    return axes;
  }
  template <class... More>
  constexpr Axes(int first, More... more) : order{first, static_cast<int>(more)...}, count(1 + sizeof...(More)) {}
  /// From the members, the form in which nvcc writes a constant.
  constexpr Axes(int const (&all)[max], int given) : count(given) {
    for (int a = 0; a < max; ++a) order[a] = all[a];
  }
  constexpr int const* data() const { return order; }
  constexpr bool operator==(Axes const& other) const {
    bool same = count == other.count;
    for (int a = 0; a < count && same; ++a) same = order[a] == other.order[a];
    return same;
  }
};

inline std::string to_string(Axes const& axes) {
  std::string text = "{";
  for (int a = 0; a < axes.count; ++a) text.append(a ? ", " : "").append(std::to_string(axes.order[a]));
  return text + "}";
}

/// Changes the order of a sample's axes: axis i of the output is axis axes[i] of the input.
struct Permute {
  static constexpr std::string_view name = "permute";
  Axes axes = {};

  template <class Needs = Require>
  constexpr Shape output_shape(Shape const& in, Needs require = {}) const {
    require(axes.count == 0 || axes.count == in.rank(), "permute: names another number of axes than the input has");
    Shape out{};
    bool seen[Axes::max] = {};
    for (int a = 0; a < in.rank(); ++a) {
      int const from = axes.order[a];
      require(from >= 0 && from < in.rank() && !seen[from], "permute: each axis must be named once");
      seen[from] = true;
      out.extents[a] = in[from];
    }
    return out;
  }
  constexpr void forward(auto const& backend, auto const& pass) const {
    each_part(backend, pass.y, pass.y.columns, [&](Index i, Index first, Index last) {
      auto const* const x = pass.x.row(i);
      auto* const y = pass.y.row(i);
      for_each(pass.in, first, last, [&](Index to, Index from) { y[to] = x[from]; });
    });
  }
  constexpr void backward_input(auto const& backend, auto const& pass) const {
    each_part(backend, pass.dy, pass.dy.columns, [&](Index i, Index first, Index last) {
      auto const* const dy = pass.dy.row(i);
      auto* const dx = pass.dx.row(i);
      for_each(pass.in, first, last, [&](Index to, Index from) { dx[from] = dy[to]; });
    });
  }
  static constexpr Capabilities capabilities{
      .backward_reads_input = false, .backward_reads_output = false, .loops = true};
  constexpr InputCapabilities capabilities_for(Shape const& in) const {
    return {.streaming = streams_if(in.rank() > 1 && axes.order[0] == 0)};
  }
  bool operator==(Permute const&) const = default;

 private:
  /// f(place in the output, place in the input) for the places [first, last) of the output.
  template <class F>
  constexpr void for_each(Shape const& in, Index first, Index last, F f) const {
    int const rank = in.rank();
    Index steps[Shape::max_rank] = {}, at[Shape::max_rank] = {}, extents[Shape::max_rank] = {}, step = 1;
    Index of_input[Shape::max_rank] = {};
    for (int a = rank; a-- > 0; step *= in[a]) of_input[a] = step;
    for (int a = 0; a < rank; ++a) steps[a] = of_input[axes.order[a]], extents[a] = in[axes.order[a]];
    Index from = 0, rest = first;
    for (int a = rank; a-- > 0; rest /= extents[a]) at[a] = rest % extents[a], from += at[a] * steps[a];
    for (Index to = first; to < last; ++to) {
      f(to, from);
      for (int a = rank; a-- > 0;) {
        from += steps[a];
        if (++at[a] < extents[a]) break;
        from -= at[a] * steps[a];
        at[a] = 0;
      }
    }
  }
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Axes, order, count);
COLDPRESS_FIELDS(coldpress::Permute, axes);
