// Keras' recurrent layers, in one direction or two.
#include "keras_kinds.hpp"

#include <array>

namespace coldpress::convert::keras {
namespace {

[[noreturn]] void refuse(Node const& field, std::string const& expected) {
  field.refuse<UnsupportedError>("got " + json::described(field.json()) + ", expected " + expected);
}
void expect_text(Node const& config, char const* key, std::string_view wanted) {
  Node const field = config[key];
  if (!field.is_text() || field.text() != wanted) refuse(field, "\"" + std::string{wanted} + "\"");
}
void expect_flag(Node const& config, char const* key, bool wanted) {
  auto const field = config.find_value(key);
  if (field && field->flag() != wanted) refuse(*field, wanted ? "true" : "false");
}

/// The layer that the config describes, for one direction.
Rnn rnn_of(std::string const& kind, Node const& config, bool backwards) {
  Rnn rnn{.hidden_size = config["units"].integer(1, max_size)};
  if (kind == "SimpleRNN") {
    Node const activation = config["activation"];
    std::string const name = activation.is_text() ? activation.text() : "";
    if (name != "tanh" && name != "relu") refuse(activation, "\"tanh\" or \"relu\"");
    rnn.rnn_type = name == "tanh" ? RnnType::tanh : RnnType::relu;
  } else if (kind == "LSTM" || kind == "GRU") {
    rnn.rnn_type = kind == "LSTM" ? RnnType::lstm : RnnType::gru;
    expect_text(config, "activation", "tanh");
    expect_text(config, "recurrent_activation", "sigmoid");
    if (kind == "GRU") rnn.reset_after = config.flag("reset_after", false);
  } else {
    config.refuse<UnsupportedError>("is a layer " + kind + ", expected LSTM, GRU or SimpleRNN");
  }
  expect_flag(config, "go_backwards", backwards);
  expect_flag(config, "return_state", false);
  expect_flag(config, "time_major", false);
  rnn.output = config.flag("return_sequences", false) ? RnnOutput::sequence : RnnOutput::last_step;
  return rnn;
}

Recurrent read(Builder& builder, Place const& layer, Node const& config, Rnn const& rnn, Index features) {
  Place const cell = layer.part("cell");
  Index const units = rnn.hidden_size, columns = gates_of(rnn.rnn_type) * units;
  Recurrent one{builder.read(cell, 0, "kernel", {features, columns}),
                builder.read(cell, 1, "recurrent_kernel", {units, columns})};
  if (config.flag("use_bias", true))
    one.bias = builder.read(cell, 2, "bias", bias_shape(rnn.rnn_type, rnn.reset_after, units));
  return one;
}

}  // namespace

Value add_recurrent(Builder& builder, Layer const& layer, Value const& x) {
  expect_sequence(layer, x);
  Rnn const rnn = rnn_of(layer.kind, layer.config, false);
  Recurrent const one = read(builder, layer.place, layer.config, rnn, x.shape[1]);
  builder.set(layer.name + "-0", packed(rnn.rnn_type, {&one, 1}));
  return builder.add(layer.name, rnn, x);
}

Value add_bidirectional(Builder& builder, Layer const& layer, Value const& x) {
  expect_sequence(layer, x);
  expect_text(layer.config, "merge_mode", "concat");
  Node const inner = layer.config["layer"], config = inner["config"];
  std::string const kind = inner["class_name"].text();
  Rnn rnn = rnn_of(kind, config, false);
  auto const backward = layer.config.find_value("backward_layer");
  if (backward) {
    Rnn const other = rnn_of((*backward)["class_name"].text(), (*backward)["config"], true);
    if (!(other == rnn)) backward->refuse<UnsupportedError>("is another layer than the forward one");
  }
  // Keras 2 calls the layer lstm, and its copies forward_lstm and backward_lstm.
  std::string name = config["name"].text();
  constexpr std::string_view forward = "forward_";
  if (name.starts_with(forward)) name.erase(0, forward.size());
  std::array const directions{
      read(builder, layer.place.part("forward_layer", "forward_" + name), config, rnn, x.shape[1]),
      read(builder, layer.place.part("backward_layer", "backward_" + name), config, rnn, x.shape[1])};
  builder.set(layer.name + "-0", packed(rnn.rnn_type, directions));
  rnn.direction_mode = DirectionMode::bi_directional;
  return builder.add(layer.name, rnn, x);
}

}  // namespace coldpress::convert::keras
