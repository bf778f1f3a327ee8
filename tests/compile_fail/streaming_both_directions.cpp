// error: step: a layer of this network needs its whole input at once, so a sequence cannot be given in parts
// only gcc: rnn1 needs its whole input at once
#include <coldpress/coldpress.hpp>

using namespace coldpress;

void run() {
  Network<Sequential<Rnn{.direction_mode = DirectionMode::bi_directional}>, Shape{3}> network;
  float const x[3] = {};
  network.step(x);
}
