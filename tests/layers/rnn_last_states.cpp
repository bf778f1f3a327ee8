// Recurrent layers that output their last state behind the sequence.
#include "support/layer_laws.hpp"

#include <coldpress/backend/grid.hpp>

using namespace coldpress;

namespace {

constexpr auto both = DirectionMode::bi_directional;
constexpr auto with_state = RnnOutput::sequence_and_state;

constexpr Rnn lstm{.hidden_size = 5, .num_layers = 2, .output = with_state},
    lstm_of_both{.hidden_size = 17, .direction_mode = both, .output = with_state},
    deep_lstm_of_both{.hidden_size = 3, .num_layers = 2, .direction_mode = both, .output = with_state},
    gru{.hidden_size = 6, .num_layers = 2, .rnn_type = RnnType::gru, .output = with_state};

constexpr Shape shape_of(Rnn const& layer, Shape in) { return layer.output_shape(Shapes{&in, 1}); }
static_assert(shape_of(lstm, {4, 3}) == Shape{4 + 4, 5});
static_assert(shape_of(lstm_of_both, {4, 3}) == Shape{4 + 2, 34});
static_assert(shape_of(gru, {3}) == Shape{1 + 2, 6});
static_assert([] {
  Shape const in[] = {{4, 3}};
  return lstm.state(in) == 0 && LayerTraits<Rnn>::with_input(lstm, in).streaming == StreamSupport::never;
}());

template <class Net>
auto weighted() {
  Net net;
  for (int i = 0; i < Net::weight_count; ++i)
    net.write_weight(i, test::Random{4}.values<typename Net::T>(net.weight_shape(i).size()));
  return net;
}

/// Two layers with one name for their weights: the second goes on with the steps behind the first, from its last state.
template <Rnn layer, Index before, Index after>
constexpr auto halves = graph([](auto x) {
  constexpr int first = static_cast<int>(before), layers = static_cast<int>(layer.num_layers);
  constexpr Rnn second = [] {
    Rnn changed = layer;
    changed.initial_state = true, changed.output = RnnOutput::sequence;
    return changed;
  }();
  auto const a = apply(layer, x | Slice{.end = first});
  auto const state = [&](int row) { return a | Slice{.begin = row, .end = row + layers} | Permute{.axes = {1, 0}}; };
  auto const rest = x | Slice{.begin = first};
  auto const b = [&] {
    if constexpr (layer.rnn_type == RnnType::lstm) {
      return apply(second, rest, state(first), state(first + layers));
    } else {
      return apply(second, rest, state(first));
    }
  }();
  return apply(Concat{.axis = 0}, a | Slice{.end = first}, b);
});

/// In halves, sequences have the results of whole ones: the same steps, and gradients that go back through h and c.
template <Rnn layer, class Backend>
void check_halves() {
  constexpr Index before = 3, after = 2, batch = 2;
  constexpr Rnn plain = [] {
    Rnn changed = layer;
    changed.output = RnnOutput::sequence;
    return changed;
  }();
  constexpr Shape in{before + after, 3};
  using Halves = Network<Graph<halves<layer, before, after>>, in, DynamicBatch, Backend>;
  using Whole = Network<Sequential<plain>, in, DynamicBatch, Backend>;
  using T = typename Whole::T;
  auto halves = weighted<Halves>();
  auto whole = weighted<Whole>();
  auto const x = test::Random{2}.values<T>(batch * in.size());
  auto const dy = test::Random{3}.values<T>(batch * Whole::output_shape.size());
  CHECK(test::same_bits(halves.forward(x), whole.forward(x)));
  typename Halves::TrainingWorkspace of_halves;
  typename Whole::TrainingWorkspace of_whole;
  CHECK(test::same_bits(halves.forward_training(x, of_halves), whole.forward_training(x, of_whole)));
  auto const dx = test::copy_of<T>(halves.backward(dy, of_halves)),
             expected = test::copy_of<T>(whole.backward(dy, of_whole));
  REQUIRE(dx.size() == expected.size());
  for (std::size_t i = 0; i < dx.size(); ++i) CHECK(dx[i] == Approx(expected[i]).margin(1e-6).epsilon(1e-5));
  std::vector<T> sum(static_cast<std::size_t>(Whole::weight_shape(0).size())), part(sum.size()), of(sum.size());
  for (int i = 0; i < Halves::weight_count; ++i) {
    halves.read(of_halves.gradients().data(), i, part);
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += part[k];
  }
  whole.read(of_whole.gradients().data(), 0, of);
  for (std::size_t k = 0; k < sum.size(); ++k) CHECK(sum[k] == Approx(of[k]).margin(1e-5).epsilon(1e-4));
}

template <Rnn layer>
constexpr auto padded = graph([](auto x, auto n) { return apply(layer, x, n); });
/// A sample with a number of steps has the states, and passes on their gradients, as a sequence of that many steps.
template <Rnn layer, class Backend>
void check_lengths() {
  constexpr Index steps = 5, length = 3, batch = 4, in = steps * 3;
  using Padded = Network<Graph<padded<layer>>, Inputs{Shape{steps, 3}, Shape{1}}, DynamicBatch, Backend>;
  using Short = Network<Sequential<layer>, Shape{length, 3}, DynamicBatch, Backend>;
  using T = typename Padded::T;
  constexpr Index out = Padded::output_shape.size(), of_short = Short::output_shape.size();
  constexpr Index units = layer.hidden_size * (layer.direction_mode == both ? 2 : 1), states = out - steps * units;
  auto const with_lengths = weighted<Padded>();
  auto alone = weighted<Short>();
  auto x = test::Random{2}.values<T>(batch * in), dy = test::Random{3}.values<T>(batch * out);
  std::vector<T> const lengths{T{length}, T{steps}, T{0}, T{length}};
  for (Index const n : {0, 3})
    std::fill(x.begin() + n * in + length * 3, x.begin() + (n + 1) * in, std::numeric_limits<T>::quiet_NaN());
  // The samples of `length` steps, cut: `distance` values each, the first `head` and the last `tail` of which are
  // taken.
  auto const cut = [](std::vector<T> const& all, Index distance, Index head, Index tail) {
    std::vector<T> some;
    for (Index const n : {0, 3}) {
      auto const first = all.begin() + n * distance;
      some.insert(some.end(), first, first + head);
      some.insert(some.end(), first + distance - tail, first + distance);
    }
    return some;
  };
  typename Padded::TrainingWorkspace workspace;
  typename Short::TrainingWorkspace own;
  auto const y = test::copy_of<T>(with_lengths.forward_training(std::tie(x, lengths), workspace).values);
  auto const dx = test::copy_of<T>(with_lengths.backward(dy, workspace));
  CHECK(test::same_bits(cut(y, out, length * units, states),
                        test::copy_of<T>(alone.forward_training(cut(x, in, length * 3, 0), own))));
  CHECK(test::same_bits(cut(dx, in, length * 3, 0),
                        test::copy_of<T>(alone.backward(cut(dy, out, length * units, states), own))));
  static_assert(of_short == length * units + states);
  auto const is_zero = [](T value) { return value == 0; };
  CHECK(std::all_of(y.begin() + length * units, y.begin() + steps * units, is_zero));
  CHECK(std::all_of(y.begin() + 2 * out, y.begin() + 3 * out, is_zero));
  CHECK(std::all_of(dx.begin() + 2 * in, dx.begin() + 3 * in, is_zero));
  CHECK(std::all_of(dx.begin() + length * 3, dx.begin() + in, is_zero));
}

template <class Backend>
void check_all() {
  check_halves<lstm, Backend>();
  check_halves<gru, Backend>();
  check_lengths<deep_lstm_of_both, Backend>();
  check_lengths<Rnn{.hidden_size = 18, .output = with_state}, Backend>();
}

}  // namespace

TEST_CASE("last states of a deep LSTM keep the laws of layers") { test::check_laws_at<lstm, Shape{4, 3}>(); }
TEST_CASE("last states of LSTMs of two directions keep the laws of layers") {
  test::check_values_at<lstm_of_both, Shape{3, 2}>();
  test::check_values_at<deep_lstm_of_both, Shape{1, 4}>();
}
TEST_CASE("last states of a GRU keep the laws of layers") { test::check_values_at<gru, Shape{3, 2}>(); }
TEST_CASE("a layer goes on from the last state of another") { check_all<DefaultBackend>(); }
#if COLDPRESS_NIGHTLY
TEST_CASE("a GPU's code gives last states, and takes their gradients") { check_all<Grid>(); }
TEST_CASE("the reference gives last states, and takes their gradients") { check_all<Reference<double>>(); }
#else  // each takes the compiler long
TEST_CASE("a GPU's code gives last states, and takes their gradients") { check_halves<gru, Grid>(); }
TEST_CASE("the reference gives last states, and takes their gradients") {
  check_halves<lstm, Reference<double>>();
  check_lengths<deep_lstm_of_both, Reference<double>>();
}
#endif
