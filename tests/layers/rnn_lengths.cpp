// Recurrent layers of samples that have numbers of steps: each is computed as a sequence of that many steps.
#include "support/layer_laws.hpp"

#include <coldpress/backend/grid.hpp>

using namespace coldpress;

namespace {

constexpr Index steps = 5, features = 3, batch = 3;

template <Rnn layer, class Backend>
struct Nets {
  static constexpr auto graph_of = graph([](auto x, auto lengths) { return apply(layer, x, lengths); });
  using Padded = Network<Graph<graph_of>, Inputs{Shape{steps, features}, Shape{1}}, DynamicBatch, Backend>;
  template <Index length>
  using Alone = Network<Sequential<layer>, Shape{length, features}, DynamicBatch, Backend>;
};

template <class Net>
auto weighted(std::uint64_t seed = 4) {
  Net net;
  net.write_weight(0, test::Random{seed}.values<typename Net::T>(net.weight_shape(0).size()));
  return net;
}
template <class T>
std::vector<T> of_sample(std::vector<T> const& all, Index sample, Index size, Index count) {
  auto const first = all.begin() + sample * size;
  return {first, first + count};
}

/// The first sample has `length` steps and something else behind them, the second all steps, and the third none.
template <Rnn layer, class Backend, Index length>
void check() {
  using Padded = typename Nets<layer, Backend>::Padded;
  using Short = typename Nets<layer, Backend>::template Alone<length>;
  using Whole = typename Nets<layer, Backend>::template Alone<steps>;
  using T = typename Padded::T;
  constexpr Index in = steps * features, out = Padded::output_shape.size(), made = Short::output_shape.size();
  auto const padded = weighted<Padded>();
  auto alone = weighted<Short>();
  auto whole = weighted<Whole>();
  auto x = test::Random{2}.values<T>(batch * in);
  auto const dy = test::Random{3}.values<T>(batch * out);
  std::fill(x.begin() + length * features, x.begin() + in, std::numeric_limits<T>::quiet_NaN());
  for (T const none : {T{0}, T{-3}, std::numeric_limits<T>::quiet_NaN()}) {
    std::vector<T> const lengths{T{length} + T{0.5}, T{steps + 2}, none};  // fractions are dropped
    typename Padded::TrainingWorkspace workspace;
    auto const y = test::copy_of<T>(padded.forward_training(std::tie(x, lengths), workspace).values);
    auto const dx = test::copy_of<T>(padded.backward(dy, workspace));
    typename Padded::Workspace inference;
    auto const inferred = test::copy_of<T>(padded.forward(std::tie(x, lengths), inference).values);

    // In minibatches of two, because one sample is summed in an order of its own.
    auto const twice = [](std::vector<T> values) {
      values.insert(values.end(), values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size()));
      return values;
    };
    auto const check_sample = [&](auto& net, Index sample, Index size, Index results) {
      auto const of = twice(of_sample(x, sample, in, size)), given = twice(of_sample(dy, sample, out, results));
      typename std::remove_cvref_t<decltype(net)>::TrainingWorkspace own;
      auto const in_inference = test::copy_of<T>(net.forward(of));
      auto const expected = test::copy_of<T>(net.forward_training(of, own));
      CHECK(test::same_bits(of_sample(y, sample, out, results), of_sample(expected, 0, results, results)));
      CHECK(test::same_bits(of_sample(inferred, sample, out, results), of_sample(in_inference, 0, results, results)));
      CHECK(test::same_bits(of_sample(dx, sample, in, size),
                            of_sample(test::copy_of<T>(net.backward(given, own)), 0, size, size)));
      auto gradients = test::copy_of<double>(own.gradients());
      for (double& value : gradients) value /= 2;
      return gradients;
    };
    // One sample in calls of its own, whose number may be another one in the next call.
    for (Index sample : {0, 1, 0}) {
      auto const of = of_sample(x, sample, in, in), number = of_sample(lengths, sample, 1, 1);
      auto const found = test::copy_of<T>(padded.forward(std::tie(of, number), inference).values);
      auto const results = sample == 0 ? made : out;
      auto const expected = sample == 0 ? test::copy_of<T>(alone.forward(of_sample(of, 0, in, length * features)))
                                        : test::copy_of<T>(whole.forward(of));
      CHECK(test::same_bits(of_sample(found, 0, out, results), expected));
    }
    auto const of_short = check_sample(alone, 0, length * features, made), of_whole = check_sample(whole, 1, in, out);
    auto const is_zero = [](T value) { return value == 0; };
    CHECK(std::all_of(y.begin() + made, y.begin() + out, is_zero));
    CHECK(std::all_of(dx.begin() + length * features, dx.begin() + in, is_zero));
    CHECK(std::all_of(y.begin() + 2 * out, y.end(), is_zero));
    CHECK(std::all_of(dx.begin() + 2 * in, dx.end(), is_zero));
    CHECK(std::ranges::all_of(workspace.input_gradient(1), is_zero));
    auto const gradients = test::copy_of<double>(workspace.gradients());
    REQUIRE(gradients.size() == of_short.size());
    for (std::size_t i = 0; i < gradients.size(); ++i)
      CHECK(gradients[i] == Approx(of_short[i] + of_whole[i]).margin(1e-5).epsilon(1e-4));
  }
}

