// error: step: a layer of this network needs the whole sequence at once
#include <coldpress/coldpress.hpp>

using namespace coldpress;

void run() {
  Network<Sequential<Rnn{.direction_mode = DirectionMode::bi_directional}>, Shape{3}> network;
  float const x[3] = {};
  network.step(x);
}
