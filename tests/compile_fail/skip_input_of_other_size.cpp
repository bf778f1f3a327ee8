// error: rnn: skip_input needs as many features as hidden_size
#include <coldpress/coldpress.hpp>

using namespace coldpress;

Network<Sequential<Rnn{.hidden_size = 8, .input_mode = InputMode::skip_input}>, Shape{5, 3}> network;
