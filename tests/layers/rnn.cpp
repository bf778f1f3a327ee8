#include "support/layer_laws.hpp"

using namespace coldpress;

namespace {

template <Layer auto layer, Shape... shapes>
void check_at() {
  test::Violations violations;
  std::uint64_t seed = 300;
  (test::laws_at<layer, shapes>(seed += 50, violations), ...);
  for (std::string const& violation : violations) FAIL_CHECK(violation);
  SUCCEED();
}

}  // namespace

TEST_CASE("an LSTM keeps the laws of layers") { check_at<Rnn{.hidden_size = 5}, Shape{4, 3}>(); }
TEST_CASE("a GRU keeps the laws of layers") {
  check_at<Rnn{.hidden_size = 17,
               .num_layers = 2,
               .rnn_type = RnnType::gru,
               .direction_mode = DirectionMode::bi_directional},
           Shape{3, 2}>();
}
