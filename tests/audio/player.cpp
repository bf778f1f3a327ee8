// A player of models: what it plays, and how it goes from one model to the next.
#include "audio/models.hpp"

#include "support/catch.hpp"
#include "support/heap.hpp"

#include <coldpress/coldpress.hpp>
#include <coldpress/dynamic/to_config.hpp>
#include <coldpress/persist.hpp>

#include <atomic>
#include <thread>

using namespace audio_test;

namespace {

constexpr double fade = 0.02 * 48000;

void write_juice(std::string const& path) {
  using Type = Sequential<Convolution{.num_output = 3, .filter_shape = 4}, TanH{},
                          Convolution{.num_output = 1, .filter_shape = 1}>;
  save(Network<Type, Shape{16, 1}>{3}, path);
}

}  // namespace

TEST_CASE("without a model the sound goes through") {
  audio::Player player;
  auto const x = tones(500);
  CHECK(same_bits(played(player, x, {64}), x));
  CHECK(player.model() == nullptr);
  CHECK(player.latency() == 0);
  std::vector<float> y = x;
  player.process(y, y);
  CHECK(same_bits(y, x));
  CHECK_THROWS_AS(player.process(x, std::span{y}.first(499)), ShapeError);
}

TEST_CASE("a model plays from the first sample, the same in blocks of all sizes, and as its description says") {
  TemporaryFolder folder;
  auto const x = tones(2000);
  auto const model = wavenet(3, x);
  auto const path = folder.put("model.NAM", model.text);
  auto const y = alone(path, x);
  double most = 0;
  for (std::size_t t = 0; t < x.size(); ++t) most = std::max(most, std::abs(y[t] - model.y[t][0]));
  CHECK(most < 1e-5);
  for (std::vector<std::size_t> const& blocks : {std::vector<std::size_t>{1}, {7}, {2000}, {3, 0, 64, 500}}) {
    audio::Player player{{.most = 100}};
    player.load(path);
    CHECK(same_bits(played(player, x, blocks), y));
    player.reset();
    CHECK(same_bits(played(player, x, blocks), y));
  }
}

TEST_CASE("a model that is handed over before the first block, or before one after reset, is known at once") {
  TemporaryFolder folder;
  auto const a = folder.put("a.nam", amplifier(0.5)), b = folder.put("b.nam", amplifier(0.3));
  audio::Player player;
  player.load(a);
  player.load(b);
  REQUIRE(player.model());
  CHECK(player.model()->path() == b);
  CHECK(player.changes() == 1);
  played(player, tones(64), {64});
  CHECK(player.changes() == 1);
  player.reset();
  player.load(a);
  CHECK(player.model()->path() == a);
  CHECK(player.changes() == 2);
  CHECK(player.has_retired());
}

TEST_CASE("a network that was trained on sequences plays from a file of coldpress") {
  TemporaryFolder folder;
  auto const path = folder / "model.juice";
  write_juice(path);
  auto const x = tones(16);
  auto whole = dynamic::Layer::load(dynamic::Backend{"cpu"}, path);
  auto const expected = whole.predict(x);
  CHECK(same_bits(alone(path, x), {expected.begin(), expected.end()}));
}

TEST_CASE("levels are brought to -18 dB, if the file says how loud it is, and gains are in dB") {
  TemporaryFolder folder;
  auto const loud = folder.put("a.nam", amplifier(0.5, 0, R"(, "metadata": {"loudness": -6.0})"));
  auto const unknown = folder.put("b.nam", amplifier(0.5));
  std::vector<float> const one(20000, 1);
  CHECK(alone(loud, one)[0] == Approx(0.5 * std::pow(10, -12 / 20.0)));
  CHECK(alone(unknown, one)[0] == Approx(0.5));
  auto const converted = folder / "a.juice";
  persist::write_model(converted, convert::read_nam(loud).model);
  CHECK(same_bits(alone(converted, one), alone(loud, one)));
  audio::Player player;
  player.load(loud);
  player.set_normalized(false);
  CHECK(played(player, one, {64}).back() == Approx(0.5));
  player.set_input_gain(6);
  player.set_output_gain(-20);
  auto const y = played(player, one, {64});
  CHECK(y.back() == Approx(0.5 * std::pow(10, -14 / 20.0)));
  CHECK(largest_step(y) < 0.01);  // gains do not jump
}

TEST_CASE("one model fades into the other, and then plays as if it had from the beginning") {
  TemporaryFolder folder;
  auto const a = folder.put("a.nam", wavenet(3).text), b = folder.put("b.nam", wavenet(8).text);
  auto const x = tones(4000);
  auto const of_a = alone(a, x), of_b = alone(b, x);
  audio::Player player;
  player.load(a);
  std::vector<float> const first(x.begin(), x.begin() + 1024), rest(x.begin() + 1024, x.end());
  auto y = played(player, first, {64});
  CHECK(player.changes() == 1);
  player.load(b);
  CHECK(player.model()->path() == a);
  auto const more = played(player, rest, {64});
  CHECK(player.model()->path() == b);
  CHECK(player.changes() == 2);
  CHECK(player.has_retired());
  player.collect();
  CHECK_FALSE(player.has_retired());
  y.insert(y.end(), more.begin(), more.end());
  auto const past = static_cast<std::size_t>(player.model()->past());
  CHECK(past > 0);
  CHECK(std::equal(y.begin(), y.begin() + 1024 + static_cast<std::ptrdiff_t>(past), of_a.begin()));
  CHECK(same_bits(y, of_b, 1024 + past + static_cast<std::size_t>(fade)));
  CHECK(largest_step(y) <= step_bound({of_a, of_b}, fade));
  CHECK_FALSE(same_bits(of_a, of_b));
}

