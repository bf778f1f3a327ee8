// Convolutions of images, of volumes, and of rows of values.
#include "onnx_constants.hpp"
#include "onnx_windows.hpp"

#include <algorithm>
#include <array>

namespace coldpress::convert::onnx {
namespace {

struct Filter {
  Tensor const& weight;
  Tensor const* bias;
  Index groups;
};

/// Checks the weight [outputs, inputs / groups, ...], or the other way for a transposed convolution.
Filter filter_of(Call const& call, Value const& x, bool transposed) {
  Filter const f{call.constant(1, "its filter"), call.has(2) ? &call.constant(2, "its bias") : nullptr,
                 call.integer("group", 1)};
  if (f.weight.rank() != x.rank() || x.rank() < 3 || f.weight.size() == 0 || !f.weight.floating())
    refuse("its filter has " + std::to_string(f.weight.rank()) + " axes, and its input " + std::to_string(x.rank()));
  Index const inputs = x.extent(1), outer = f.weight.shape[0], inner = f.weight.shape[1];
  bool const fits = f.groups >= 1 && f.groups <= inputs && inputs % f.groups == 0 &&
                    (transposed ? outer == inputs : inner == inputs / f.groups && outer % f.groups == 0);
  if (!fits)
    refuse("its filter and " + std::to_string(f.groups) + " groups do not fit " + std::to_string(inputs) + " channels");
  Index const outputs = transposed ? inner * f.groups : outer;
  if (f.bias && (f.bias->size() != outputs || !f.bias->floating()))
    refuse("its bias does not have one number for each output");
  return f;
}

std::vector<Weight> weights_of(Filter const& f) {
  std::vector<Weight> weights{{"-0", f.weight.shape, f.weight.floats, f.weight.origin}};
  if (f.bias) weights.push_back({"-0-bias", {f.bias->size()}, f.bias->floats, f.bias->origin});
  return weights;
}

/// Whether a row of values is convolved causally: with zeros before it alone, as coldpress' sequences are. A filter of
/// one tap is causal, too, but counts only where this saves a permutation.
bool is_causal(Call const& call, Windows const& w, Value const& x) {
  if (w.axes() != 1 || w.after[0] != 0 || w.before[0] != (w.filter[0] - 1) * w.dilation[0]) return false;
  return w.filter[0] > 1 || call.network.sequences() || x.order != natural(x.axes);
}

void sequence(Call& call, Value const& x, Filter const& f, Windows const& w) {
  Convolution const layer{.num_output = f.weight.shape[0],
                          .filter_shape = w.filter[0],
                          .stride = w.stride[0],
                          .dilation = w.dilation[0],
                          .groups = f.groups,
                          .has_bias = f.bias != nullptr};
  Sample const steps = call.network.reshape(call.network.arranged(x, {2, 1}), {x.extent(2), x.extent(1)});
  Sample const y = call.network.add("", layer, {steps}, weights_of(f));
  call.set({y, {x.axis(0), {y.shape[1]}, {y.shape[0]}}, x.axis(0).hidden() ? std::vector{2, 1} : std::vector{0, 2, 1}});
}

void convolution(Call& call) {
  Value const x = call.value(0);
  Filter const f = filter_of(call, x, false);
  Windows const w = windows_of(call, x, {f.weight.shape.begin() + 2, f.weight.shape.end()});
  if (is_causal(call, w, x) && x.axis(0).hidden()) return sequence(call, x, f, w);
  Convolution const layer{.num_output = f.weight.shape[0],
                          .filter_shape = per_axis(w.filter, 1),
                          .stride = per_axis(w.stride, 1),
                          .padding = per_axis(w.before, 0),
                          .padding_after = w.symmetric() ? PerAxis::none() : per_axis(w.after, 0),
                          .dilation = per_axis(w.dilation, 1),
                          .groups = f.groups,
                          .has_bias = f.bias != nullptr};
  call.set(of_images(call, x, call.network.add("", layer, {images_of(call, x)}, weights_of(f))));
}

/// Where the output of a transposed convolution is cut, and what is added behind it.
struct Cut {
  std::vector<Index> before, after, added;
};
Cut cut_of(Call const& call, Value const& x, Windows const& w) {
  Cut cut{w.before, w.after, call.integers("output_padding")};
  if (cut.added.empty()) cut.added.assign(w.axes(), 0);
  auto shape = call.integers("output_shape");
  if (shape.size() == w.axes() + 2) shape.erase(shape.begin(), shape.begin() + 2);
  std::string const automatic = call.text("auto_pad", "NOTSET");
  if (cut.added.size() != w.axes() || (!shape.empty() && shape.size() != w.axes()))
    refuse("output_padding or output_shape does not have one number for each axis");
  for (std::size_t a = 0; a < w.axes(); ++a) {
    bool const same = automatic.starts_with("SAME");
    Index const added = cut.added[a], wanted = shape.empty() ? 1 : shape[a];
    constexpr Index most = Index{1} << 40;
    if (added < 0 || added > most || wanted < 1 || wanted > most)
      refuse("its output_padding or output_shape is impossible");
    if (shape.empty() && !same) continue;
    Index const in = x.extent(static_cast<int>(a) + 2), out = shape.empty() ? in * w.stride[a] : shape[a];
    Index const all = (in - 1) * w.stride[a] + cut.added[a] + (w.filter[a] - 1) * w.dilation[a] + 1 - out;
    Index const less = std::max<Index>(0, all) / 2, more = std::max<Index>(0, all) - less;
    bool const upper = automatic == "SAME_UPPER";
    cut.before[a] = upper ? less : more, cut.after[a] = upper ? more : less;
    if (all < 0) cut.added[a] -= all;
  }
  return cut;
}

void transposed_convolution(Call& call) {
  Value const x = call.value(0);
  Filter const f = filter_of(call, x, true);
  Windows const w = windows_of(call, x, {f.weight.shape.begin() + 2, f.weight.shape.end()});
  Cut const cut = cut_of(call, x, w);
  bool const even = cut.before == cut.after;
  ConvolutionTranspose const layer{.num_output = f.weight.shape[1] * f.groups,
                                   .filter_shape = per_axis(w.filter, 1),
                                   .stride = per_axis(w.stride, 1),
                                   .padding = even ? per_axis(cut.before, 0) : PerAxis{0},
                                   .output_padding = per_axis(cut.added, 0),
                                   .dilation = per_axis(w.dilation, 1),
                                   .groups = f.groups,
                                   .has_bias = f.bias != nullptr};
  Sample images = call.network.add("", layer, {images_of(call, x)}, weights_of(f));
  for (std::size_t a = 0; !even && a < w.axes(); ++a) {
    int const axis = images.shape.rank() - static_cast<int>(w.axes()) + static_cast<int>(a);
    if (cut.before[a] == 0 && cut.after[a] == 0) continue;
    images = call.network.add(
        "cropped",
        Slice{.axis = axis, .begin = static_cast<int>(cut.before[a]), .end = -static_cast<int>(cut.after[a])},
        {images});
  }
  call.set(of_images(call, x, images));
}

}  // namespace

std::span<Operator const> convolution_operators() {
  static constexpr std::array rows{
      Operator{"Conv", convolution, nullptr,
               "`convolution`; rows of values with zeros before them alone become sequences, others images of one row"},
      Operator{"ConvTranspose", transposed_convolution, nullptr, "`convolutionTranspose`"},
  };
  return rows;
}

}  // namespace coldpress::convert::onnx
