// Normalisations.
#include "complement.hpp"
#include "onnx_constants.hpp"

#include <algorithm>
#include <array>

namespace coldpress::convert::onnx {
namespace {

/// A constant of as many floats as there are channels.
std::vector<float> each(Call const& call, std::size_t i, char const* what, Index count) {
  Tensor const& tensor = call.constant(i, what);
  if (tensor.size() != count || !tensor.floating())
    refuse(std::string{what} + " has " + std::to_string(tensor.size()) + " values, and not " + std::to_string(count));
  return tensor.floats;
}
Weight weight(Call const& call, std::string const& suffix, std::size_t i, char const* what, Index count) {
  return {suffix, {count}, each(call, i, what, count), call.constant(i, what).origin};
}

Value images(Call const& call, int least_rank) {
  Value const x = call.value(0);
  if (x.rank() < least_rank || x.axis(1).samples || !(x.axis(0).hidden() || x.samples_axis() < 0))
    refuse("its input is " + described(x.axes) + ", and not [samples, channels, ...]");
  return x;
}

void batch_normalization(Call& call) {
  Value const x = images(call, 2);
  if (call.integer("training_mode", 0) != 0) refuse("it is in the mode of training");
  if (call.integer("spatial", 1) != 1) refuse("it has statistics for each place");
  for (std::size_t i = 1; i < call.node.outputs.size(); ++i)
    if (call.used(i)) refuse("its statistics are read");
  Index const channels = x.extent(1);
  BatchNormalization layer{.epsilon = call.number("epsilon", 1e-5f), .axis = x.place(1)};
  float const momentum = complement(call.number("momentum", 0.9f));
  if (momentum > 0 && momentum < 1) layer.momentum = momentum;
  call.set(
      with(x, call.network.add("", layer, {x.sample},
                               {weight(call, "-0", 1, "scale", channels), weight(call, "-0-bias", 2, "B", channels),
                                weight(call, "-0-mean", 3, "the mean", channels),
                                weight(call, "-0-variance", 4, "the variance", channels)})));
}

void layer_normalization(Call& call) {
  Value const x = call.value(0);
  if (call.used(1) || call.used(2)) refuse("its statistics are read");
  int const axis = axis_in(call.integer("axis", -1), x.rank());
  Index count = 1;
  std::vector<Axis> lines(x.axes.begin(), x.axes.begin() + axis);
  for (int a = axis; a < x.rank(); ++a) {
    if (x.axis(a).samples) refuse("it normalises over samples");
    count *= x.extent(a);
  }
  lines.push_back({count});
  Value line{x.sample, lines, x.order};
  if (axis == x.rank() - 1) {  // the order of the other axes does not matter
    std::erase(line.order, axis);
    line.order.push_back(axis);
    line.sample = call.network.arranged(x, line.order);
  } else {
    line = viewed(call.network, x, lines);
  }
  std::vector<Weight> weights{weight(call, "-0", 1, "Scale", count)};
  weights.push_back(call.has(2) ? weight(call, "-0-bias", 2, "B", count)
                                : Weight{"-0-bias", {count}, std::vector<float>(static_cast<std::size_t>(count)), ""});
  line.sample = call.network.add("", LayerNormalization{.epsilon = call.number("epsilon", 1e-5f)}, {line.sample},
                                 std::move(weights));
  call.set(axis == x.rank() - 1 ? line : viewed(call.network, line, x.axes));
}

void rms_normalization(Call& call) {
  Value const x = call.value(0);
  int const last = x.rank() - 1;
  if (axis_in(call.integer("axis", -1), x.rank()) != last || x.axis(last).samples)
    refuse("it normalises over other axes than the last one");
  std::vector<int> order = x.order;
  std::erase(order, last);
  order.push_back(last);
  Sample const y =
      call.network.add("", RMSNormalization{.epsilon = call.number("epsilon", 1e-5f)},
                       {call.network.arranged(x, order)}, {weight(call, "-0", 1, "scale", x.extent(last))});
  call.set({y, x.axes, order, x.type});
}

/// A scale and a bias for each channel, which may be given for each group.
void normalize_groups(Call& call, Index groups, std::string const& scale_name) {
  Value const x = images(call, 3);
  Index const channels = x.extent(1);
  std::vector<Weight> weights;
  for (std::size_t i : {1u, 2u}) {
    char const* const what = i == 1 ? scale_name.c_str() : "its bias";
    Tensor const& tensor = call.constant(i, what);
    Weight one = weight(call, i == 1 ? "-0" : "-0-bias", i, what, tensor.size() == groups ? groups : channels);
    if (tensor.size() == groups && groups != channels) {
      std::vector<float> all;
      for (Index c = 0; c < channels; ++c) all.push_back(one.values[static_cast<std::size_t>(c / (channels / groups))]);
      one.values = std::move(all), one.shape = {channels};
    }
    weights.push_back(std::move(one));
  }
  GroupNormalization const layer{.groups = groups == channels ? 0 : groups, .epsilon = call.number("epsilon", 1e-5f)};
  Value y = made({}, x.axes, x.type);
  y.sample = call.network.add("", layer, {call.network.natural(x)}, std::move(weights));
  call.set(y);
}
void group_normalization(Call& call) {
  Index const channels = images(call, 3).extent(1), groups = call.integer("num_groups", 0);
  if (groups < 1 || channels % groups != 0) refuse(std::to_string(groups) + " groups do not divide the channels");
  normalize_groups(call, groups, "scale");
}
void instance_normalization(Call& call) { normalize_groups(call, images(call, 3).extent(1), "scale"); }

void local_response(Call& call) {
  Value const x = images(call, 3);
  LRN const layer{.size = call.integer("size", 1),
                  .scale = call.number("alpha", 1e-4f),
                  .shift = call.number("bias", 1),
                  .power = call.number("beta", 0.75f)};
  Value y = made({}, x.axes, x.type);
  y.sample = call.network.add("", layer, {call.network.natural(x)});
  call.set(y);
}

}  // namespace

std::span<Operator const> normalization_operators() {
  static constexpr std::array rows{
      Operator{"BatchNormalization", batch_normalization, nullptr, "`batchNormalization`; in inference"},
      Operator{"LayerNormalization", layer_normalization, nullptr,
               "`layerNormalization`; also of ReduceMean, Sub, Pow, Add, Sqrt and Div"},
      Operator{"RMSNormalization", rms_normalization, nullptr, "`rmsNormalization`; over the last axis"},
      Operator{"GroupNormalization", group_normalization, nullptr, "`groupNormalization`"},
      Operator{"InstanceNormalization", instance_normalization, nullptr, "`groupNormalization`"},
      Operator{"LRN", local_response, nullptr, "`lrn`"},
  };
  return rows;
}

}  // namespace coldpress::convert::onnx