/// Each kind of cell, of output, and of direction once.
template <class Backend>
void check_all() {
  constexpr auto both = DirectionMode::bi_directional;
  check<Rnn{.hidden_size = 5, .num_layers = 2, .direction_mode = both, .output = RnnOutput::layers}, Backend, 3>();
  check<Rnn{.hidden_size = 17, .rnn_type = RnnType::gru, .output = RnnOutput::last_step}, Backend, 2>();
  check<Rnn{.hidden_size = 6, .num_layers = 2, .rnn_type = RnnType::gru, .reset_after = false, .direction_mode = both},
        Backend, 1>();
  check<Rnn{.hidden_size = 3, .num_layers = 2, .rnn_type = RnnType::relu, .input_mode = InputMode::skip_input}, Backend,
        4>();
}

constexpr Shape shape_of(Rnn const& layer, Shape const& x, Shape const& lengths) {
  Shape const in[] = {x, lengths};
  return layer.output_shape(in);
}
static_assert(shape_of({.hidden_size = 4}, {5, 3}, {1}) == Shape{5, 4});
static_assert(shape_of({.hidden_size = 4}, {3}, {1}) == Shape{1, 4});
static_assert([] {
  Shape const in[] = {{5, 3}, {1}};
  return Rnn{}.state(in) == 0 && LayerTraits<Rnn>::with_input({}, in).streaming == StreamSupport::never;
}());

}  // namespace

TEST_CASE("samples with numbers of steps have the bits of sequences that long") { check_all<DefaultBackend>(); }
TEST_CASE("a GPU's code knows how many steps samples have") {
#if COLDPRESS_NIGHTLY
  check_all<Grid>();
#else
  check<Rnn{.hidden_size = 17, .rnn_type = RnnType::gru, .output = RnnOutput::last_step}, Grid, 2>();
#endif
}
TEST_CASE("the reference knows how many steps samples have") {
  check<Rnn{.hidden_size = 4, .num_layers = 2, .direction_mode = DirectionMode::bi_directional}, Reference<double>,
        3>();
  check<Rnn{.hidden_size = 4, .rnn_type = RnnType::gru, .reset_after = false, .output = RnnOutput::last_step},
        Reference<double>, 2>();
}
TEST_CASE("numbers of steps that do not fit are refused with a sentence") {
  auto const refused = [](Rnn const& layer, std::vector<Shape> const& in, char const* why) {
    CHECK_THROWS_WITH(output_shape_of(layer, Shapes{in.data(), in.size()}), Catch::Matchers::Contains(why));
  };
  refused({}, {{5, 3}, {2}}, "rnn: the second input must be the number of steps of each sample, {1}");
  refused({}, {{5, 3}, {1}, {1}}, "rnn: takes one or two inputs");
  refused({.truncation = 2}, {{5, 3}, {1}}, "rnn: truncation counts from the last step of all samples");
}
