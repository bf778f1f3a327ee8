#include "support/layer_laws.hpp"

using namespace coldpress;

TEST_CASE("an LSTM keeps the laws of layers") { test::check_laws_at<Rnn{.hidden_size = 5}, Shape{4, 3}>(); }
TEST_CASE("one step of features is a sequence of one") {
  test::check_values_at<Rnn{.hidden_size = 3, .num_layers = 2, .output = RnnOutput::layers}, Shape{7}>();
}

constexpr Shape shape_of(Rnn const& layer, Shape const& in) { return layer.output_shape({&in, 1}); }
constexpr InputCapabilities capable(Rnn const& layer, Shape const& in) { return layer.capabilities_for({&in, 1}); }
constexpr Shape steps{4, 3};

static_assert(shape_of({.hidden_size = 5}, steps) == Shape{4, 5});
static_assert(shape_of({.hidden_size = 5}, {3}) == Shape{1, 5});
static_assert(shape_of({.hidden_size = 5, .output = RnnOutput::last_step}, steps) == Shape{5});
static_assert(shape_of({.hidden_size = 5, .num_layers = 2, .output = RnnOutput::layers}, {10, 1, 1}) == Shape{5, 2});
constexpr Rnn both{.hidden_size = 5, .num_layers = 2, .direction_mode = DirectionMode::bi_directional};
static_assert(shape_of(both, steps) == Shape{4, 10});
static_assert(both.state({&steps, 1}) == 0 && capable(both, steps).streaming == StreamSupport::never &&
              capable({}, steps).streaming == StreamSupport::always);
static_assert(!capable({.num_layers = 2}, steps).mixes_samples &&
              capable({.num_layers = 2, .dropout_probability = 0.5f}, steps).mixes_samples);
constexpr Shape one_step{10, 1, 1}, three_steps{3, 10};
static_assert(parameters_of(Rnn{.hidden_size = 5, .num_layers = 2}, one_step)[0].shape == Shape{580, 1, 1});
static_assert(Rnn{.hidden_size = 5, .num_layers = 2}.flops({&three_steps, 1}) == 3 * 2 * 500);

TEST_CASE("matrices start within Glorot's bound and biases at zero") {
  Network<Sequential<Rnn{.hidden_size = 12, .num_layers = 2}>, Shape{3, 4}> const network{5};
  std::vector<float> weights(static_cast<std::size_t>(network.weight_shape(0).size()));
  network.read_weight(0, weights);
  auto const biases = weights.end() - 2 * 2 * 4 * 12;
  auto const [least, most] = std::minmax_element(weights.begin(), biases);
  float const bound = std::sqrt(6.0f / 24);
  CHECK((*least >= -bound && *least<-0.95f * bound&& * most <= bound&& * most> 0.95f * bound));
  CHECK(std::all_of(biases, weights.end(), [](float bias) { return bias == 0; }));
}

TEST_CASE("what a recurrent layer cannot be is refused with a sentence") {
  auto const refuses = [](Rnn const& layer, Shape in, std::string const& part) {
    try {
      shape_of(layer, in);
      FAIL_CHECK("there was no error");
    } catch (ShapeError const& error) {
      INFO(error.what());
      CHECK(std::string{error.what()}.find(part) != std::string::npos);
    }
  };
  refuses({}, {}, "no values");
  refuses({}, {10, 2, 1}, "{features, 1, ...}");
  refuses({.hidden_size = 0}, {3}, "hidden_size");
  for (Index const n : {Index{0}, Index{-1}, Index{1025}, Index{1} << 40})
    refuses({.num_layers = n}, {3}, "num_layers");
  refuses({.rnn_type = static_cast<RnnType>(9)}, {3}, "enumerator");
  refuses({.hidden_size = 4, .input_mode = InputMode::skip_input}, {3}, "skip_input");
  for (float const p : {1.0f, -0.5f, std::numeric_limits<float>::quiet_NaN()})
    refuses({.dropout_probability = p}, {3}, "dropout_probability");
  for (Index const n : {Index{1} << 21, Index{1} << 40}) {
    refuses({.hidden_size = n}, {3}, "2^40");
    refuses({.output = RnnOutput::last_step}, {Index{1} << 37, 1}, "2^40");
  }
}
