#include "support/layer_laws.hpp"

#include <coldpress/backend/grid.hpp>

using namespace coldpress;

namespace {

using Attention = ScaledDotProductAttention;

template <Attention layer, Shape in, class Backend = DefaultBackend>
using Alone = Network<Sequential<layer>, in, DynamicBatch, Backend>;

/// The output and the input gradient of a minibatch.
template <class Net>
std::vector<double> both(std::vector<float> const& values, std::vector<float> const& gradients) {
  using T = typename Net::T;
  Net const net;
  auto const x = test::copy_of<T>(values), dy = test::copy_of<T>(gradients);
  typename Net::TrainingWorkspace workspace;
  auto const y = test::copy_of<double>(net.forward_training(x, workspace));
  auto all = test::copy_of<double>(net.backward(dy, workspace));
  all.insert(all.end(), y.begin(), y.end());
  return all;
}
/// Every backend computes what the reference computes, for sequences of several blocks of queries.
template <Attention layer, Shape in>
void check_backends() {
  constexpr Index batch = 3, out = Alone<layer, in>::output_shape.size();
  auto const x = test::Random{2}.values<float>(batch * in.size()), dy = test::Random{3}.values<float>(batch * out);
  auto const wanted = both<Alone<layer, in, Reference<double>>>(x, dy);
  auto const compare = [&](std::vector<double> const& found) {
    REQUIRE(found.size() == wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) CHECK(found[i] == Approx(wanted[i]).epsilon(1e-4).margin(1e-5));
  };
  compare(both<Alone<layer, in>>(x, dy));
  compare(both<Alone<layer, in, Grid>>(x, dy));
}

/// A stream gives the bits of the whole sequence, of which each step sees the last `window` steps.
template <Attention layer, Index features>
void check_stream() {
  constexpr Index steps = 75, batch = 2, width = Alone<layer, Shape{steps, features}>::output_shape[1];
  Alone<layer, Shape{steps, features}> whole;
  Alone<layer, Shape{features}> one;
  auto const x = test::Random{2}.values<float>(batch * steps * features);
  auto const y = test::copy_of<float>(whole.forward(x));
  for (int turn = 0; turn < 2; ++turn) {
    for (Index t = 0; t < steps; ++t) {
      INFO("step " << t);
      std::vector<float> in, out;
      for (Index n = 0; n < batch; ++n) {
        in.insert(in.end(), x.begin() + (n * steps + t) * features, x.begin() + (n * steps + t + 1) * features);
        out.insert(out.end(), y.begin() + (n * steps + t) * width, y.begin() + (n * steps + t + 1) * width);
      }
      REQUIRE(test::same_bits(one.step(in), out));
    }
    one.reset();
  }
}

}  // namespace

