// error: step: a layer of this network takes its input whole, so a sequence cannot come in parts
#include <coldpress/coldpress.hpp>

using namespace coldpress;

void run() {
  Network<Sequential<Rnn{.direction_mode = DirectionMode::bi_directional}>, Shape{3}> network;
  float const x[3] = {};
  network.step(x);
}
