// Adds the layer for a scale and a shift: for all values, for channels, or for each value of a sample.
#include "onnx_affine.hpp"

#include "onnx_constants.hpp"
#include "weights.hpp"

namespace coldpress::convert::onnx {
namespace {

/// The values of a constant for each value of a sample in its order; or for each place along one axis of the sample, if
/// `along` is not negative.
std::vector<float> values_for(Network& network, Value const& x, Tensor const& constant, int along) {
  Tensor padded = constant;
  padded.shape.insert(padded.shape.begin(), static_cast<std::size_t>(x.rank() - constant.rank()), 1);
  std::vector<Index> result;
  std::vector<int> order = x.order;
  std::vector<bool> seen(static_cast<std::size_t>(x.rank()));
  for (int const a : x.order) {
    result.push_back(along < 0 || a == along ? x.extent(a) : 1);
    seen[static_cast<std::size_t>(a)] = true;
  }
  for (int a = 0; a < x.rank(); ++a) {  // the hidden axis comes last, with one place
    if (!seen[static_cast<std::size_t>(a)]) order.push_back(a), result.push_back(1);
  }
  auto const size = size_of(result);
  if (!size) refuse("its constant would have the impossible shape " + persist::text(result));
  if (*size > constant.size()) network.count_constant(*size);
  padded.samples_axis = -1;
  Tensor const turned = transposed(padded, order);
  std::vector<float> values;
  for (std::size_t const place : places_in(turned.shape, result)) values.push_back(float_at(turned, place));
  make_finite(values);
  return values;
}

/// The one axis of x along which a constant varies; -1: along several.
int axis_of_values(Value const& x, Tensor const* scale, Tensor const* shift) {
  int along = -1;
  for (Tensor const* const constant : {scale, shift}) {
    for (int a = 0; constant && a < constant->rank(); ++a) {
      if (constant->shape[static_cast<std::size_t>(a)] == 1) continue;
      int const of_x = a + x.rank() - constant->rank();
      if (along >= 0 && along != of_x) return -1;
      along = of_x;
    }
  }
  return along;
}

}  // namespace

Value affine(Network& network, Value const& x, Tensor const* scale, Tensor const* shift) {
  int along = axis_of_values(x, scale, shift);
  Shape const& shape = x.sample.shape;
  int const place = along < 0 ? -1 : x.place(along);
  bool const last = place == shape.rank() - 1;
  if (place > 0 && !last) along = -1;
  std::string const origin = scale ? scale->origin : shift->origin;
  if (!scale && along < 0 && shape.rank() == 2) {
    auto values = values_for(network, x, *shift, -1);
    return with(x, network.add("", LearnedPositions{.most = shape[0]}, {x.sample},
                               {{"-0", {shape[0], shape[1]}, std::move(values), origin}}));
  }
  Index const count = along < 0 ? shape.size() : x.extent(along);
  Convolution const layer{.num_output = count, .filter_shape = 1, .groups = count, .has_bias = shift != nullptr};
  std::vector<float> shifts = shift ? values_for(network, x, *shift, along) : std::vector<float>{};
  std::vector<float> factors =
      scale ? values_for(network, x, *scale, along) : std::vector<float>(static_cast<std::size_t>(count), 1);
  std::vector<Weight> weights{{"-0", {count}, std::move(factors), scale ? origin : ""}};
  if (shift) weights.push_back({"-0-bias", {count}, std::move(shifts), shift->origin});
  // Along the first axis it is an image of one row, along the last one a sequence.
  Index const rest = shape.size() / count;
  Shape const viewed = along < 0 || shape.rank() == 1 ? Shape{shape.size()}
                       : last                         ? Shape{rest, count}
                                                      : Shape{count, 1, rest};
  Sample const y = network.add("", layer, {network.reshape(x.sample, viewed)}, std::move(weights));
  return with(x, network.reshape(y, shape));
}

}  // namespace coldpress::convert::onnx
