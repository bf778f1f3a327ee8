#include "support/forms.hpp"

using namespace coldpress;
using namespace coldpress::test;

TEST_CASE("networks of sequences over linked kernels have the bits of those that are compiled in") {
  check_forms<Sequential<Convolution{.num_output = 6, .filter_shape = 3, .dilation = 2}, TanH{},
                         Rnn{.hidden_size = 9, .num_layers = 2}, LayerNormalization{},
                         Rnn{.hidden_size = 5, .rnn_type = RnnType::gru, .reset_after = false},
                         Rnn{.hidden_size = 5, .rnn_type = RnnType::gru, .output = RnnOutput::last_step}, Linear{2}>,
              Shape{6, 3}, MeanSquaredError{}, RMSprop{.learning_rate = 0.001f},
              SolverOptions{.weight_decay = 0.01f, .accumulate = 2}>();
}
TEST_CASE("and so have those with convolutions of several kinds, whose kernels have several sizes") {
  check_forms<
      Sequential<Convolution{.num_output = 21, .filter_shape = 3}, Linear{.output_size = 6, .last_axis = true},
                 Convolution{.num_output = 4, .filter_shape = 2, .stride = 2, .causal = false, .groups = 2}, Linear{2}>,
      Shape{70, 5}>();
}
TEST_CASE("and so have those that slice, reduce, normalise, number and embed") {
  check_forms<Sequential<Linear{4 * 19}, Reshape{Shape{4, 19}}, LayerNormalization{}, Slice{.begin = 1},
                         SoftmaxOver{.axis = -1}, Reduce{.operation = ReduceOperation::mean, .axis = 0}, Sigmoid{},
                         Linear{12}, Reshape{Shape{3, 4}}, Argmax{.axis = -1},
                         Embedding{.vocabulary = 4, .features = 5}, TanH{}, Linear{2}>,
              Shape{5}, MeanSquaredError{}, Adadelta{}>();
#if COLDPRESS_NIGHTLY
  check_forms<Sequential<Linear{12}, Reshape{Shape{3, 4}}, Argmax{.axis = -1}, Onehot{.num_classes = 4, .axis = 1},
                         Permute{.axes = {1, 0}}, Linear{2}>,
              Shape{3}>();
#endif
}
#if COLDPRESS_NIGHTLY  // what is compiled in takes the compiler long
TEST_CASE("and so have those with gates, learned slopes, and normalisations of groups") {
  check_forms<Sequential<Linear{4 * 38}, Reshape{Shape{4, 38}}, RMSNormalization{}, Glu{.gate = GluGate::gelu},
                         BatchNormalization{.axis = -1}, PReLU{.num_parameters = 4}, Mish{},
                         Glu{.gate = GluGate::relu, .axis = 0}, GroupNormalization{.groups = 1}, LogSigmoid{},
                         Reduce{.operation = ReduceOperation::max}, HardSigmoid{}, Linear{2}>,
              Shape{5}>();
}
#endif
