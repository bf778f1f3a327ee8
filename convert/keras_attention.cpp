// Keras' attention of several heads.
#include "keras_kinds.hpp"

namespace coldpress::convert::keras {
namespace {

/// A dense layer of each step; its kernel has these extents, of which the first `inputs` make the input's features.
Value project(Builder& builder, Place const& place, std::string const& name, bool has_bias, Value const& x,
              std::vector<Index> const& extents, std::size_t inputs) {
  std::vector<Index> const outputs(extents.begin() + static_cast<std::ptrdiff_t>(inputs), extents.end());
  Index count = 1;
  for (Index const extent : outputs) count *= extent;
  Array kernel = builder.read(place, 0, "kernel", extents);
  kernel.shape = {static_cast<Index>(kernel.values.size()) / count, count};
  builder.set(name + "-0", outputs_first(kernel));
  if (has_bias) builder.set(name + "-0-bias", builder.read(place, 1, "bias", outputs).values);
  return builder.add(name, Linear{.output_size = count, .has_bias = has_bias, .last_axis = true}, x);
}

/// Whether a call asks for a causal mask, with which a step sees no later ones. Other masks are refused.
bool is_causal(Layer const& layer) {
  bool causal = false;
  if (!layer.keywords) return causal;
  for (auto const& [key, value] : layer.keywords->json().items()) {
    Node const given = (*layer.keywords)[key];
    if (key == "value" || key == "key") continue;  // are among the inputs
    if (given.is_null() || key == "training" || (value.is_boolean() && !given.flag())) continue;
    if (key != "use_causal_mask") given.refuse<UnsupportedError>("is given to attention, and is not read");
    causal = given.flag();
  }
  return causal;
}

}  // namespace

Value add_attention(Builder& builder, Layer const& layer, std::vector<Value> const& in) {
  Node const& config = layer.config;
  if (in.size() > 3) config.refuse<UnsupportedError>("reads " + std::to_string(in.size()) + " values");
  for (Value const& x : in) {
    if (!x.is_sequence())
      config.refuse<UnsupportedError>("reads " + to_string(x.shape) + ", expected a sequence {steps, features}");
  }
  for (char const* const key : {"output_shape", "sliding_window"}) {
    if (auto const field = config.find_value(key)) field->refuse<UnsupportedError>("is given");
  }
  if (config.flag("use_gate", false)) config["use_gate"].refuse<UnsupportedError>("is true");
  Value const &query = in[0], &value = in[1], &key = in.size() > 2 ? in[2] : value;  // in Keras' order
  Index const heads = config["num_heads"].integer(1, max_size), size = config["key_dim"].integer(1, max_size),
              value_size = config.integer("value_dim", size, 1, max_size);
  bool const bias = config.flag("use_bias", true);
  auto const head = [&](char const* part, char const* path, Value const& x, Index each) {
    return project(builder, layer.place.part(path, part), layer.name + "." + part, bias, x,
                   {x.shape.last(), heads, each}, 1);
  };
  Value const q = head("query", "query_dense", query, size), k = head("key", "key_dense", key, size),
              v = head("value", "value_dense", value, value_size);
  ScaledDotProductAttention const attention{.heads = heads, .causal = is_causal(layer)};
  Value const seen = builder.join(layer.name + ".attention", attention, {q, k, v});
  return project(builder, layer.place.part("output_dense", "attention_output"), layer.name, bias, seen,
                 {heads, value_size, query.shape.last()}, 2);
}

}  // namespace coldpress::convert::keras
