// Recurrent layers step by step: streams, state, truncated gradients, and dropout between layers.
#include "support/layer_laws.hpp"

using namespace coldpress;

namespace {

constexpr Rnn lstm{.hidden_size = 9, .num_layers = 2};
constexpr Rnn gru{.hidden_size = 18, .num_layers = 2, .rnn_type = RnnType::gru};
constexpr Rnn reset_before{.hidden_size = 18, .num_layers = 2, .rnn_type = RnnType::gru, .reset_after = false};
constexpr Rnn narrow{.hidden_size = 7, .rnn_type = RnnType::gru, .reset_after = false};
constexpr Rnn plain{.hidden_size = 5, .rnn_type = RnnType::relu};
constexpr Rnn dropping{.hidden_size = 4, .num_layers = 2, .dropout_probability = 0.5f};
constexpr Rnn dropping_alone{.hidden_size = 4, .dropout_probability = 0.5f};

template <Rnn layer, Shape in, class Backend = DefaultBackend>
using Net = Network<Sequential<layer>, in, DynamicBatch, Backend>;

/// The same weights for every sample shape.
template <class Network>
Network weighted() {
  return test::random_network<Network>(4);
}
/// Steps `first` to `first + count` of samples of `steps` steps.
template <class T>
std::vector<T> cut(std::vector<T> const& all, Index batch, Index steps, Index first, Index count) {
  Index const width = static_cast<Index>(all.size()) / batch / steps;
  std::vector<T> part;
  for (Index i = 0; i < batch; ++i) {
    auto const start = all.begin() + (i * steps + first) * width;
    part.insert(part.end(), start, start + count * width);
  }
  return part;
}

template <Rnn layer>
void check_streams() {
  auto whole = weighted<Net<layer, Shape{6, 3}>>();
  auto one = weighted<Net<layer, Shape{3}>>();
  auto two = weighted<Net<layer, Shape{2, 3}>>();
  for (Index const batch : {1, 4}) {
    auto const x = test::Random{2}.values<float>(batch * 18);
    auto const y = test::copy_of<float>(whole.forward(x));
    for (int turn = 0; turn < 2; ++turn) {
      for (Index t = 0; t < 6; ++t) CHECK(test::same_bits(one.step(cut(x, batch, 6, t, 1)), cut(y, batch, 6, t, 1)));
      for (Index t = 0; t < 6; t += 2) CHECK(test::same_bits(two.step(cut(x, batch, 6, t, 2)), cut(y, batch, 6, t, 2)));
      one.reset(), two.reset();
    }
    auto const first = cut(x, batch, 6, 0, 1);
    auto const fresh = test::copy_of<float>(one.step(first));
    CHECK(!test::same_bits(one.step(first), fresh));
    CHECK(test::same_bits(one.forward(first), fresh));  // which neither reads the state nor changes it
    one.reset();
  }
}

/// Gradients of Σ dy y where each part of a sequence starts from a state that is held fast, by central differences.
template <RnnType type, bool reset_after = true>
void check_truncation() {
  constexpr Index steps = 8, batch = 2;
  static constexpr Rnn layer{
      .hidden_size = 2, .num_layers = 2, .rnn_type = type, .reset_after = reset_after, .truncation = 3};
  using Whole = Net<layer, Shape{steps, 2}, Reference<double>>;
  using Step = Net<layer, Shape{2}, Reference<double>>;
  auto const whole = weighted<Whole>();
  auto const fixed = weighted<Step>();
  auto moved = weighted<Step>();
  auto x = test::Random{2}.values<double>(batch * steps * 2);
  auto const dy = test::Random{3}.values<double>(batch * steps * 2);
  typename Whole::TrainingWorkspace workspace;
  whole.forward_training(x, workspace);
  auto const dx = test::copy_of<double>(whole.backward(dy, workspace));

  auto const objective = [&](std::vector<double> const& inputs) {
    double sum = 0;
    typename Step::State state, held;
    typename Step::Workspace space;
    for (Index t = 0; t < steps; ++t) {
      if ((steps - t) % 3 == 0) held = state;  // parts are counted from the end: 2 + 3 + 3
      auto const now = cut(dy, batch, steps, t, 1);
      fixed.step(cut(x, batch, steps, t, 1), state, space);
      auto const y = moved.step(cut(inputs, batch, steps, t, 1), held, space);
      for (std::size_t i = 0; i < now.size(); ++i) sum += now[i] * y.values[i];
    }
    return sum;
  };
  auto const slope = [&](auto const& shifted) { return (shifted(1e-6) - shifted(-1e-6)) / 2e-6; };
  auto const weights = test::canonical(fixed), gradients = test::canonical<Whole>(workspace.gradients());
  for (std::size_t e = 0; e < weights.size(); ++e) {
    double const wanted = slope([&](double by) {
      auto changed = weights;
      changed[e] += by;
      moved.write_weight(0, changed);
      return objective(x);
    });
    CHECK(gradients[e] == Approx(wanted).margin(1e-7).epsilon(1e-5));
  }
  moved.write_weight(0, weights);
  for (std::size_t e = 0; e < x.size(); ++e) {
    double const wanted = slope([&](double by) {
      auto changed = x;
      changed[e] += by;
      return objective(changed);
    });
    CHECK(dx[e] == Approx(wanted).margin(1e-7).epsilon(1e-5));
  }
  // The CPU cuts in the same places.
  auto const fast = test::pass(weighted<Net<layer, Shape{steps, 2}>>(), batch, 1);
  auto const exact = test::pass(whole, batch, 1);
  CHECK(test::excess(fast.gradients, exact.gradients, 32) <= 1);
}

template <class Network>
auto trained(Network const& network, std::vector<float> const& x, std::uint64_t step) {
  typename Network::TrainingWorkspace workspace;
  return test::copy_of<float>(network.forward_training(x, workspace, step));
}

}  // namespace

