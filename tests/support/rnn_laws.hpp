// The laws of layers for recurrent ones, which take samples of rank 1 and 2 only.
#pragma once

#include "support/layer_laws.hpp"

namespace coldpress::test {

template <Layer auto layer, Shape... shapes>
void check_rnn_laws() {
  Violations violations;
  std::uint64_t seed = 300;
  (laws_at<layer, shapes>(seed += 50, violations), ...);
  for (std::string const& violation : violations) FAIL_CHECK(violation);
  SUCCEED();
}

}  // namespace coldpress::test
