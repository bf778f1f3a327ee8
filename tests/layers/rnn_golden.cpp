// Against PyTorch: tests/golden/rnn.py made the values.
#include "support/golden_file.hpp"
#include "support/layer_laws.hpp"

using namespace coldpress;

namespace {

/// The multiples of 1/128 that the script takes, too.
template <class T>
std::vector<T> numbers(Index count, Index factor) {
  std::vector<T> values;
  for (Index i = 0; i < count; ++i) values.push_back(static_cast<T>(i * factor % 101 - 50) / 128);
  return values;
}

constexpr Index batch = 2;
constexpr Shape in{3, 2};

/// One case of the file: every step, the last step of every layer, and the gradients that follow from dy.
struct Golden {
  std::vector<double> steps, layers, dx, weights;
  explicit Golden(std::string const& which) {
    static auto const all = test::golden_cases("rnn.txt");
    test::GoldenCase const& found = all.at(which);
    steps = found.at("steps"), layers = found.at("layers"), dx = found.at("dx"), weights = found.at("weights");
  }
};

template <class Backend, Rnn layer>
auto network() {
  Network<Sequential<layer>, in, DynamicBatch, Backend> made;
  made.write_weight(0, numbers<typename Backend::Scalar>(made.weight_shape(0).size(), 37));
  return made;
}

/// The file has nine digits. On the CPU gates are within 3 ulp.
template <class Backend>
double excess(auto const& values, std::vector<double> const& wanted) {
  double const scale = std::is_same_v<typename Backend::Scalar, double> ? 1e-2 : 1;
  return test::excess(values, wanted, 12) / scale;
}

template <class Backend, RnnType type, Index layers, DirectionMode directions, bool reset_after = true>
void check(Golden const& golden) {
  using T = typename Backend::Scalar;
  static constexpr Rnn all{.hidden_size = 3,
                           .num_layers = layers,
                           .rnn_type = type,
                           .reset_after = reset_after,
                           .direction_mode = directions};
  static constexpr Rnn last{.hidden_size = 3,
                            .num_layers = layers,
                            .rnn_type = type,
                            .reset_after = reset_after,
                            .direction_mode = directions,
                            .output = RnnOutput::last_step};
  static constexpr Rnn each{.hidden_size = 3,
                            .num_layers = layers,
                            .rnn_type = type,
                            .reset_after = reset_after,
                            .direction_mode = directions,
                            .output = RnnOutput::layers};
  auto net = network<Backend, all>();
  typename decltype(net)::TrainingWorkspace workspace;
  auto const x = numbers<T>(batch * in.size(), 29), dy = numbers<T>(batch * net.output_shape.size(), 23);
  CHECK(excess<Backend>(net.forward(x), golden.steps) <= 1);
  CHECK(excess<Backend>(net.forward_training(x, workspace), golden.steps) <= 1);
  CHECK(excess<Backend>(net.backward(dy, workspace), golden.dx) <= 1);
  CHECK(excess<Backend>(test::canonical<decltype(net)>(workspace.gradients()), golden.weights) <= 1);

  auto by_layer = network<Backend, each>();
  auto of_top = network<Backend, last>();
  CHECK(excess<Backend>(by_layer.forward(x), golden.layers) <= 1);
  std::vector<double> top;
  for (std::size_t i = layers - 1; i < golden.layers.size(); i += layers) top.push_back(golden.layers[i]);
  CHECK(excess<Backend>(of_top.forward(x), top) <= 1);
}

template <class Backend>
void check_all() {
  using enum RnnType;
  using enum DirectionMode;
  check<Backend, lstm, 2, uni_directional>(Golden{"lstm_2_1"});
  check<Backend, lstm, 1, bi_directional>(Golden{"lstm_1_2"});
  check<Backend, lstm, 2, bi_directional>(Golden{"lstm_2_2"});
  check<Backend, gru, 2, uni_directional>(Golden{"gru_2_1"});
  check<Backend, gru, 1, bi_directional>(Golden{"gru_1_2"});
  check<Backend, gru, 2, bi_directional>(Golden{"gru_2_2"});
  check<Backend, gru, 2, uni_directional, false>(Golden{"gru_reset_before_2_1"});
  check<Backend, gru, 1, bi_directional, false>(Golden{"gru_reset_before_1_2"});
  check<Backend, gru, 2, bi_directional, false>(Golden{"gru_reset_before_2_2"});
  check<Backend, relu, 2, uni_directional>(Golden{"relu_2_1"});
  check<Backend, relu, 1, bi_directional>(Golden{"relu_1_2"});
  check<Backend, RnnType::tanh, 2, uni_directional>(Golden{"tanh_2_1"});
  check<Backend, RnnType::tanh, 1, bi_directional>(Golden{"tanh_1_2"});
}

}  // namespace

TEST_CASE("recurrent layers give the values and gradients that PyTorch computes") {
  check_all<DefaultBackend>();
  if constexpr (test::golden_reference) check_all<Reference<double>>();
}
