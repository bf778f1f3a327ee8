// Streams of network types in blocks of steps.
#include "run/streams.hpp"

#include "support/heap.hpp"

#include <coldpress/coldpress.hpp>
#include <coldpress/stream.hpp>

using namespace coldpress;
using namespace coldpress::test;

namespace {

/// Compares blocks with single steps, and both with the whole sequence as one sample.
template <class Net, Index in>
void check() {
  constexpr Index steps = 700;
  Network<Net, Shape{in}, Batch<1>> network{5};
  Network<Net, Shape{steps, in}> whole{5};
  auto const x = noise(steps * in);
  std::vector<float> by_step;
  for (Index t = 0; t < steps; ++t) {
    auto const y = network.step(std::span<float const>{x.data() + t * in, static_cast<std::size_t>(in)});
    by_step.insert(by_step.end(), y.begin(), y.end());
  }
  auto const y = whole.forward(x);
  CHECK(same_bits(by_step, std::vector<float>(y.begin(), y.end())));
  check_cuts([&](Index most) { return Stream{network, most}; }, x, in, by_step);
}

using Convolutions =
    Sequential<Convolution{.num_output = 5, .filter_shape = 3, .dilation = 4}, TanH{},
               Convolution{.num_output = 20, .filter_shape = 1}, LeakyReLU{.slope = 0.1f},
               Convolution{.num_output = 12, .filter_shape = 4, .dilation = 3, .groups = 4, .has_bias = false}, SiLU{},
               Convolution{.num_output = 37, .filter_shape = 9}, Convolution{.num_output = 19, .filter_shape = 1},
               Convolution{.num_output = 1, .filter_shape = 2, .dilation = 100}>;
constexpr auto wavenet = graph([](auto in) {
  auto x = in | Convolution{.num_output = 6, .filter_shape = 1, .has_bias = false};
  auto head = x;
  for (int l = 0; l < 4; ++l) {
    auto const mixed = in | Convolution{.num_output = 12, .filter_shape = 1};
    auto const both = (x | Convolution{.num_output = 12, .filter_shape = 3, .dilation = Index{1} << l}) + mixed;
    auto const z = (slice(both, 0, 6, along{-1}) | TanH{}) * (slice(both, 6, 12, along{-1}) | Sigmoid{});
    head = head + z;
    x = (z | Convolution{.num_output = 6, .filter_shape = 1}) + x;
  }
  return concat(along{-1}, head - x, in);
});

}  // namespace

TEST_CASE("blocks of any size give the bits of single steps and of the whole sequence: convolutions") {
  check<Convolutions, 2>();
  check<Convolutions, 1>();
}
TEST_CASE("... recurrent layers") {
  check<Sequential<Rnn{.hidden_size = 10, .num_layers = 2}, Convolution{.num_output = 2, .filter_shape = 1}>, 1>();
  check<Sequential<Rnn{.hidden_size = 18, .rnn_type = RnnType::gru}, TanH{}>, 3>();
  check<Sequential<Rnn{.hidden_size = 18, .num_layers = 2, .rnn_type = RnnType::gru, .reset_after = false}>, 2>();
  check<Sequential<Rnn{.hidden_size = 7, .num_layers = 3, .rnn_type = RnnType::relu}>, 2>();
}
TEST_CASE("... branches, gates and joins") { check<Graph<wavenet>, 1>(); }
TEST_CASE("... layers that are computed together") { check<Graph<stacks>, 1>(); }

TEST_CASE("layers without code for blocks are computed step by step in them") {
  Network<Sequential<Rnn{.hidden_size = 6}, LayerNormalization{}, Dropout{}, Linear{4}, Softmax{}>, Shape{3}, Batch<1>>
      network{3};
  auto const x = noise(200 * 3);
  std::vector<float> by_step;
  for (std::size_t t = 0; t < 200; ++t) {
    auto const y = network.step(std::span<float const>{x.data() + t * 3, 3});
    by_step.insert(by_step.end(), y.begin(), y.end());
  }
  check_cuts([&](Index most) { return Stream{network, most}; }, x, 3, by_step);
}

TEST_CASE("... also gates, learned slopes, and positions, which count the steps") {
  Network<Sequential<Linear{12}, LearnedPositions{.most = 512}, SinusoidalPositions{}, RotaryPositions{},
                     RMSNormalization{}, Glu{.gate = GluGate::silu}, PReLU{}, BatchNormalization{},
                     GroupNormalization{.groups = 2}, Mish{}, Linear{2}>,
          Shape{3}, Batch<1>>
      network{3};
  auto const x = noise(200 * 3);
  std::vector<float> by_step;
  for (std::size_t t = 0; t < 200; ++t) {
    auto const y = network.step(std::span<float const>{x.data() + t * 3, 3});
    by_step.insert(by_step.end(), y.begin(), y.end());
  }
  check_cuts([&](Index most) { return Stream{network, most}; }, x, 3, by_step);
}

