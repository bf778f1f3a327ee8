// Reads kernel shape, strides, dilations and padding of a node, and gives its input the axes of an image.
#include "onnx_windows.hpp"

#include <algorithm>

namespace coldpress::convert::onnx {
namespace {

constexpr Index most_in_window = Index{1} << 30;  // of a number of a window

std::vector<Index> numbers(Call const& call, char const* attribute, std::size_t axes, Index otherwise, Index least) {
  auto all = call.integers(attribute);
  if (all.empty()) all.assign(axes, otherwise);
  if (all.size() != axes)
    refuse(std::string{attribute} + " has " + std::to_string(all.size()) + " numbers for " + std::to_string(axes) +
           " axes");
  for (Index const each : all) {
    if (each < least || each > most_in_window)
      refuse(std::string{attribute} + " has the impossible number " + std::to_string(each));
  }
  return all;
}

}  // namespace

bool Windows::padded() const {
  auto const some = [](Index places) { return places != 0; };
  return std::ranges::any_of(before, some) || std::ranges::any_of(after, some);
}

Windows windows_of(Call const& call, Value const& x, std::vector<Index> filter) {
  if (x.rank() < 3 || x.rank() > 5 || (x.samples_axis() != 0 && x.samples_axis() != -1) || x.axis(0).extent() != 1)
    refuse("its input is " + described(x.axes) + ", and not [samples, channels, ...] with 1 to 3 more axes");
  for (int a = 2; a < x.rank(); ++a)
    if (x.extent(a) > most_in_window) refuse("its input has an axis of " + std::to_string(x.extent(a)) + " places");
  auto const axes = static_cast<std::size_t>(x.rank() - 2);
  Windows w;
  w.filter = filter.empty() ? numbers(call, "kernel_shape", axes, 0, 1) : std::move(filter);
  if (w.filter.size() != axes) refuse("its filter does not have an axis for each of those of the input");
  w.stride = numbers(call, "strides", axes, 1, 1);
  w.dilation = numbers(call, "dilations", axes, 1, 1);
  auto pads = numbers(call, "pads", 2 * axes, 0, 0);
  std::string const automatic = call.text("auto_pad", "NOTSET");
  if (automatic != "NOTSET" && automatic != "VALID" && automatic != "SAME_UPPER" && automatic != "SAME_LOWER")
    refuse("its auto_pad '" + automatic + "' is not known");
  for (std::size_t a = 0; a < axes; ++a) {
    if (automatic != "NOTSET") pads[a] = pads[axes + a] = 0;
    if (automatic.starts_with("SAME")) {
      if (w.filter[a] > most_in_window / w.dilation[a]) refuse("its window is too large");
      auto const same = make_same_axis(x.extent(static_cast<int>(a) + 2), w.filter[a], w.stride[a], w.dilation[a]);
      pads[a] = same.padding, pads[axes + a] = same.padding_after();
      if (automatic == "SAME_LOWER") std::swap(pads[a], pads[axes + a]);
    }
    w.before.push_back(pads[a]), w.after.push_back(pads[axes + a]);
  }
  return w;
}

Sample images_of(Call& call, Value const& x) {
  Sample const natural = call.network.natural(x);
  Shape shape{};
  int rank = 0;
  for (int a = 1; a < x.rank(); ++a) {
    if (a == 2 && x.rank() == 3) shape.extents[rank++] = 1;
    shape.extents[rank++] = x.extent(a);
  }
  return call.network.reshape(natural, shape);
}

Value of_images(Call& call, Value const& x, Sample const& images) {
  std::vector<Axis> axes{x.axis(0), {images.shape[0]}};
  for (int a = x.rank() == 3 ? 2 : 1; a < images.shape.rank(); ++a) axes.push_back({images.shape[a]});
  Value y = made({}, axes);
  y.sample = call.network.reshape(images, shape_of(axes, y.order));
  return y;
}

PerAxis per_axis(std::vector<Index> const& numbers, Index otherwise) {
  if (numbers.size() == 1) return {otherwise, numbers[0]};
  return PerAxis::of(numbers.data(), static_cast<int>(numbers.size()));
}

}  // namespace coldpress::convert::onnx