TEST_CASE("a stream gives the bits of the whole sequence, in parts of any length, until reset") {
  check_streams<lstm>();
  check_streams<gru>();
  check_streams<reset_before>();
  check_streams<narrow>();
  check_streams<plain>();
}

TEST_CASE("what flows back through time is cut where truncation says") {
  check_truncation<RnnType::lstm>();
  check_truncation<RnnType::gru>();
  check_truncation<RnnType::gru, false>();
  check_truncation<RnnType::tanh>();
}

TEST_CASE("a sample's output does not depend on the others") {
  auto net = weighted<Net<lstm, Shape{4, 3}>>();
  auto const x = test::Random{2}.values<float>(13 * 12);
  auto const all = test::copy_of<float>(net.forward(x));
  for (std::size_t const batch : {2u, 5u, 12u})
    CHECK(test::same_bits(net.forward(std::span{x.data() + 12, batch * 12}), std::span{all.data() + 36, batch * 36}));
}

TEST_CASE("dropout acts between layers, in training, with a new mask each step") {
  auto const net = weighted<Net<dropping, Shape{3, 2}>>();
  auto const x = test::Random{2}.values<float>(5 * 6);
  Net<dropping, Shape{3, 2}>::Workspace inference;
  auto const y = test::copy_of<float>(net.forward(x, inference)), first = trained(net, x, 1);
  CHECK(y == test::copy_of<float>(weighted<Net<Rnn{.hidden_size = 4, .num_layers = 2}, Shape{3, 2}>>().forward(x)));
  CHECK(first != y);
  CHECK(first == trained(net, x, 1));
  CHECK(first != trained(net, x, 2));
  auto alone = weighted<Net<dropping_alone, Shape{3, 2}>>();
  CHECK(trained(alone, x, 1) == test::copy_of<float>(alone.forward(x)));
}

TEST_CASE("dropout's masks differ from step to step of a sequence, and from sample to sample") {
  // The lower layer hands on ones, and the upper one what it gets.
  constexpr Rnn layers{.hidden_size = 32, .num_layers = 2, .rnn_type = RnnType::relu, .dropout_probability = 0.5f};
  Net<layers, Shape{2, 1}> net;
  constexpr RecurrentWeights packed{.gates = 1, .input = 1, .hidden = 32, .layers = 2};
  std::vector<float> weights(static_cast<std::size_t>(packed.size()));
  for (Index e = 0; e < packed.size(); ++e) {
    auto const place = packed.place(e);
    bool const is_one =
        (place.part == 0 && place.kind == RecurrentWeights::Kind::input_bias) ||
        (place.part == 1 && place.kind == RecurrentWeights::Kind::input_matrix && place.unit == place.column);
    weights[static_cast<std::size_t>(e)] = is_one;
  }
  net.write_weight(0, weights);
  auto const y = trained(net, std::vector<float>(4), 1);  // two samples of two steps: the mask itself
  for (float const value : y) CHECK((value == 0 || value == 2));
  for (int a = 0; a < 4; ++a) {
    for (int b = 0; b < a; ++b) CHECK(!std::equal(y.begin() + 32 * a, y.begin() + 32 * (a + 1), y.begin() + 32 * b));
  }
}
