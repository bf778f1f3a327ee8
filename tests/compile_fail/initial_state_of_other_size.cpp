// error: rnn: an initial h or c must be {units, num_layers}, or {units} of one layer
#include <coldpress/coldpress.hpp>

using namespace coldpress;

constexpr auto net = graph(
    [](auto x, auto h) { return apply(Rnn{.hidden_size = 8, .rnn_type = RnnType::gru, .initial_state = true}, x, h); });

int main() { Network<Graph<net>, Inputs{Shape{5, 3}, Shape{3}}> network; }
