#include "support/layer_laws.hpp"

using namespace coldpress;

TEST_CASE("a plain recurrent layer with tanh, two directions and dropout keeps the laws of layers") {
  test::check_laws_at<Rnn{.hidden_size = 6,
                          .num_layers = 3,
                          .rnn_type = RnnType::tanh,
                          .dropout_probability = 0.4f,
                          .direction_mode = DirectionMode::bi_directional},
                      Shape{4, 5}>();
}
TEST_CASE("a plain recurrent layer with relu and without W_x keeps the laws of layers") {
  test::check_values_at<Rnn{.hidden_size = 3,
                            .num_layers = 2,
                            .rnn_type = RnnType::relu,
                            .input_mode = InputMode::skip_input,
                            .output = RnnOutput::last_step},
                        Shape{3, 3}>();
}
