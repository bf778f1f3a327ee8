// Which kernels convolutions need, so that a network type compiles no others.
#pragma once

#include <coldpress/backend/convolution_parts.hpp>
#include <coldpress/backend/tile.hpp>

namespace coldpress::cpu::inline COLDPRESS_ISA {

/// The kernels for any convolutions of images, or those for the ones that were added to none().
struct ImageKernels {
  bool depthwise = true, depthwise_3x3 = true, pointwise = true, packs_filters = true;  // whether there are such
  bool fives = true, threes = true, ones = true;          // the parts of a filter's rows in split_taps
  Sizes outputs = Sizes::any(), channels = Sizes::any();  // of a group, or the outputs whose filters are packed at once
  Sizes positions = Sizes::any(), gradient_positions = Sizes::any();  // of a part of the panel, forward and backward
  Sizes lines = Sizes::any();  // of the panel of an input gradient, for the channels that are computed at once

  static constexpr ImageKernels none() { return {false, false, false, false, false, false, false, {}, {}, {}, {}, {}}; }
  constexpr void add(ConvolutionGeometry const& g) {
    Panel const panel{g}, back{g, true};
    bool const skips_planes = DepthwisePlanes::skips_planes(g);
    depthwise |= DepthwisePlanes::suit(g) && !skips_planes, depthwise_3x3 |= skips_planes, pointwise |= g.sees_one();
    Index const width = g.width.filter;
    fives |= width >= 5, threes |= width % 5 >= 3, ones |= width % 5 % 3 > 0;
    outputs.add(g.group_outputs()), channels.add(g.group_channels());
    if (panel.filters > 0) {
      packs_filters = true;
      outputs.add(freestanding::min(panel.filters, g.group_outputs())), outputs.add(g.group_outputs() % panel.filters);
    }
    add_parts(positions, g, panel), add_parts(gradient_positions, g, back);
    lines.add(back.channels * g.taps()), lines.add(g.group_channels() % back.channels * g.taps());
  }

 private:
  /// The sizes of the parts of a panel, for any number of samples.
  static constexpr void add_parts(Sizes& to, ConvolutionGeometry const& g, Panel const& panel) {
    for (Index images = 1; images <= panel.images && !to.unknown(); ++images) {
      for (Index rows : {panel.rows, g.height.out % panel.rows}) {
        for (Index width : {panel.width, g.width.out % panel.width}) to.add(images * rows * width);
      }
    }
  }
};

/// The same for convolutions of sequences.
struct SequenceKernels {
  Sizes steps = Sizes::any(), gradient_steps = Sizes::any();  // that are computed at once, forward and backward
  Sizes outputs = Sizes::any(), channels = Sizes::any();      // of a group
  Sizes terms = Sizes::any();  // rows of the weights whose gradient is computed at once: of one tap, or of all

  static constexpr SequenceKernels none() { return {{}, {}, {}, {}, {}}; }
  constexpr void add(ConvolutionGeometry const& g) {
    add_parts(steps, g.height.out), add_parts(gradient_steps, g.height.in);
    outputs.add(g.group_outputs()), channels.add(g.group_channels());
    terms.add(g.group_channels()), terms.add(g.terms());
  }

 private:
  static constexpr void add_parts(Sizes& to, Index steps) {
    if (steps == 1) {  // of any number of samples
      to = Sizes::any();
    } else {
      to.add(Panel::steps_at_once(steps)), to.add(steps % Panel::steps_at_once(steps));
    }
  }
};

template <class Kernels, class G>
constexpr Kernels kernels_of() {
  if constexpr (requires { G::all; }) {
    Kernels kernels = Kernels::none();
    for (ConvolutionGeometry const& g : G::all) kernels.add(g);
    return kernels;
  } else {
    return {};
  }
}
/// The kernels for convolutions of type G: those that the network needs, if G says which it has, or all.
template <class G>
constexpr auto image_kernels = kernels_of<ImageKernels, G>();
template <class G>
constexpr auto sequence_kernels = kernels_of<SequenceKernels, G>();

}  // namespace coldpress::cpu::inline COLDPRESS_ISA