TEST_CASE("attention keeps the laws of layers, with its inputs side by side") {
  test::check_laws_at<Attention{.heads = 2}, Shape{5, 18}>();
  test::check_values_at<Attention{.causal = true}, Shape{18, 48}>();
  test::check_values_at<Attention{.heads = 3, .kv_heads = 1, .causal = true, .window = 7, .scale = 0.5f},
                        Shape{23, 20}>();
}
TEST_CASE("attention keeps the laws of layers, with keys and values from elsewhere") {
  test::check_laws_at<Attention{.heads = 2}, Shape{3, 8}, Shape{5, 8}, Shape{5, 6}>();
  test::check_values_at<Attention{.heads = 2, .kv_heads = 1}, Shape{4, 32}, Shape{17, 16}, Shape{17, 5}>();
  // Most queries see no key any more.
  test::check_values_at<Attention{.causal = true, .window = 4}, Shape{90, 4}, Shape{5, 4}, Shape{5, 3}>();
}
TEST_CASE("attention with a mask keeps the laws of layers") {
  test::check_laws_at<Attention{.heads = 2}, Shape{4, 12}, Shape{4, 4}>();
  test::check_values_at<Attention{.heads = 2}, Shape{3, 8}, Shape{5, 8}, Shape{5, 6}, Shape{1, 5}>();
  test::check_values_at<Attention{.heads = 2, .causal = true}, Shape{4, 12}, Shape{2, 4, 4}>();
}
TEST_CASE("every backend computes attention alike, for many steps") {
  check_backends<Attention{.heads = 2}, Shape{150, 96}>();
  check_backends<Attention{.heads = 2, .causal = true}, Shape{150, 60}>();
  check_backends<Attention{.heads = 4, .kv_heads = 2, .causal = true, .window = 40}, Shape{150, 128}>();
}
TEST_CASE("a stream of attention gives the bits of the whole sequence") {
  check_stream<Attention{.heads = 2, .causal = true, .window = 100}, 96>();
  check_stream<Attention{.heads = 2, .kv_heads = 1, .causal = true, .window = 20}, 20>();
  check_stream<Attention{.causal = true, .window = 16}, 30>();
  check_stream<Attention{.causal = true, .window = 1}, 48>();
}
TEST_CASE("attention knows how many keys each sample has") {
  static constexpr auto with_length =
      graph([](auto x, auto length) { return apply(Attention{.heads = 2}, x, length); });
  static constexpr auto with_mask = graph([](auto x, auto mask) { return apply(Attention{.heads = 2}, x, mask); });
  constexpr Index steps = 6, keys = 4;
  Network<Graph<with_length>, Inputs{Shape{steps, 12}, Shape{1}}> const by_length;
  Network<Graph<with_mask>, Inputs{Shape{steps, 12}, Shape{1, steps}}> const by_mask;
  auto const x = test::Random{4}.values<float>(2 * steps * 12);
  std::vector<float> mask(2 * steps);
  for (Index j = 0; j < steps; ++j)
    mask[static_cast<std::size_t>(steps + j)] = j < keys ? 0 : -std::numeric_limits<float>::infinity();
  typename decltype(by_length)::Workspace a;
  typename decltype(by_mask)::Workspace b;
  std::vector<float> const lengths{steps, keys};
  auto const y = by_length.forward(std::tie(x, lengths), a).values;
  CHECK(test::same_bits(y, by_mask.forward(std::tie(x, mask), b).values));

  // A query that sees nothing gives nothing.
  for (float const none : {0.f, -3.f}) {
    std::vector<float> const no_keys{none, 1};
    auto const zero = by_length.forward(std::tie(x, no_keys), a).values;
    for (std::size_t i = 0; i < zero.size() / 2; ++i) CHECK(zero[i] == 0);
    CHECK(zero[zero.size() - 1] != 0);
  }
  // What lies beyond a sample's keys may be anything.
  auto padded = x;
  std::fill(padded.begin() + (steps + keys) * 12, padded.end(), std::numeric_limits<float>::quiet_NaN());
  auto const seen = by_length.forward(std::tie(padded, lengths), a).values;
  for (std::size_t i = 0; i < (steps + keys) * 4; ++i) CHECK(seen[i] == y[i]);
  std::vector<float> const closed(2 * steps, -std::numeric_limits<float>::infinity());
  for (float const value : by_mask.forward(std::tie(x, closed), b).values) CHECK(value == 0);
}

TEST_CASE("causal attention does not look ahead") {
  constexpr Index steps = 30, features = 48, seen = 17;
  Alone<Attention{.causal = true}, Shape{steps, features}> net;
  auto x = test::Random{2}.values<float>(steps * features);
  auto const before = test::copy_of<float>(net.forward(x));
  for (std::size_t i = seen * features; i < x.size(); ++i) x[i] = 1e3f;
  auto const after = test::copy_of<float>(net.forward(x));
  CHECK(test::same_bits(std::span{before}.first(seen * 16), std::span{after}.first(seen * 16)));
  CHECK(!test::same_bits(before, after));
}

TEST_CASE("attention says what is wrong with its inputs") {
  auto const refused = [](Attention const& layer, std::vector<Shape> const& in, std::string const& why) {
    INFO(why);
    CHECK_THROWS_WITH(output_shape_of(layer, Shapes{in.data(), in.size()}), Catch::Matchers::Contains(why));
  };
  refused({.heads = 4}, {{5, 10}}, "heads + 2 kv_heads must divide");
  refused({.heads = 3, .kv_heads = 2}, {{5, 21}}, "kv_heads must divide heads");
  refused({.heads = 0}, {{5, 21}}, "heads must be from 1 to 65536");
  refused({.window = 4}, {{5, 21}}, "a window needs causal");
  refused({}, {{5, 3, 7}}, "must be {steps, features}");
  refused({}, {{5, 4}, {6, 4}, {7, 4}}, "numbers of keys and values differ");
  refused({.heads = 2}, {{5, 4}, {6, 2}, {6, 4}}, "equally many features");
  refused({}, {{5, 12}, {5, 4}}, "the last input must be a mask");
  refused({}, {{5, 12}, {2}}, "the last input must be a mask");
  refused({}, {{5, 4}, {6, 4}, {6, 4}, {6, 5}}, "the last input must be a mask");
  refused({}, {}, "one to four inputs");
}
