// Streams of networks from configs in blocks of steps.
#include "run/streams.hpp"

#include "support/custom_layers.hpp"
#include "support/heap.hpp"

#include <coldpress/coldpress.hpp>
#include <coldpress/dynamic.hpp>
#include <coldpress/dynamic/adapter.hpp>
#include <coldpress/dynamic/register_layer.hpp>
#include <coldpress/dynamic/to_config.hpp>
#include <coldpress/stream.hpp>

#include <future>

using namespace coldpress;
using namespace coldpress::test;

namespace {

constexpr auto gated = graph([](auto in) {
  auto const x = in | Convolution{.num_output = 6, .filter_shape = 3, .dilation = 5};
  auto const z = (slice(x, 0, 3, along{-1}) | TanH{}) * (slice(x, 3, 6, along{-1}) | Sigmoid{});
  return ((z | Convolution{.num_output = 2, .filter_shape = 1}) + in) | Rnn{.hidden_size = 9} |
         Convolution{.num_output = 1, .filter_shape = 2} | LeakyReLU{.slope = 0.1f};
});
using Net = Network<Graph<gated>, Shape{2}>;

/// Two filters of one value, of which one sees much further back.
template <bool longest_first>
constexpr auto forked = graph([](auto in) {
  auto const x = in | Convolution{.num_output = 3, .filter_shape = 1};
  auto const filtered = [&](Index dilation) {
    return x | Convolution{.num_output = 2, .filter_shape = 3, .dilation = dilation};
  };
  auto const first = filtered(longest_first ? 300 : 1);
  return concat(along{-1}, first, filtered(longest_first ? 1 : 300));
});

dynamic::Layer made(std::string const& backend, std::optional<Shape> input = {}) {
  return dynamic::Layer::from_config(dynamic::Backend{backend}, dynamic::to_config<Graph<gated>, Shape{2}>(), input, 4);
}
std::vector<float> by_step(dynamic::Layer& network, std::vector<float> const& x, std::size_t in = 2) {
  std::vector<float> all;
  network.reset();
  for (std::size_t t = 0; t + in <= x.size(); t += in) {
    auto const y = network.step({x.data() + t, in});
    all.insert(all.end(), y.begin(), y.end());
  }
  return all;
}

}  // namespace

TEST_CASE("blocks of any size give the bits of single steps, on every instruction set") {
  auto const x = noise(2 * 300);
  dynamic::LayerConfig const stacked[] = {dynamic::to_config<Graph<stacks>, Shape{1}>(),
                                          dynamic::to_config<Graph<usual_stacks>, Shape{1}>()};
  for (std::string const backend : {"cpu:v2", "cpu:v3", "cpu:v4", "cpu:reference"}) {
    INFO(backend);
    try {
      dynamic::Backend const runs{backend};
    } catch (UnsupportedError const& error) {
      WARN("skipped: " << error.what());
      continue;
    }
    auto network = made(backend);
    check_cuts([&](Index most) { return dynamic::Stream{network, most}; }, x, 2, by_step(network, x));
    for (dynamic::LayerConfig const& config : stacked) {
      auto together = dynamic::Layer::from_config(dynamic::Backend{backend}, config, {}, 4);
      check_cuts([&](Index most) { return dynamic::Stream{together, most}; }, x, 1, by_step(together, x, 1));
    }
  }
}

TEST_CASE("recurrent layers above one another give the bits of single steps, on every instruction set") {
  auto const x = noise(3 * 70);
  Rnn const kinds[] = {{.rnn_type = RnnType::lstm},
                       {.rnn_type = RnnType::gru},
                       {.rnn_type = RnnType::gru, .reset_after = false},
                       {.rnn_type = RnnType::tanh},
                       {.rnn_type = RnnType::relu}};
  for (std::string const backend : {"cpu:v2", "cpu:v3", "cpu:v4"}) {
    try {
      dynamic::Backend const runs{backend};
    } catch (UnsupportedError const&) {
      continue;  // the test above says so
    }
    for (Rnn layer : kinds) {
      for (Index const units : {3, 8, 9, 20}) {  // of half a vector, one and several
        for (Index const layers : {2, 3, 4}) {
          for (RnnOutput const output : {RnnOutput::sequence, RnnOutput::layers}) {
            layer.hidden_size = units, layer.num_layers = layers, layer.output = output;
            if (layers != 2 && units != 8) continue;
            INFO(backend << ", type " << static_cast<int>(layer.rnn_type) << ", reset after " << layer.reset_after
                         << ", " << layers << " layers of " << units << " units, output " << static_cast<int>(output));
            dynamic::SequentialConfig config;
            config.add_input("x", Shape{3}).add_layer({"rnn", layer});
            auto network = dynamic::Layer::from_config(dynamic::Backend{backend}, {"network", config}, {}, 4);
            check_cuts([&](Index most) { return dynamic::Stream{network, most}; }, x, 3, by_step(network, x, 3));
          }
        }
      }
    }
  }
}

