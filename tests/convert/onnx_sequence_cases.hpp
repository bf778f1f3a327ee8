// Examples of layers of sequences.
#pragma once

#include "convert/onnx_case.hpp"

namespace onnx_cases {

inline std::vector<Case> sequences() {
  std::vector<Case> all;
  auto const rnn = [&](std::string const& form, Rnn layer, Shape in = {6, 3}) {
    layer.hidden_size = 4;
    all.push_back(one(form, layer, {{in}}));
  };
  constexpr auto both = DirectionMode::bi_directional;
  constexpr auto last = RnnOutput::last_step, layers = RnnOutput::layers, with_state = RnnOutput::sequence_and_state;
  rnn("", {});
  rnn("gru", {.rnn_type = RnnType::gru});
  rnn("reset_before", {.rnn_type = RnnType::gru, .reset_after = false});
  rnn("reset_before_both", {.num_layers = 2, .rnn_type = RnnType::gru, .reset_after = false, .direction_mode = both});
  rnn("tanh", {.rnn_type = RnnType::tanh});
  rnn("relu", {.rnn_type = RnnType::relu});
  rnn("layers", {.num_layers = 3, .output = layers});
  rnn("two", {.num_layers = 2, .dropout_probability = 0.5f});
  rnn("both", {.num_layers = 2, .rnn_type = RnnType::gru, .direction_mode = both});
  rnn("both_last", {.direction_mode = both, .output = last});
  rnn("both_layers", {.num_layers = 2, .rnn_type = RnnType::relu, .direction_mode = both, .output = layers});
  rnn("last", {.rnn_type = RnnType::gru, .output = last});
  rnn("one_layer", {.rnn_type = RnnType::tanh, .output = layers});
  rnn("skip", {.num_layers = 2, .input_mode = InputMode::skip_input}, {6, 4});
  rnn("skip_both", {.rnn_type = RnnType::gru, .input_mode = InputMode::skip_input, .direction_mode = both}, {6, 4});
  rnn("with_state", {.num_layers = 2, .output = with_state});
  rnn("both_with_state", {.rnn_type = RnnType::gru, .direction_mode = both, .output = with_state});
  rnn("step_with_state", {.output = with_state}, {3});
  rnn("step", {}, {3});
  rnn("juice", {.rnn_type = RnnType::gru}, {3, 1, 1});
  auto const counted = [&](std::string const& form, Rnn layer) {
    layer.hidden_size = 4;
    all.push_back(one("lengths_" + form, layer, {{{6, 3}}, {{1}, 8}}));
  };
  counted("two", {.num_layers = 2});
  counted("last", {.rnn_type = RnnType::relu, .output = last});
  counted("both_last", {.rnn_type = RnnType::gru, .reset_after = false, .direction_mode = both, .output = last});
  counted("layers", {.num_layers = 2, .output = layers});
  counted("with_state", {.direction_mode = both, .output = with_state});
  auto const started = [&](std::string const& form, Rnn layer, std::vector<Input> const& inputs) {
    layer.hidden_size = 4, layer.initial_state = true;
    all.push_back(one("states_" + form, layer, inputs));
  };
  started("two", {.num_layers = 2}, {{{6, 3}}, {{4, 2}}, {{4, 2}}});
  started("both", {.rnn_type = RnnType::gru, .direction_mode = both, .output = last}, {{{6, 3}}, {{8}}});
  started("layers", {.num_layers = 2, .rnn_type = RnnType::tanh, .direction_mode = both, .output = layers},
          {{{6, 3}}, {{8, 2}}});
  started("step", {}, {{{3}}, {{4}}, {{4, 1}}});
  started("with_state", {.output = with_state}, {{{6, 3}}, {{4}}, {{4}}});
  started("lengths", {.direction_mode = both}, {{{6, 3}}, {{1}, 8}, {{8}}, {{8, 1}}});
  Input const steps{{5, 12}}, step{{12}};
  all.insert(all.end(),
             {one("", LearnedPositions{.most = 8}, {steps}), one("all", LearnedPositions{.most = 5}, {steps}),
              one("step", LearnedPositions{.most = 8}, {step}), one("", SinusoidalPositions{}, {steps}),
              one("step", SinusoidalPositions{.base = 100}, {{{7}}}), one("", RotaryPositions{}, {steps}),
              one("heads", RotaryPositions{.size = 4, .heads = 2}, {steps}),
              one("part", RotaryPositions{.size = 6, .rotated = 4, .base = 100}, {steps}),
              one("interleaved", RotaryPositions{.size = 6, .interleaved = true}, {steps}),
              one("step", RotaryPositions{.size = 4}, {step})});
  return all;
}

inline std::vector<Case> attentions() {
  using Attention = ScaledDotProductAttention;
  Input const packed{{5, 12}}, q{{5, 8}}, k{{6, 8}}, v{{6, 6}}, longer{{9, 8}}, lengths{{1}, 8};
  return {one("", Attention{}, {packed}),
          one("heads", Attention{.heads = 2, .causal = true}, {packed}),
          one("window", Attention{.heads = 2, .causal = true, .window = 3, .scale = 0.3f}, {packed}),
          one("grouped", Attention{.heads = 4, .kv_heads = 1, .causal = true}, {packed}),
          one("step", Attention{.heads = 2}, {{{12}}}),
          one("three", Attention{.heads = 2}, {q, k, v}),
          one("three_grouped", Attention{.heads = 4, .kv_heads = 2, .causal = true}, {q, {{6, 4}}, {{6, 6}}}),
          one("behind", Attention{.heads = 2, .causal = true, .window = 2}, {longer, k, v}),
          one("mask", Attention{.heads = 2}, {q, k, v, {{5, 6}}}),
          one("mask_row", Attention{.heads = 2, .causal = true}, {q, k, v, {{1, 6}}}),
          one("mask_heads", Attention{.heads = 2}, {packed, {{2, 5, 5}}}),
          one("lengths", Attention{.heads = 2}, {packed, lengths}),
          one("lengths_causal", Attention{.heads = 2, .causal = true}, {q, k, v, lengths})};
}

}  // namespace onnx_cases
