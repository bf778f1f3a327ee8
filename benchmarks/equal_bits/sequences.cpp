// Networks of sequences.
#include "network_hash.hpp"

namespace coldpress::equal_bits {

void print_sequences() {
  print<Sequential<Rnn{.hidden_size = 16, .rnn_type = RnnType::lstm}, Linear{1}>, Shape{9, 1}>("LSTM");
  print<Sequential<Rnn{.hidden_size = 21, .rnn_type = RnnType::lstm}, Rnn{.hidden_size = 8, .rnn_type = RnnType::lstm},
                   Linear{3}>,
        Shape{6, 5}, MeanSquaredError{}, Adam{}>("two LSTMs");
  print<Sequential<Rnn{.hidden_size = 13, .rnn_type = RnnType::gru}, Linear{2}>, Shape{7, 3}>("GRU");
  print<Sequential<Rnn{.hidden_size = 13, .rnn_type = RnnType::gru, .reset_after = false}, Linear{2}>, Shape{7, 3}>(
      "GRU with the reset before");
  print<Sequential<Rnn{.hidden_size = 13, .rnn_type = RnnType::tanh}, Linear{2}>, Shape{7, 3}>("tanh units");
  print<Sequential<Rnn{.hidden_size = 13, .rnn_type = RnnType::relu}, Linear{2}>, Shape{7, 3}>("ReLU units");
  print<Sequential<Linear{12}, Reshape{Shape{3, 4}}, Argmax{.axis = -1}, Embedding{.vocabulary = 4, .features = 5},
                   TanH{}, Linear{2}>,
        Shape{3}>("embedding");
  print<
      Sequential<Linear{12}, Reshape{Shape{3, 4}}, Argmax{.axis = -1}, Onehot{.num_classes = 4, .axis = 1}, Linear{2}>,
      Shape{3}>("one-hot");
  print<Sequential<Linear{4 * 19}, Reshape{Shape{4, 19}}, LayerNormalization{}, Slice{.begin = 1},
                   SoftmaxOver{.axis = -1}, SoftmaxOver{.logarithm = true},
                   Reduce{.operation = ReduceOperation::mean, .axis = 0}, Sigmoid{}, Linear{3}>,
        Shape{5}>("softmax over axes");
}

}  // namespace coldpress::equal_bits
