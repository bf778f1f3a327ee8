// Activations, and other functions of single values.
#include "onnx_operators.hpp"

#include <array>

namespace coldpress::convert::onnx {
namespace {

/// A layer of each value, which keeps the shape and the order of axes.
template <class L>
void each(Call& call, L const& layer) {
  Value const x = call.value(0);
  call.set(with(x, call.network.add("", layer, {x.sample})));
}
template <class L>
void plain(Call& call) {
  each(call, L{});
}

void leaky_relu(Call& call) { each(call, LeakyReLU{.slope = call.number("alpha", 0.01f)}); }
void elu(Call& call) { each(call, ELU{.alpha = call.number("alpha", 1)}); }
void hard_sigmoid(Call& call) {
  each(call, HardSigmoid{.alpha = call.number("alpha", 0.2f), .beta = call.number("beta", 0.5f)});
}
void gelu(Call& call) {
  std::string const approximate = call.text("approximate", "none");
  if (approximate != "none" && approximate != "tanh") refuse("its approximation '" + approximate + "' is not known");
  each(call, GELU{.approximate = approximate == "tanh"});
}

void selu(Call& call) {
  Value const x = call.value(0);
  float const alpha = call.number("alpha", 1.67326319217681884765625f);
  float const gamma = call.number("gamma", 1.05070102214813232421875f);
  Sample const bent = call.network.add("elu", ELU{.alpha = alpha}, {x.sample});
  call.set(with(x, call.network.add("", Power{.scale = gamma}, {bent})));
}
void celu(Call& call) {  // alpha elu(x / alpha)
  Value const x = call.value(0);
  float const alpha = call.number("alpha", 1);
  Sample const scaled = call.network.add("scaled", Power{.scale = 1 / alpha}, {x.sample});
  Sample const bent = call.network.add("elu", ELU{}, {scaled});
  call.set(with(x, call.network.add("", Power{.scale = alpha}, {bent})));
}
void absolute(Call& call) {  // max(x, -x)
  Value const x = call.value(0);
  Sample const minus = call.network.add("minus", Power{.scale = -1}, {x.sample});
  call.set(with(x, call.network.add("", Max{}, {x.sample, minus})));
}

void swish(Call& call) {  // x sigmoid(alpha x)
  float const alpha = call.number("alpha", 1);
  if (alpha == 1) return each(call, SiLU{});
  Value const x = call.value(0);
  Sample const scaled = call.network.add("scaled", Power{.scale = alpha}, {x.sample});
  Sample const gate = call.network.add("gate", Sigmoid{}, {scaled});
  call.set(with(x, call.network.add("", Multiply{}, {x.sample, gate})));
}

float bound(Call const& call, std::size_t input, char const* name, float otherwise) {
  if (call.opset < 11) return call.number(name, otherwise);
  if (!call.has(input)) return otherwise;
  Tensor const& tensor = call.constant(input, name);
  if (tensor.size() != 1) refuse(std::string{name} + " is more than one number");
  return tensor.floating() ? tensor.floats[0] : static_cast<float>(tensor.ints[0].factor);
}
void clip(Call& call) {
  Clip layer;
  layer.min = std::max(bound(call, 1, "min", layer.min), layer.min);
  layer.max = std::min(bound(call, 2, "max", layer.max), layer.max);
  layer.min = std::min(layer.min, layer.max);  // ONNX: the larger bound is the lower one's
  each(call, layer);
}

void prelu(Call& call) {
  Value const x = call.value(0);
  Tensor const& slope = call.constant(1, "slope");
  std::vector<Axis> const axes = broadcast(x.axes, axes_of(slope));
  if (axes != x.axes) refuse("its slope " + described(axes_of(slope)) + " makes the value larger");
  int along = -1;
  for (int a = 0; a < slope.rank(); ++a) {
    if (slope.shape[static_cast<std::size_t>(a)] == 1) continue;
    if (along >= 0) refuse("its slope " + described(axes_of(slope)) + " varies along more than one axis");
    along = a + x.rank() - slope.rank();
  }
  PReLU const layer{.num_parameters = slope.size(), .axis = along < 0 ? 0 : x.place(along)};
  call.set(with(x, call.network.add("", layer, {x.sample}, {{"-0", {slope.size()}, slope.floats, slope.origin}})));
}

}  // namespace

std::span<Operator const> activation_operators() {
  static constexpr std::array rows{
      Operator{"Relu", plain<ReLU>, nullptr, "`relu`"},
      Operator{"LeakyRelu", leaky_relu, nullptr, "`leakyRelu`"},
      Operator{"PRelu", prelu, nullptr, "`prelu`; a slope for each place on one axis"},
      Operator{"Sigmoid", plain<Sigmoid>, nullptr, "`sigmoid`"},
      Operator{"Tanh", plain<TanH>, nullptr, "`tanh`"},
      Operator{"Elu", elu, nullptr, "`elu`"},
      Operator{"Selu", selu, nullptr, "`elu`, `power`"},
      Operator{"Celu", celu, nullptr, "`power`, `elu`, `power`"},
      Operator{"HardSigmoid", hard_sigmoid, nullptr, "`hardSigmoid`"},
      Operator{"HardSwish", plain<HardSwish>, nullptr, "`hardSwish`"},
      Operator{"Softplus", plain<Softplus>, nullptr, "`softplus`"},
      Operator{"Softsign", plain<Softsign>, nullptr, "`softsign`"},
      Operator{"Mish", plain<Mish>, nullptr, "`mish`"},
      Operator{"Gelu", gelu, nullptr, "`gelu`; also of Erf or Tanh, Mul and Add"},
      Operator{"Swish", swish, nullptr, "`silu`; also of Sigmoid and Mul"},
      Operator{"Exp", plain<Exponential>, nullptr, "`exponential`"},
      Operator{"Abs", absolute, nullptr, "`power`, `max`"},
      Operator{"Clip", clip, nullptr, "`clip`"},
  };
  return rows;
}

}  // namespace coldpress::convert::onnx
