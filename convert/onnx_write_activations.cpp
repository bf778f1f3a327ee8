// Layers that act on every value separately.
#include "onnx_exporters.hpp"

namespace coldpress::convert::onnx_out {

Name gelu(LayerWriter& w, Name const& x, bool approximate) {
  return w.add("Gelu", {x}, {{"approximate", approximate ? "tanh" : "none"}});
}

namespace {

Name relu(LayerWriter& w, ReLU const&) { return w.add("Relu", {w.x()}); }
Name tanh(LayerWriter& w, TanH const&) { return w.add("Tanh", {w.x()}); }
Name sigmoid(LayerWriter& w, Sigmoid const&) { return w.add("Sigmoid", {w.x()}); }
Name exponential(LayerWriter& w, Exponential const&) { return w.add("Exp", {w.x()}); }
Name softsign(LayerWriter& w, Softsign const&) { return w.add("Softsign", {w.x()}); }
Name mish(LayerWriter& w, Mish const&) { return w.add("Mish", {w.x()}); }
Name hard_swish(LayerWriter& w, HardSwish const&) { return w.add("HardSwish", {w.x()}); }
Name silu(LayerWriter& w, SiLU const&) { return w.sigmoid_gated(w.x()); }
Name plain_gelu(LayerWriter& w, GELU const& layer) { return gelu(w, w.x(), layer.approximate); }
Name elu(LayerWriter& w, ELU const& layer) { return w.add("Elu", {w.x()}, {{"alpha", layer.alpha}}); }
Name leaky_relu(LayerWriter& w, LeakyReLU const& layer) {
  return w.add("LeakyRelu", {w.x()}, {{"alpha", layer.slope}});
}
Name hard_sigmoid(LayerWriter& w, HardSigmoid const& layer) {
  return w.add("HardSigmoid", {w.x()}, {{"alpha", layer.alpha}, {"beta", layer.beta}});
}
Name softplus(LayerWriter& w, Softplus const& layer) {
  if (layer.beta == 1) return w.add("Softplus", {w.x()});
  Name const beta = w.number(layer.beta, "beta");
  return w.add("Div", {w.add("Softplus", {w.add("Mul", {w.x(), beta})}), beta});
}
Name log_sigmoid(LayerWriter& w, LogSigmoid const&) {
  return w.add("Neg", {w.add("Softplus", {w.add("Neg", {w.x()})})});
}

Name clipped(LayerWriter& w, float min, float max) {
  return w.add("Clip", {w.x(), w.number(min, "min"), w.number(max, "max")});
}
Name clip(LayerWriter& w, Clip const& layer) { return clipped(w, layer.min, layer.max); }
Name hard_tanh(LayerWriter& w, HardTanh const& layer) { return clipped(w, layer.min_val, layer.max_val); }
Name threshold(LayerWriter& w, Threshold const& layer) {
  return w.add("Clip", {w.x(), w.number(layer.epsilon, "epsilon")});
}
/// What is between the bounds, and what is beyond them, each side with its slope.
Name leaky_hard_tanh(LayerWriter& w, LeakyHardTanh const& layer) {
  Name const between = clipped(w, layer.min_val, layer.max_val), beyond = w.add("Sub", {w.x(), between});
  Name const zero = w.number(0, "zero");
  Name const above = w.add("Mul", {w.add("Max", {beyond, zero}), w.number(layer.max_slope, "max_slope")});
  Name const below = w.add("Mul", {w.add("Min", {beyond, zero}), w.number(layer.min_slope, "min_slope")});
  return w.add("Add", {between, w.add("Add", {above, below})});
}

Name power(LayerWriter& w, Power const& layer) {
  Name x = w.x();
  if (layer.scale != 1) x = w.add("Mul", {x, w.number(layer.scale, "scale")});
  if (layer.shift != 0) x = w.add("Add", {x, w.number(layer.shift, "shift")});
  if (layer.power == 1) return x;
  if (layer.power == 0.5f) return w.add("Sqrt", {x});
  if (layer.power == -1) return w.add("Reciprocal", {x});
  return w.add("Pow", {x, w.number(layer.power, "power")});
}

/// Slopes on an axis are those of all places on the axes after it.
Name prelu(LayerWriter& w, PReLU const& layer) {
  Extents slopes{layer.num_parameters};
  if (layer.num_parameters > 1) slopes.resize(static_cast<std::size_t>(w.rank() + 1 - w.axis(layer.axis)), 1);
  return w.add("PRelu", {w.x(), w.weight(0, slopes)});
}

Name opened(LayerWriter& w, GluGate gate, Name const& x) {
  switch (gate) {
    case GluGate::sigmoid:
      return w.add("Sigmoid", {x});
    case GluGate::tanh:
      return w.add("Tanh", {x});
    case GluGate::relu:
      return w.add("Relu", {x});
    case GluGate::silu:
      return w.sigmoid_gated(x);
    case GluGate::gelu:
    case GluGate::gelu_approximate:
      return gelu(w, x, gate == GluGate::gelu_approximate);
  }
  refuse("its gate is not known");
}
Name glu(LayerWriter& w, Glu const& layer) {
  auto const halves = w.add_several("Split", {w.x()}, {{"axis", w.axis(layer.axis)}, {"num_outputs", 2}}, 2);
  return w.add("Mul", {halves[0], opened(w, layer.gate, halves[1])});
}

/// In inference, what is dropped in training is passed on.
Name dropout(LayerWriter& w, Dropout const& layer) {
  return w.add("Dropout", {w.x(), w.number(layer.probability, "ratio")});
}
Name random_mask(LayerWriter& w, RandomMask const&) { return w.x(); }

}  // namespace

std::span<Exporter const> activation_exporters() {
  static constexpr std::array rows{
      exporter<ReLU, relu>("Relu"),
      exporter<TanH, tanh>("Tanh"),
      exporter<Sigmoid, sigmoid>("Sigmoid"),
      exporter<Exponential, exponential>("Exp"),
      exporter<Softsign, softsign>("Softsign"),
      exporter<Mish, mish>("Mish"),
      exporter<HardSwish, hard_swish>("HardSwish"),
      exporter<SiLU, silu>("Sigmoid, Mul"),
      exporter<GELU, plain_gelu>("Gelu"),
      exporter<ELU, elu>("Elu"),
      exporter<LeakyReLU, leaky_relu>("LeakyRelu"),
      exporter<HardSigmoid, hard_sigmoid>("HardSigmoid"),
      exporter<Softplus, softplus>("Softplus, with Mul and Div for another beta than 1"),
      exporter<LogSigmoid, log_sigmoid>("Neg, Softplus, Neg"),
      exporter<Clip, clip>("Clip"),
      exporter<HardTanh, hard_tanh>("Clip"),
      exporter<Threshold, threshold>("Clip"),
      exporter<LeakyHardTanh, leaky_hard_tanh>("Clip, and for each slope Max or Min, Mul and Add"),
      exporter<Power, power>("Mul, Add, and Pow, Sqrt or Reciprocal, as far as they change anything"),
      exporter<PReLU, prelu>("PRelu"),
      exporter<Glu, glu>("Split, the gate's operators, Mul"),
      exporter<Dropout, dropout>("Dropout, which passes everything on in inference"),
      exporter<RandomMask, random_mask>("Identity, as in inference"),
  };
  return rows;
}

}  // namespace coldpress::convert::onnx_out