TEST_CASE("an operation that depends on the place of a value, and a sequence within a step") {
  auto const by_step = [](auto& network, std::vector<float> const& x, std::size_t in) {
    std::vector<float> all;
    for (std::size_t t = 0; t < x.size(); t += in) {
      auto const y = network.step(std::span<float const>{x.data() + t, in});
      all.insert(all.end(), y.begin(), y.end());
    }
    return all;
  };
  Network<Sequential<Convolution{.num_output = 4, .filter_shape = 3, .dilation = 2}, Dropout{},
                     Convolution{.num_output = 2, .filter_shape = 2}>,
          Shape{3}, Batch<1>>
      dropped{3};
  auto const x = noise(200 * 3), y = noise(200 * 6);
  check_cuts([&](Index most) { return Stream{dropped, most}; }, x, 3, by_step(dropped, x, 3));
  Network<Sequential<Reshape{{3, 2}}, Convolution{.num_output = 4, .filter_shape = 2}, Flatten{}, TanH{}>, Shape{6},
          Batch<1>>
      inner{3};
  check_cuts([&](Index most) { return Stream{inner, most}; }, y, 6, by_step(inner, y, 6));
}

TEST_CASE("several inputs and outputs stream together") {
  static constexpr auto net = graph([](auto a, auto b) {
    auto const c = (a | Convolution{.num_output = 2, .filter_shape = 3}) + b;
    return outputs(c | TanH{}, b | Convolution{.num_output = 1, .filter_shape = 2});
  });
  Network<Graph<net>, Inputs{Shape{1}, Shape{2}}, Batch<1>> network{2};
  Stream stream{network, 16}, other{network, 16};
  auto const a = noise(30), b = noise(60, 2);
  std::vector<float> c(60), d(30), e(60), f(30);
  auto const go = [&](auto& through, std::size_t first, std::size_t count, auto& one, auto& two) {
    std::span<float const> const in[] = {{a.data() + first, count}, {b.data() + 2 * first, 2 * count}};
    std::span<float> const out[] = {{one.data() + 2 * first, 2 * count}, {two.data() + first, count}};
    through.process(in, out);
  };
  go(stream, 0, 30, c, d);
  for (std::size_t t = 0; t < 30; t += 5) go(other, t, 5, e, f);
  CHECK(same_bits(c, e));
  CHECK(same_bits(d, f));
  CHECK_THROWS_AS(stream.process(a, c), ShapeError);
}

TEST_CASE("outputs are written over the inputs where no input is lost by it") {
  auto const written_over = []<class Net>(Net*, std::size_t in, std::size_t out) {
    Net const network{3};
    for (Index const most : {1, 7, 64}) {
      Stream apart{network, most}, in_place{network, most};
      auto x = noise(150 * in);
      std::vector<float> y(150 * out);
      apart.process(x, y);
      in_place.process(x, std::span{x}.first(150 * out));
      x.resize(150 * out);
      CHECK(x == y);
    }
  };
  using One =
      Network<Sequential<Convolution{.num_output = 4, .filter_shape = 3}, TanH{}, Linear{1}>, Shape{1}, Batch<1>>;
  using Fewer = Network<Sequential<Linear{8}, TanH{}, Linear{2}>, Shape{3}, Batch<1>>;
  written_over(static_cast<One*>(nullptr), 1, 1);
  written_over(static_cast<Fewer*>(nullptr), 3, 2);

  Network<Sequential<Linear{3}>, Shape{2}, Batch<1>> const more{3};
  One const one{3};
  std::vector<float> values(30);
  char const* const lost = "process: an output would be written over inputs that are still to be read";
  CHECK_THROWS_WITH(Stream{more}.process(std::span{values}.first(20), values), lost);
  Stream stream{one};
  CHECK_THROWS_WITH(stream.process(std::span{values}.first(20), std::span{values}.last(20)), lost);
  CHECK_NOTHROW(stream.process(std::span{values}.last(20), std::span{values}.first(20)));

  static constexpr auto both = graph([](auto x) { return outputs(x | Linear{1}, x | TanH{}); });
  Network<Graph<both>, Shape{1}, Batch<1>> const pair{3};
  std::vector<float> const x(20);
  std::span<float const> const in{x};
  std::array const out{std::span{values}.first(20), std::span{values}.last(20)};
  CHECK_THROWS_WITH(Stream{pair}.process(std::span{&in, 1}, out), "process: an output would be written over another");
}
TEST_CASE("streams share a network, and their states are copied, restored and reset") {
  Network<Convolutions, Shape{1}> network{5};
  auto const x = noise(300), other = noise(300, 2);
  Stream stream{network};
  auto const expected = streamed(stream, x, 1, 1, {300});
  stream.reset();
  std::vector<float> const first{x.begin(), x.begin() + 150}, rest{x.begin() + 150, x.end()},
      end{expected.begin() + 150, expected.end()};
  streamed(stream, first, 1, 1, {64});
  std::vector<float> const saved{stream.state().begin(), stream.state().end()};
  Stream copy = stream;
  streamed(stream, other, 1, 1, {64});
  CHECK(same_bits(streamed(copy, rest, 1, 1, {33}), end));
  stream.restore(saved);
  CHECK(same_bits(streamed(stream, rest, 1, 1, {10}), end));
  CHECK_THROWS_AS(stream.restore(first), ShapeError);
  CHECK_THROWS_AS(stream.restore(stream.state()), ShapeError);  // not a copy
}

