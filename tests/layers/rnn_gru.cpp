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
TEST_CASE("a GRU's last step keeps the laws of layers") {
  test::check_laws_at<Rnn{.hidden_size = 16, .rnn_type = RnnType::gru, .output = RnnOutput::last_step}, Shape{5, 1}>();
}