TEST_CASE("a layer of the user's with a state streams in blocks as in steps") {
  dynamic::register_layer<custom_layers::Delay>();
  auto const x = noise(3 * 200);
  dynamic::SequentialConfig config;
  config.add_input("x", Shape{1, 3}).add_layer({"first", custom_layers::Delay{}}).add_layer({"middle", TanH{}});
  config.add_layer({"filter", Convolution{.num_output = 3, .filter_shape = 4, .dilation = 9}});
  config.add_layer({"second", custom_layers::Delay{}});
  for (std::string const backend : {"cpu", "cpu:reference"}) {
    auto network = dynamic::Layer::from_config(dynamic::Backend{backend}, {"network", config}, {}, 4);
    check_cuts([&](Index most) { return dynamic::Stream{network, most}; }, x, 3, by_step(network, x, 3));
    CHECK(dynamic::Stream{network}.past() == 29);
    CHECK(dynamic::Stream{network}.warm_up() == 29);
  }
}

TEST_CASE("a value is remembered for as long as the one of its readers needs that sees furthest back") {
  auto const x = noise(1500);
  auto const check = [&](dynamic::LayerConfig const& config) {
    auto network = dynamic::Layer::from_config(dynamic::Backend{"cpu"}, config, {}, 4);
    check_cuts([&](Index most) { return dynamic::Stream{network, most}; }, x, 1, by_step(network, x, 1));
  };
  check(dynamic::to_config<Graph<forked<true>>, Shape{1}>());
  check(dynamic::to_config<Graph<forked<false>>, Shape{1}>());
}

TEST_CASE("a config streams with the bits of its type") {
  auto network = made("cpu");
  Net const type{4};
  auto const x = noise(2 * 300);
  Stream stream{type};
  dynamic::Stream other{network};
  CHECK(same_bits(streamed(stream, x, 2, 1, {64}), streamed(other, x, 2, 1, {17})));
}

TEST_CASE("the config of a network for sequences makes one for a stream") {
  auto config = dynamic::to_config<Sequential<Convolution{.num_output = 3, .filter_shape = 4}, TanH{}>, Shape{50, 1}>();
  auto whole = dynamic::Layer::from_config({}, config, {}, 2),
       step = dynamic::Layer::from_config({}, config, Shape{1}, 2);
  CHECK_THROWS_AS((dynamic::Stream{whole}), ShapeError);
  auto const x = noise(50);
  auto const y = whole.predict(x);
  dynamic::Stream stream{step};
  CHECK(same_bits(streamed(stream, x, 1, 3, {16}), std::vector<float>(y.begin(), y.end())));
}

TEST_CASE("streams are made while others play") {  // the preset tsan sees whether they share what one of them writes
  auto network = made("cpu");
  auto const x = noise(2 * 300);
  auto const wanted = by_step(network, x);
  auto const streamed_again = [&](int times) {
    bool same = true;
    for (int n = 0; n < times; ++n) {
      dynamic::Stream stream{network};
      same = same && same_bits(streamed(stream, x, 2, 1, {17}), wanted);
    }
    return same;
  };
  auto elsewhere = std::async(std::launch::async, streamed_again, 20);
  CHECK(streamed_again(20));
  CHECK(elsewhere.get());
}

TEST_CASE("weights may change between blocks, which allocate nothing") {
  auto network = made("cpu");
  dynamic::Stream stream{network};
  auto const x = noise(2 * 64);
  std::vector<float> y(64), z(64);
  std::size_t const before = test::heap.calls;
  stream.process(x, y);
  CHECK(test::heap.calls == before);
  network.executable().clear(dynamic::Executable::data);
  stream.process(x, z);
  CHECK(z == std::vector<float>(64));
}

TEST_CASE("a stream keeps its network when the layer gets another one or is destroyed") {
  auto const x = noise(2 * 20);
  auto const played = [&](dynamic::Stream& stream) {
    std::vector<float> y(20);
    stream.process(x, y);
    return y;
  };
  auto layer = std::make_unique<dynamic::Layer>(made("cpu"));
  dynamic::Stream stream{*layer, 16};
  auto const expected = played(stream);
  stream.reset();
  *layer = dynamic::Layer::from_config(dynamic::Backend{"cpu"}, {"other", Linear{3}}, Shape{1}, 1);
  CHECK(played(stream) == expected);
  layer.reset();
  dynamic::Stream copy = stream;
  stream.reset(), copy.reset();
  CHECK(played(copy) == expected);
  CHECK(played(stream) == expected);
}
TEST_CASE("what cannot stream says so") {
  auto const bad = dynamic::Layer::from_config(
      {}, dynamic::to_config<Sequential<Rnn{.hidden_size = 2, .direction_mode = DirectionMode::bi_directional}>,
                             Shape{1, 1}>());
  CHECK_THROWS_WITH((dynamic::Stream{bad}), Catch::Contains("rnn1"));
  Net type{4};
  auto const adapted = dynamic::Layer::adapt(type);
  CHECK_THROWS_AS((dynamic::Stream{adapted}), UnsupportedError);
}
