// Images in other sizes.
#include "onnx_windows.hpp"

#include <array>
#include <cmath>
#include <numeric>

namespace coldpress::convert::onnx {
namespace {

/// The extents that the sizes or scales of a call give, for all axes.
std::vector<Index> target(Call const& call, Value const& x, std::size_t scales_input) {
  std::vector<Index> extents;
  for (Axis const& axis : x.axes) extents.push_back(axis.extent());
  auto named = call.integers("axes");
  if (named.empty()) named.resize(x.axes.size()), std::iota(named.begin(), named.end(), 0);
  bool const sized = call.has(3) && scales_input == 2;
  std::vector<float> scales;
  if (!sized && call.has(std::string_view{"scales"})) scales = call.numbers("scales");
  if (!sized && scales.empty()) scales = call.constant(scales_input, "the scales").floats;
  Tensor const* const sizes = sized ? &call.constant(3, "the sizes") : nullptr;
  if (sized ? sizes->ints.size() != named.size() : scales.size() != named.size())
    refuse("it does not have a size for each axis");
  std::vector<Index> all = extents;
  for (std::size_t i = 0; i < named.size(); ++i) {
    auto const a = static_cast<std::size_t>(axis_in(named[i], x.rank()));
    double const size = sized ? static_cast<double>(sizes->ints[i].factor)
                              : std::floor(static_cast<double>(extents[a]) * static_cast<double>(scales[i]));
    if (!(size >= 1 && size <= 1 << 30)) refuse("it makes an axis with an impossible number of places");
    all[a] = static_cast<Index>(size);
    if (!sized && !x.axes[a].samples && static_cast<double>(scales[i]) * static_cast<double>(extents[a]) != size)
      refuse("a scale of " + std::to_string(scales[i]) + " does not give whole places");
  }
  return all;
}

void resize_to(Call& call, Value const& x, std::vector<Index> const& extents, bool linear) {
  if (x.rank() < 3 || x.rank() > 4 || !x.axis(0).hidden() || extents[1] != x.extent(1))
    refuse("it does not resize images [samples, channels, height, width]");
  Sample const images = images_of(call, x);
  std::vector<Index> const sizes(extents.begin() + 2, extents.end());
  Resize const layer{.mode = linear ? ResizeMode::linear : ResizeMode::nearest, .size = per_axis(sizes, 1)};
  call.set(of_images(call, x, call.network.add("", layer, {images})));
}

void resize(Call& call) {
  Value const x = call.value(0);
  auto const extents = target(call, x, call.opset < 11 ? 1 : 2);
  std::string const mode = call.text("mode", "nearest");
  std::string const places = call.text("coordinate_transformation_mode", call.opset < 11 ? "asymmetric" : "half_pixel");
  std::string const rounding = call.text("nearest_mode", call.opset < 11 ? "floor" : "round_prefer_floor");
  if (mode != "nearest" && mode != "linear") refuse("its mode '" + mode + "' has no layer");
  if (call.integer("antialias", 0) != 0) refuse("it smooths what becomes smaller");
  if (call.text("keep_aspect_ratio_policy", "stretch") != "stretch") refuse("it keeps the ratio of height and width");
  bool const linear = mode == "linear";
  bool whole = true, single = false;  // times as many places, and axes that have one place afterwards
  for (std::size_t a = 2; a < extents.size(); ++a) {
    Index const in = x.extent(static_cast<int>(a));
    whole = whole && extents[a] % in == 0;
    single = single || (extents[a] == 1 && in != 1);
  }
  bool const centred = places == "half_pixel" || (places == "pytorch_half_pixel" && !single);
  // For whole factors, the nearest place to a centre is that of the corner rounded down.
  bool const nearest =
      (places == "asymmetric" && rounding == "floor") || (centred && whole && rounding.starts_with("round_prefer"));
  bool const fits = linear ? centred : nearest;
  if (!fits) refuse("its mode " + mode + " with " + places + " and " + rounding + " has no layer");
  resize_to(call, x, extents, linear);
}

void upsample(Call& call) {
  Value const x = call.value(0);
  std::string const mode = call.text("mode", "nearest");
  if (mode != "nearest") refuse("its mode '" + mode + "' counts places from the corner, which no layer does");
  resize_to(call, x, target(call, x, 1), false);
}

}  // namespace

std::span<Operator const> resize_operators() {
  static constexpr std::array rows{
      Operator{"Resize", resize, nullptr, "`resize`; linear with half_pixel, nearest with asymmetric and floor"},
      Operator{"Upsample", upsample, nullptr, "`resize`; nearest"},
  };
  return rows;
}

}  // namespace coldpress::convert::onnx
