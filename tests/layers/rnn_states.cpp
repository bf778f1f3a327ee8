// Recurrent layers that start from initial states.
#include "support/layer_laws.hpp"

#include <coldpress/backend/grid.hpp>

using namespace coldpress;

namespace {

constexpr auto both = DirectionMode::bi_directional;

template <class Net>
auto weighted(std::uint64_t seed = 4) {
  Net net;
  net.write_weight(0, test::Random{seed}.values<typename Net::T>(net.weight_shape(0).size()));
  return net;
}
constexpr Rnn deep_lstm{.hidden_size = 5, .num_layers = 2, .direction_mode = both, .initial_state = true},
    reset_before{.hidden_size = 6,
                 .num_layers = 2,
                 .rnn_type = RnnType::gru,
                 .reset_after = false,
                 .output = RnnOutput::last_step,
                 .initial_state = true};
constexpr Rnn from_zeros(Rnn layer) {
  layer.initial_state = false;
  return layer;
}
constexpr Index directions(Rnn const& layer) { return layer.direction_mode == both ? 2 : 1; }
constexpr Shape state_of(Rnn const& layer) { return {directions(layer) * layer.hidden_size, layer.num_layers}; }

/// A layer that starts from states, with numbers of steps or without. Its network takes x, the numbers, h and c, if
/// they are inputs of the layer.
template <Rnn layer, bool lengths>
constexpr auto started() {
  if constexpr (layer.rnn_type == RnnType::lstm) {
    if constexpr (lengths) {
      return graph([](auto x, auto n, auto h, auto c) { return apply(layer, x, n, h, c); });
    } else {
      return graph([](auto x, auto h, auto c) { return apply(layer, x, h, c); });
    }
  } else if constexpr (lengths) {
    return graph([](auto x, auto n, auto h) { return apply(layer, x, n, h); });
  } else {
    return graph([](auto x, auto h) { return apply(layer, x, h); });
  }
}
template <Rnn layer, class Backend, Index steps, bool lengths = false>
struct Started {
  static constexpr Shape x{steps, 3}, state = state_of(layer);
  static constexpr auto inputs = [] {
    if constexpr (layer.rnn_type == RnnType::lstm) {
      if constexpr (lengths)
        return Inputs{x, Shape{1}, state, state};
      else
        return Inputs{x, state, state};
    } else if constexpr (lengths) {
      return Inputs{x, Shape{1}, state};
    } else {
      return Inputs{x, state};
    }
  }();
  using Net = Network<Graph<started<layer, lengths>()>, inputs, DynamicBatch, Backend>;
};

template <class T>
struct Given {
  std::vector<T> x, lengths, h, c;
};
/// f(net's inputs)
template <Rnn layer, bool lengths, class T, class F>
auto with(Given<T> const& given, F f) {
  auto const& [x, n, h, c] = given;
  if constexpr (layer.rnn_type == RnnType::lstm) {
    if constexpr (lengths)
      return f(std::tie(x, n, h, c));
    else
      return f(std::tie(x, h, c));
  } else if constexpr (lengths) {
    return f(std::tie(x, n, h));
  } else {
    return f(std::tie(x, h));
  }
}
template <class T>
struct Made {
  std::vector<T> inferred, y, weights;
  std::vector<std::vector<T>> gradients;  // of x, of the numbers of steps if there are any, of h, and of c
};
template <Rnn layer, bool lengths, class Net, class T = typename Net::T>
Made<T> made_by(Net const& net, Given<T> const& given, std::vector<T> const& dy) {
  typename Net::Workspace inference;
  typename Net::TrainingWorkspace training;
  Made<T> made;
  with<layer, lengths>(given, [&](auto inputs) {
    made.inferred = test::copy_of<T>(net.forward(inputs, inference).values);
    made.y = test::copy_of<T>(net.forward_training(inputs, training).values);
    net.backward(dy, training);
    for (std::size_t k = 0; k < std::tuple_size_v<decltype(inputs)>; ++k)
      made.gradients.push_back(test::copy_of<T>(training.input_gradient(static_cast<int>(k))));
    made.weights = test::copy_of<T>(training.gradients());
  });
  return made;
}

/// From zeros, a layer has the bits of one without initial states.
template <Rnn layer, class Backend, Index batch = 3>
void check_zeros() {
  using From = typename Started<layer, Backend, 4>::Net;
  using Plain = Network<Sequential<from_zeros(layer)>, Shape{4, 3}, DynamicBatch, Backend>;
  using T = typename From::T;
  auto const net = weighted<From>();
  auto plain = weighted<Plain>();
  std::vector<T> const zeros(static_cast<std::size_t>(batch * state_of(layer).size()));
  auto const x = test::Random{2}.values<T>(batch * 12);
  auto const dy = test::Random{3}.values<T>(batch * Plain::output_shape.size());
  auto const made = made_by<layer, false>(net, {x, {}, zeros, zeros}, dy);
  typename Plain::TrainingWorkspace workspace;
  CHECK(test::same_bits(made.inferred, plain.forward(x)));
  CHECK(test::same_bits(made.y, plain.forward_training(x, workspace).values));
  CHECK(test::same_bits(made.gradients[0], plain.backward(dy, workspace)));
  for (std::size_t i = 0; i < made.weights.size(); ++i)  // there are more terms, which are zero
    CHECK(made.weights[i] == Approx(workspace.gradients()[i]).margin(1e-6).epsilon(1e-5));
}

/// The second half of sequences goes on where the first one ended.
template <Rnn layer, class Backend>
void check_halves() {
  constexpr Index batch = 2;
  constexpr Rnn first_half = from_zeros(layer);
  using First = Network<Sequential<first_half>, Shape{2, 3}, DynamicBatch, Backend>;
  using Second = typename Started<layer, Backend, 3>::Net;
  using Whole = Network<Sequential<first_half>, Shape{5, 3}, DynamicBatch, Backend>;
  using T = typename Whole::T;
  auto first = weighted<First>();
  auto whole = weighted<Whole>();
  auto const second = weighted<Second>();
  auto const x = test::Random{2}.values<T>(batch * 15);
  std::vector<T> before, after;
  for (Index n = 0; n < batch; ++n) {
    auto const sample = x.begin() + n * 15;
    before.insert(before.end(), sample, sample + 6), after.insert(after.end(), sample + 6, sample + 15);
  }
  auto const h = test::copy_of<T>(first.forward(before));
  typename Second::Workspace workspace;
  auto const ended = test::copy_of<T>(second.forward(std::tie(after, h), workspace).values);
  CHECK(test::same_bits(ended, whole.forward(x)));
}

/// Samples with numbers of steps: the first has `length` of 5, the second all, and the third none.
template <Rnn layer, class Backend, Index length>
void check_lengths() {
  constexpr Index steps = 5, batch = 3;
  using Padded = typename Started<layer, Backend, steps, true>::Net;
  using Short = typename Started<layer, Backend, length>::Net;
  using Whole = typename Started<layer, Backend, steps>::Net;
  using T = typename Padded::T;
  constexpr Index in = steps * 3, size = state_of(layer).size(), out = Padded::output_shape.size();
  test::Random random{5};
  Given<T> given{random.values<T>(batch * in),
                 {T{length}, T{steps}, T{0}},
                 random.values<T>(batch * size),
                 random.values<T>(batch * size)};
  std::fill(given.x.begin() + length * 3, given.x.begin() + in, std::numeric_limits<T>::quiet_NaN());
  auto const dy = random.values<T>(batch * out);
  auto const made = made_by<layer, true>(weighted<Padded>(), given, dy);
  // In minibatches of two, because one sample is summed in an order of its own.
  auto const twice = [](std::vector<T> const& all, Index sample, Index distance, Index count) {
    std::vector<T> some;
    for (int turn = 0; turn < 2; ++turn)
      some.insert(some.end(), all.begin() + sample * distance, all.begin() + sample * distance + count);
    return some;
  };
  auto const check_sample = [&](auto const& net, Index sample, Index values, Index results) {
    Given<T> const own{
        twice(given.x, sample, in, values), {}, twice(given.h, sample, size, size), twice(given.c, sample, size, size)};
    auto const alone = made_by<layer, false>(net, own, twice(dy, sample, out, results));
    CHECK(test::same_bits(twice(made.inferred, sample, out, results), alone.inferred));
    CHECK(test::same_bits(twice(made.y, sample, out, results), alone.y));
    CHECK(test::same_bits(twice(made.gradients[0], sample, in, values), alone.gradients[0]));
    for (std::size_t state = 1; state < alone.gradients.size(); ++state) {
      auto const found = twice(made.gradients[state + 1], sample, size, size);
      for (std::size_t i = 0; i < found.size(); ++i)
        CHECK(found[i] == Approx(alone.gradients[state][i]).margin(1e-6).epsilon(1e-5));
    }
    return alone.weights;
  };
  constexpr Index of_short = Short::output_shape.size();
  auto const first = check_sample(weighted<Short>(), 0, length * 3, of_short);
  auto const second = check_sample(weighted<Whole>(), 1, in, out);
  for (std::size_t i = 0; i < made.weights.size(); ++i)
    CHECK(made.weights[i] == Approx((first[i] + second[i]) / 2).margin(1e-5).epsilon(1e-4));
  auto const is_zero = [](T value) { return value == 0; };
  CHECK(std::all_of(made.y.begin() + of_short, made.y.begin() + out, is_zero));
  CHECK(std::all_of(made.y.begin() + 2 * out, made.y.end(), is_zero));
  CHECK(std::all_of(made.inferred.begin() + 2 * out, made.inferred.end(), is_zero));
  for (auto const& gradient : made.gradients) {
    auto const sample = static_cast<std::ptrdiff_t>(gradient.size()) / batch;
    CHECK(std::all_of(gradient.end() - sample, gradient.end(), is_zero));
  }
}

/// Each kind of cell, of output, and of direction once.
template <class Backend>
void check_all() {
  constexpr auto layers = RnnOutput::layers;
  check_zeros<deep_lstm, Backend>();
  check_zeros<Rnn{.hidden_size = 8, .rnn_type = RnnType::gru, .reset_after = false, .initial_state = true}, Backend,
              1>();
  check_halves<
      Rnn{.hidden_size = 7, .num_layers = 2, .rnn_type = RnnType::gru, .output = layers, .initial_state = true},
      Backend>();
  check_halves<Rnn{.hidden_size = 18, .rnn_type = RnnType::tanh, .output = layers, .initial_state = true}, Backend>();
  check_lengths<deep_lstm, Backend, 3>();
  check_lengths<Rnn{.hidden_size = 6,
                    .rnn_type = RnnType::gru,
                    .reset_after = false,
                    .direction_mode = both,
                    .output = layers,
                    .initial_state = true},
                Backend, 1>();
  check_lengths<Rnn{.hidden_size = 17, .rnn_type = RnnType::gru, .output = RnnOutput::last_step, .initial_state = true},
                Backend, 2>();
}

/// A layer between others has the reference's results in the code of a GPU.
template <Rnn layer, Shape... shapes>
void check_grid() {
  testing::Violations found;
  for (Index const batch : {1, 3, 8})
    testing::backend_law<Graph<testing::between<layer, shapes...>()>, Shape{5}, Grid>("on a Grid, ", batch, 400, found);
  test::check_none(found);
}

/// Gradients reach the initial state unless they are cut before the first step.
template <class Backend, std::uint64_t truncation, bool reaches>
void check_truncation() {
  constexpr Rnn layer{.hidden_size = 4, .truncation = truncation, .initial_state = true};
  using Net = typename Started<layer, Backend, 4>::Net;
  using T = typename Net::T;
  test::Random random{5};
  Given<T> const given{random.values<T>(24), {}, random.values<T>(8), random.values<T>(8)};
  auto const made = made_by<layer, false>(weighted<Net>(), given, random.values<T>(32));
  for (std::size_t state : {1u, 2u}) {
    for (T const value : made.gradients[state]) CHECK((value != 0) == reaches);
  }
}

}  // namespace

