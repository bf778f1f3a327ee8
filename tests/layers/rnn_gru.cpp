#include "support/layer_laws.hpp"

using namespace coldpress;

TEST_CASE("a deep GRU of two directions keeps the laws of layers") {
  test::check_laws_at<Rnn{.hidden_size = 17,
                          .num_layers = 2,
                          .rnn_type = RnnType::gru,
                          .direction_mode = DirectionMode::bi_directional,
                          .output = RnnOutput::layers},
                      Shape{3, 2}>();
}
TEST_CASE("a deep GRU of two directions that applies its reset gate before the product keeps the laws of layers") {
  test::check_values_at<Rnn{.hidden_size = 17,
                            .num_layers = 2,
                            .rnn_type = RnnType::gru,
                            .reset_after = false,
                            .direction_mode = DirectionMode::bi_directional,
                            .output = RnnOutput::layers},
                        Shape{3, 2}>();
}
TEST_CASE("the last step of a GRU that applies its reset gate before the product keeps the laws of layers") {
  test::check_values_at<
      Rnn{.hidden_size = 5, .rnn_type = RnnType::gru, .reset_after = false, .output = RnnOutput::last_step},
      Shape{4, 3}>();
}
TEST_CASE("a GRU's last step keeps the laws of layers") {
  test::check_values_at<Rnn{.hidden_size = 16, .rnn_type = RnnType::gru, .output = RnnOutput::last_step},
                        Shape{5, 1}>();
}
