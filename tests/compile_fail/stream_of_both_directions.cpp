// error: Stream: a layer of this network needs its whole input at once, so a sequence cannot be given in parts
// only gcc: rnn2 needs its whole input at once
#include <coldpress/coldpress.hpp>
#include <coldpress/stream.hpp>

using namespace coldpress;

using Net = Network<Sequential<Rnn{}, Rnn{.direction_mode = DirectionMode::bi_directional}>, Shape{1, 3}>;
void run(Net const& network) { Stream stream{network}; }