TEST_CASE("a stream whose network has been assigned to, or that was moved from, says so") {
  Network<Sequential<Linear{3}, TanH{}>, Shape{2}> network{5};
  Stream stream{network};
  std::vector<float> const x(4);
  std::vector<float> y(6);
  stream.process(x, y);
  network = decltype(network){6};
  CHECK_THROWS_WITH(stream.process(x, y),
                    "stream: its network has been assigned to, so its weights are elsewhere; make a new stream");
  CHECK_THROWS_AS(stream.warm_up(), ShapeError);
  Stream fresh{network};
  Stream taken = std::move(fresh);
  CHECK_THROWS_WITH(fresh.process(x, y), "stream: has been moved from");
  CHECK_THROWS_AS(Stream{fresh}, ShapeError);
  fresh = std::move(taken);
  CHECK_NOTHROW(fresh.process(x, y));
}

TEST_CASE("a network with a finite past tells its length, and warms up exactly") {
  Network<Convolutions, Shape{1}> network{5};
  Stream stream{network};
  CHECK(stream.past() == 2 * 4 + 3 * 3 + 8 + 100);
  CHECK(stream.warm_up() == stream.past());
  // What came before the past of a step, sound or silence, does not matter.
  Stream after{network};
  streamed(after, noise(1000), 1, 1, {64});
  std::vector<float> const silence(static_cast<std::size_t>(after.past()));
  streamed(after, silence, 1, 1, {64});
  auto const x = noise(100, 3);
  CHECK(same_bits(streamed(stream, x, 1, 1, {64}), streamed(after, x, 1, 1, {64})));
}
TEST_CASE("the past is that of the longest way") {
  static constexpr auto net = graph([](auto x) {
    return (x | Convolution{.num_output = 2, .filter_shape = 11}) +
           (x | Convolution{.num_output = 2, .filter_shape = 3});
  });
  Network<Graph<net>, Shape{1}> network{2};
  CHECK(Stream{network}.past() == 10);
  CHECK(Stream{network, 1}.past() == 10);
}
TEST_CASE("attention remembers its window, and positions nothing") {
  Network<Sequential<Linear{.output_size = 6, .last_axis = true}, RotaryPositions{.size = 2}, SinusoidalPositions{},
                     LearnedPositions{.most = 100}, ScaledDotProductAttention{.causal = true, .window = 16}>,
          Shape{1, 3}>
      network{2};
  for (Index const most : {1, 64}) {
    Stream stream{network, most};
    CHECK(stream.past() == 15);
    CHECK(stream.warm_up() == 15);
    auto const x = noise(3 * 40);
    for (Index const changed : {23, 24}) {  // 16 and 15 steps before the last one
      auto other = x;
      other[static_cast<std::size_t>(3 * changed)] += 1;
      Stream first{network, most}, second{network, most};
      auto const y = streamed(first, x, 3, 2, {7}), z = streamed(second, other, 3, 2, {7});
      bool const same = std::equal(y.end() - 2, y.end(), z.end() - 2);
      CHECK(same == (changed == 23));
    }
  }
}
TEST_CASE("a recurrent network warms up until nothing changes") {
  Network<Sequential<Convolution{.num_output = 2, .filter_shape = 3}, Rnn{.hidden_size = 8}>, Shape{1}> network{5};
  Stream stream{network};
  CHECK(stream.past() == endless_past);
  Index const steps = stream.warm_up();
  CHECK(steps > 8);
  CHECK(steps < 100'000);
  std::vector<float> const silence(1000);
  auto const y = streamed(stream, silence, 1, 8, {64});
  for (std::size_t i = 8; i < y.size(); ++i) REQUIRE(y[i] == y[i - 8]);
  CHECK(stream.warm_up(10) == 10);
  // What comes late does not come after: a convolution far behind, between two recurrent layers.
  Network<Sequential<Rnn{.hidden_size = 3}, Convolution{.num_output = 2, .filter_shape = 2, .dilation = 200},
                     Rnn{.hidden_size = 4}>,
          Shape{1}>
      late{4};
  for (Index const most : {1, 64}) {
    Stream second{late, most};
    Index const taken = second.warm_up();
    CHECK(taken >= 200);
    CHECK(taken < 100'000);
    auto const z = streamed(second, silence, 1, 4, {64});
    for (std::size_t i = 4; i < z.size(); ++i) REQUIRE(z[i] == z[i - 4]);
  }
}

TEST_CASE("blocks allocate nothing") {
  Network<Graph<wavenet>, Shape{1}> network{5};
  Stream stream{network, 64};
  auto const x = noise(640);
  std::vector<float> y(640 * 7);
  std::size_t const before = test::heap.calls;
  for (std::size_t const n : {0, 1, 7, 64, 640}) stream.process({x.data(), n}, {y.data(), n * 7});
  CHECK(test::heap.calls == before);
}