TEST_CASE("initial states of a deep LSTM of two directions keep the laws of layers") {
  test::check_laws_at<deep_lstm, Shape{4, 3}, Shape{10, 2}, Shape{10, 2}>();
}
TEST_CASE("initial states of a GRU keep the laws of layers") {
  test::check_values_at<
      Rnn{.hidden_size = 17, .rnn_type = RnnType::gru, .output = RnnOutput::layers, .initial_state = true}, Shape{3, 2},
      Shape{17}>();
}
TEST_CASE("initial states of a GRU that applies its reset gate before the product keep the laws of layers") {
  test::check_values_at<reset_before, Shape{3, 2}, Shape{6, 2}>();
}
TEST_CASE("initial states of a plain recurrent layer keep the laws of layers, for one step") {
  test::check_values_at<Rnn{.hidden_size = 3, .rnn_type = RnnType::tanh, .direction_mode = both, .initial_state = true},
                        Shape{2}, Shape{6, 1}>();
}
TEST_CASE("from zeros and in parts, sequences have the bits of whole ones") { check_all<DefaultBackend>(); }
TEST_CASE("a GPU's code gives the gradients of initial states") {
  check_grid<deep_lstm, Shape{4, 3}, Shape{10, 2}, Shape{10, 2}>();
#if COLDPRESS_NIGHTLY
  check_grid<reset_before, Shape{3, 2}, Shape{6, 2}>();
#endif
}
#if COLDPRESS_NIGHTLY
TEST_CASE("a GPU's code starts from initial states") { check_all<Grid>(); }
#endif
TEST_CASE("truncated gradients reach the initial state unless they are cut there") {
  check_truncation<DefaultBackend, 2, false>(), check_truncation<DefaultBackend, 3, true>(),
      check_truncation<DefaultBackend, 5, true>();
  check_truncation<Grid, 2, false>(), check_truncation<Grid, 3, true>();
  check_truncation<Reference<double>, 4, false>(), check_truncation<Reference<double>, 3, true>();
}
TEST_CASE("an encoder and a decoder are trained as one network") {
  static constexpr auto translate = graph([](auto source, auto target) {
    auto state =
        apply(Rnn{.hidden_size = 8, .num_layers = 2, .rnn_type = RnnType::gru, .output = RnnOutput::layers}, source);
    return apply(Rnn{.hidden_size = 8,
                     .num_layers = 2,
                     .rnn_type = RnnType::gru,
                     .output = RnnOutput::last_step,
                     .initial_state = true},
                 target, state) |
           Linear{1};
  });
  // What the decoder has to say is known to the encoder alone.
  Network<Graph<translate>, Inputs{Shape{3, 1}, Shape{2, 1}}> net{3};
  Solver<decltype(net), MeanSquaredError{}, Adam{.learning_rate = 0.01f}> solver{net};
  test::Random random{7};
  float first = 0, last = 0;
  for (int turn = 0; turn < 200; ++turn) {
    auto const source = random.values<float>(16 * 3), target = std::vector<float>(16 * 2, 1.0f);
    std::vector<float> wanted;
    for (std::size_t n = 0; n < 16; ++n) wanted.push_back(source[n * 3]);
    last = solver.train_minibatch(std::tie(source, target), wanted);
    if (turn == 0) first = last;
  }
  CHECK(last < first / 10);
}
TEST_CASE("initial states that do not fit are refused with a sentence") {
  auto const refused = [](Rnn const& layer, std::vector<Shape> const& in, char const* why) {
    CHECK_THROWS_WITH(output_shape_of(layer, Shapes{in.data(), in.size()}), Catch::Matchers::Contains(why));
  };
  Rnn const lstm{.hidden_size = 4, .num_layers = 2, .initial_state = true},
      gru{.hidden_size = 4, .rnn_type = RnnType::gru, .direction_mode = both, .initial_state = true};
  refused(lstm, {{5, 3}, {4, 2}}, "rnn: with initial_state, an LSTM takes a sequence");
  refused(lstm, {{5, 3}, {1}, {1}, {4, 2}, {4, 2}}, "rnn: with initial_state, an LSTM takes a sequence");
  refused(gru, {{5, 3}}, "rnn: with initial_state, takes a sequence");
  refused(gru, {{5, 3}, {8}, {8}}, "rnn: the second input must be the number of steps of each sample, {1}");
  for (Shape const& wrong : {Shape{4, 1}, Shape{4}, Shape{8, 2}, Shape{8, 1, 1}})
    refused(gru, {{5, 3}, wrong}, "rnn: an initial h or c must be {units, num_layers}, or {units} of one layer");
  refused(lstm, {{5, 3}, {4, 2}, {8}}, "rnn: an initial h or c must be {units, num_layers}");
  CHECK(output_shape_of(lstm, std::vector<Shape>{{5, 3}, {1}, {4, 2}, {4, 2}}) == Shape{5, 4});
}