TEST_CASE("a thousand models are swapped while sound runs, without a jump, a leak or a call of the heap") {
  TemporaryFolder folder;
  std::vector<std::string> const paths{folder.put("a.nam", wavenet(3).text), folder.put("b.nam", wavenet(8).text),
                                       folder.put("c.nam", amplifier(-0.7)), folder / "d.juice"};
  write_juice(paths[3]);
  auto const x = loop(1200);
  audio::Player player;
  std::vector<float> y(x.size());
  std::vector<std::vector<float>> sounds;
  for (auto const& path : paths) {
    audio::Player one;
    one.load(path);
    sounds.push_back(played(one, x, {64}));   // as the sound begins,
    auto const again = played(one, x, {64});  // and as it goes on
    sounds.push_back(again);
  }
  double const bound = step_bound(sounds, fade);
  player.load(paths[3]);
  player.process(x, y);
  float last = y.back();
  std::size_t called = 0;
  long living = 0;
  double most = 0;
  for (std::size_t swap = 0; swap < 1000; ++swap) {
    player.load(paths[swap % 4]);
    std::size_t const before = test::heap.calls;
    long const had = test::heap.living;
    for (std::size_t first = 0; first < x.size(); first += 60)
      player.process({x.data() + first, 60}, {y.data() + first, 60});
    called += test::heap.calls - before + (test::heap.living != had);
    most = std::max({most, std::abs(double{y.front()} - last), largest_step(y)});
    last = y.back();
    if (swap == 99) living = test::heap.living;
  }
  CHECK(player.changes() == 1001);
  CHECK(called == 0);
  CHECK(most <= bound);
  CHECK(test::heap.living == living);
}

TEST_CASE("models that are loaded faster than they fade replace each other, whatever the threads do") {
  TemporaryFolder folder;
  std::vector<std::string> const paths{folder.put("a.nam", wavenet(3).text), folder.put("b.nam", amplifier(0.3))};
  auto const x = tones(64);
  audio::Player player;
  std::atomic<bool> done = false;
  std::thread loader{[&] {
    for (std::size_t swap = 0; swap < 300; ++swap) player.load(paths[swap % 2]);
    done = true;
  }};
  std::vector<float> y(64);
  while (!done) {
    player.process(x, y);
    CHECK(std::ranges::all_of(y, [](float value) { return std::abs(value) < 10; }));
  }
  loader.join();
  for (int block = 0; block < 200; ++block) player.process(x, y);
  CHECK(player.model()->path() == paths[1]);
}

TEST_CASE("damaged files are refused, and the old model plays on") {
  TemporaryFolder folder;
  auto const good = folder.put("good.nam", wavenet(3).text);
  write_juice(folder / "good.juice");
  auto const x = tones(4000);
  auto const expected = alone(good, x);
  audio::Player player;
  player.load(good);
  std::vector<float> y(x.size());
  std::size_t refused = 0, place = 0;
  for (std::string const ending : {".nam", ".juice"}) {
    for (auto const& bytes : damaged(content(folder / ("good" + ending)), 100, ending == ".nam")) {
      auto const path = folder.put("bad" + ending, bytes);
      try {
        player.load(path);
      } catch (Error const& error) {
        refused += std::string{error.what()}.starts_with(path + ": ");
      }
      player.process({x.data() + place, 20}, {y.data() + place, 20});
      place += 20;
    }
  }
  CHECK(refused == 200);
  CHECK(same_bits(y, expected));
  CHECK_THROWS_AS(player.load(folder / "none.nam"), FileError);
  CHECK_THROWS_AS(player.load(folder.put("a.nam", amplifier(1, 0, R"(, "sample_rate": 3)"))), DataError);
  CHECK_THROWS_AS(player.load(folder.put("a.nam", amplifier(1, 0, R"(, "metadata": {"loudness": 1e9})"))), DataError);
  save(Network<Sequential<Linear{2}>, Shape{1}>{3}, folder / "two.juice");
  CHECK_THROWS_AS(player.load(folder / "two.juice"), ShapeError);
  persist::Model scaled = persist::read_model(folder / "good.juice");
  scaled.transforms = {data::Scale{2}};
  persist::write_model(folder / "scaled.juice", scaled);
  CHECK_THROWS_AS(player.load(folder / "scaled.juice"), UnsupportedError);
  CHECK_THROWS_AS((audio::Player{{.sample_rate = 0}}), DataError);
  CHECK_THROWS_AS((audio::Player{{.most = 0}}), ShapeError);
}

TEST_CASE("values that are not finite do not stay") {
  TemporaryFolder folder;
  auto const path = folder.put("a.nam", wavenet(3).text);
  auto const x = tones(1000);
  audio::Player player;
  player.load(path);
  std::vector<float> bad(64, std::numeric_limits<float>::quiet_NaN()), y(64);
  bad[3] = std::numeric_limits<float>::infinity();
  player.process(bad, y);
  CHECK(std::ranges::all_of(y, [](float value) { return std::isfinite(value); }));
  audio::PlayableModel model{path};
  model.process(bad, y);
  CHECK(y == std::vector<float>(64));
  CHECK(same_bits(played(model, x, {64}), alone(path, x)));
}
