#include "support/equivalence.hpp"

using namespace coldpress;

TEST_CASE("an LSTM is the same as a type, as a config and in a file") {
  test::check_equivalence<Sequential<Rnn{.hidden_size = 6, .output = RnnOutput::last_step}, TanH{}, Linear{3}>,
                          Shape{5, 3}>();
}
TEST_CASE("a deep GRU of two directions is the same as a type, as a config and in a file") {
  test::check_equivalence<Sequential<Linear{15}, Reshape{Shape{5, 3}},
                                     Rnn{.hidden_size = 17,
                                         .num_layers = 2,
                                         .rnn_type = RnnType::gru,
                                         .dropout_probability = 0.3f,
                                         .dropout_seed = 9,
                                         .direction_mode = DirectionMode::bi_directional,
                                         .output = RnnOutput::layers},
                                     Linear{2}>,
                          Shape{7}>();
}
TEST_CASE("a GRU that applies its reset gate before the product is the same as a type, as a config and in a file") {
  test::check_equivalence<Sequential<Rnn{.hidden_size = 9,
                                         .num_layers = 2,
                                         .rnn_type = RnnType::gru,
                                         .reset_after = false,
                                         .dropout_probability = 0.3f,
                                         .truncation = 2},
                                     Linear{2}>,
                          Shape{5, 4}>();
}
TEST_CASE("an LSTM that outputs its last state is the same as a type, as a config and in a file") {
  test::check_equivalence<Sequential<Rnn{.hidden_size = 4,
                                         .num_layers = 2,
                                         .direction_mode = DirectionMode::bi_directional,
                                         .output = RnnOutput::sequence_and_state},
                                     Linear{2}>,
                          Shape{3, 4}>();
}
TEST_CASE("a plain recurrent layer without W_x is the same as a type, as a config and in a file") {
  test::check_equivalence<Sequential<Rnn{.hidden_size = 4,
                                         .num_layers = 2,
                                         .rnn_type = RnnType::relu,
                                         .input_mode = InputMode::skip_input,
                                         .truncation = 2},
                                     Linear{2}>,
                          Shape{5, 4}>();
}
