#include "support/layer_laws.hpp"

using namespace coldpress;

TEST_CASE("a deep LSTM of two directions without W_x keeps the laws of layers") {
  test::check_laws_at<Rnn{.hidden_size = 7,
                          .num_layers = 2,
                          .dropout_probability = 0.3f,
                          .input_mode = InputMode::skip_input,
                          .direction_mode = DirectionMode::bi_directional,
                          .output = RnnOutput::last_step},
                      Shape{3, 7}>();
}
TEST_CASE("an LSTM wider than a tile keeps the laws of layers") {
  test::check_laws_at<Rnn{.hidden_size = 35, .output = RnnOutput::last_step}, Shape{2, 19}>();
}
