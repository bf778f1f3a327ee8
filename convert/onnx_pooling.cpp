// Maxima and means under windows.
#include "onnx_windows.hpp"

#include <algorithm>
#include <array>

namespace coldpress::convert::onnx {
namespace {

void pool(Call& call, PoolingMode mode) {
  Value const x = call.value(0);
  Windows const w = windows_of(call, x, {});
  if (call.used(1)) refuse("the places of the maxima are read, which no layer gives");
  if (call.integer("storage_order", 0) != 0 && call.used(1)) refuse("its storage order is by columns");
  if (std::ranges::any_of(w.dilation, [](Index dilation) { return dilation != 1; }))
    refuse("its windows are dilated, which no layer does");
  bool const average = mode == PoolingMode::average, rounds_up = call.integer("ceil_mode", 0) != 0;
  // What a window has beyond the padding is never counted here, and always there.
  bool const counts = average && call.integer("count_include_pad", 0) != 0 && w.padded();
  for (std::size_t a = 0; counts && rounds_up && a < w.axes(); ++a) {
    Index const room = x.extent(static_cast<int>(a) + 2) + w.before[a] + w.after[a] - w.filter[a];
    if (room % w.stride[a] != 0) refuse("its last windows reach beyond the padding, which its means count");
  }
  Pooling layer{.mode = mode,
                .filter_shape = per_axis(w.filter, 1),
                .stride = per_axis(w.stride, 1),
                .padding = per_axis(w.before, 0),
                .padding_after = w.symmetric() ? PerAxis::none() : per_axis(w.after, 0),
                .rounding = rounds_up ? Rounding::ceil : Rounding::floor,
                .count_padding = counts};
  call.set(of_images(call, x, call.network.add("", layer, {images_of(call, x)})));
}
void max_pool(Call& call) { pool(call, PoolingMode::max); }
void average_pool(Call& call) { pool(call, PoolingMode::average); }

/// One number for each channel, as an image of one place.
void global(Call& call, bool largest) {
  Value const x = call.value(0);
  if (x.rank() < 3 || !x.axis(0).hidden())
    refuse("its input is " + described(x.axes) + ", and not [samples, channels, ...]");
  std::vector<Axis> axes{x.axis(0), x.axis(1)};
  axes.resize(x.axes.size());
  Sample const natural = call.network.natural(x);
  Sample each{};
  if (largest) {
    Index const channels = x.extent(1);
    Sample const rows = call.network.reshape(natural, {channels, natural.shape.size() / channels});
    each = call.network.add("", Reduce{.operation = ReduceOperation::max, .axis = 1}, {rows});
  } else {
    each = call.network.add("", GlobalAveragePooling{}, {natural});
  }
  Value y = made({}, axes);
  y.sample = call.network.reshape(each, shape_of(axes, y.order));
  call.set(y);
}
void global_average(Call& call) { global(call, false); }
void global_max(Call& call) { global(call, true); }

}  // namespace

std::span<Operator const> pooling_operators() {
  static constexpr std::array rows{
      Operator{"MaxPool", max_pool, nullptr, "`pooling`; without dilation"},
      Operator{"AveragePool", average_pool, nullptr, "`pooling`; without dilation"},
      Operator{"GlobalAveragePool", global_average, nullptr, "`globalAveragePooling`"},
      Operator{"GlobalMaxPool", global_max, nullptr, "`reduce`"},
  };
  return rows;
}

}  // namespace coldpress::convert::onnx
