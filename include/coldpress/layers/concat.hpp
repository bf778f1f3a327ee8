#pragma once

#include <coldpress/core/along.hpp>
#include <coldpress/core/each.hpp>
#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/layer.hpp>

namespace coldpress {

/// Its inputs one after another along an axis; the other extents are equal. A negative axis counts from the last. Two
/// to eight inputs.
struct Concat {
  static constexpr std::string_view name = "concat";
  int axis = 0;

  constexpr Shape output_shape(Shapes in) const {
    require(in.size() >= 2, "concat: takes at least two inputs");
    int const along = axis_of(in[0], axis);
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
  void forward(auto const& backend, auto const& pass) const {
    Blocks const b = blocks(pass.in);
    each_sample(backend, pass.y, [&](Index i) {
      Index offset = 0;
      for (std::size_t k = 0; k < pass.in.size(); ++k) {
        Index const part = pass.in[k].size() / b.outer;
        for (Index o = 0; o < b.outer; ++o)
          freestanding::copy_n(pass.x[k].row(i) + o * part, part, pass.y.row(i) + o * b.whole + offset);
        offset += part;
      }
    });
  }
  void backward_input(auto const& backend, auto const& pass) const {
    Blocks const b = blocks(pass.in);
    each_sample(backend, pass.dy, [&](Index i) {
      Index offset = 0;
      for (std::size_t k = 0; k < pass.in.size(); ++k) {
        Index const part = pass.in[k].size() / b.outer;
        for (Index o = 0; pass.dx[k].data && o < b.outer; ++o)
          freestanding::copy_n(pass.dy.row(i) + o * b.whole + offset, part, pass.dx[k].row(i) + o * part);
        offset += part;
      }
    });
  }
  static constexpr bool backward_reads_input = false, backward_reads_output = false;
  bool operator==(Concat const&) const = default;

 private:
  struct Blocks {
    Index outer, whole;  // how many, and values of one in the output
  };
  Blocks blocks(Shapes in) const {
    Index outer = 1, all = 0;
    for (int a = 0; a < axis_of(in[0], axis); ++a) outer *= in[0][a];
    for (Shape const& shape : in) all += shape.size();
    return {outer, all / outer};
  }
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Concat, axis);
