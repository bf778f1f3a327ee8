// The LV2 plugin in a host of our own.
#include "audio/models.hpp"
#include "lv2/host.hpp"

#include "support/catch.hpp"
#include "support/heap.hpp"

using namespace audio_test;
using lv2_test::Host;

namespace {

constexpr double fade = 0.02 * 48000;
constexpr std::uint32_t block = 64;

/// Runs blocks of 64 over x; `after` is called after each with what the plugin says that it plays.
std::vector<float> run(Host& host, std::vector<float> const& x, auto after) {
  std::vector<float> y(x.size());
  for (std::size_t first = 0; first + block <= x.size(); first += block)
    after(host.run(x.data() + first, y.data() + first, block));
  return y;
}
std::vector<float> run(Host& host, std::vector<float> const& x) {
  return run(host, x, [](char const*) {});
}

}  // namespace

TEST_CASE("the plugin plays the file that a message names, and says so") {
  TemporaryFolder folder;
  auto const path = folder.put("a.nam", amplifier(0.5, 0, R"(, "metadata": {"loudness": -12.0})"));
  std::vector<float> const one(64 * 400, 1);
  Host host{48000};
  CHECK(same_bits(run(host, one), one));
  CHECK(host.controls[3] == 0);
  host.set_model(path);
  host.refuses_jobs = true;  // the queue of the worker may be full
  run(host, one);
  CHECK_FALSE(host.work());
  host.refuses_jobs = false;
  run(host, {one.begin(), one.begin() + 64});
  CHECK(host.jobs == 1);
  REQUIRE(host.work());
  std::string told;
  int times = 0;
  auto y = run(host, one, [&](char const* path_played) {
    if (path_played) told = path_played, ++times;
  });
  CHECK(told == path);
  CHECK(times == 1);
  CHECK(y.back() == Approx(0.5 * std::pow(10, -6 / 20.0)));
  CHECK(largest_step(y) <= 0.75 * std::numbers::pi / 2 / fade * 1.001);
  host.get_model();
  CHECK(host.run(one.data(), y.data(), block) == path);
  host.controls = {6, -12, 0, -1};
  CHECK(run(host, one).back() == Approx(0.5 * std::pow(10, -6 / 20.0)));
  CHECK(host.log.empty());
}

TEST_CASE("1,000 models are swapped while the plugin runs: no call of the heap in run, no jump, no leak") {
  TemporaryFolder folder;
  std::vector<std::string> const paths{folder.put("a.nam", wavenet(3).text), folder.put("b.nam", wavenet(8).text),
                                       folder.put("c.nam", amplifier(-0.7))};
  auto const x = loop(64 * 18);
  std::vector<std::vector<float>> sounds;
  for (auto const& path : paths) {
    audio::Player one;
    one.load(path);
    sounds.push_back(played(one, x, {64}));
    sounds.push_back(played(one, x, {64}));
  }
  double const bound = step_bound(sounds, fade);
  Host host{48000};
  host.set_model(paths[2]);
  run(host, x);
  host.work();
  float last = run(host, x).back();
  std::size_t called = 0, wrong = 0, worked = 0;
  long living = 0;
  double most = 0;
  std::vector<float> y(x.size());
  for (std::size_t swap = 0; swap < 1000; ++swap) {
    host.set_model(paths[swap % 3]);
    bool told = false;
    for (std::size_t first = 0; first < x.size(); first += block) {
      std::size_t const before = test::heap.calls;
      long const had = test::heap.living;
      char const* const path = host.run(x.data() + first, y.data() + first, block);
      called += test::heap.calls - before + (test::heap.living != had);
      told = told || (path && path == paths[swap % 3]);
      while (host.work()) ++worked;
    }
    wrong += !told;
    most = std::max({most, std::abs(double{y.front()} - last), largest_step(y)});
    last = y.back();
    if (swap == 99) living = test::heap.living;
  }
  CHECK(wrong == 0);
  CHECK(worked == 2000);  // one model is loaded, and the other destroyed
  CHECK(called == 0);
  CHECK(most <= bound);
  CHECK(test::heap.living <= living);
  CHECK(host.log.empty());
}

TEST_CASE("200 damaged files are refused in the log, and the old model plays on") {
  TemporaryFolder folder;
  auto const good = folder.put("good.nam", wavenet(3).text);
  auto const x = tones(64 * 220);
  auto const expected = alone(good, x);
  auto const files = damaged(content(good), 200, true);
  Host host{48000};
  host.set_model(good);
  std::vector<float> y(x.size());
  host.run(x.data(), y.data(), 0);
  host.work();
  std::size_t told = 0;
  for (std::size_t k = 0; k < 220; ++k) {
    auto const path = folder.put("bad.nam", files[k % 200]);
    if (k > 0 && k <= 200) host.set_model(path);
    char const* const plays = host.run(x.data() + k * 64, y.data() + k * 64, block);
    told += k > 0 && plays && plays == good;
    host.work();
  }
  CHECK(told == 200);  // the host learns each time that the old one plays on
  CHECK(same_bits(y, expected));
  std::size_t lines = 0;
  for (std::size_t at = 0; (at = host.log.find("bad.nam: ", at)) != std::string::npos; ++at) ++lines;
  CHECK(lines == 200);
  CHECK_THAT(host.log, Catch::EndsWith("; the model before it plays on\n"));
  host.set_model(std::string(5000, 'a'));  // longer than a path can be
  CHECK(host.run(x.data(), y.data(), block) == good);
  CHECK(host.jobs == 0);
}

TEST_CASE("the path is saved as the host maps it, and restored while the plugin runs") {
  TemporaryFolder folder;
  auto const a = folder.put("a.nam", amplifier(0.5)), b = folder.put("b.nam", amplifier(0.25));
  std::vector<float> const one(64 * 100, 1);
  Host host{48000};
  CHECK(host.save().empty());
  CHECK(host.restore({}) == LV2_STATE_SUCCESS);
  host.set_model(a);
  run(host, one);
  host.work();
  CHECK(run(host, one).back() == Approx(0.5));
  auto const state = host.save();
  REQUIRE(state.size() == 1);
  auto const& stored = state.begin()->second;
  CHECK(state.begin()->first == host.urid(lv2_test::model_uri));
  CHECK(stored.bytes == "saved:" + a + '\0');
  CHECK(stored.type == host.urid(LV2_ATOM__Path));
  CHECK(stored.flags == (LV2_STATE_IS_POD | LV2_STATE_IS_PORTABLE));
  host.set_model(b);
  run(host, one);
  while (host.work()) {
  }
  CHECK(run(host, one).back() == Approx(0.25));
  CHECK(host.restore(state) == LV2_STATE_SUCCESS);
  CHECK(run(host, one).back() == Approx(0.5));
  auto missing = state;
  missing.begin()->second.bytes = "saved:/nowhere.nam";
  CHECK(host.restore(missing) == LV2_STATE_ERR_UNKNOWN);
  CHECK_THAT(host.log, Catch::Contains("/nowhere.nam"));
  missing.begin()->second.type = 0;
  CHECK(host.restore(missing) == LV2_STATE_ERR_BAD_TYPE);
  CHECK(run(host, one).back() == Approx(0.5));
}

TEST_CASE("the latency of a model for another sample rate is on its port") {
  TemporaryFolder folder;
  auto const path = folder.put("a.nam", amplifier(0.5, 0, R"(, "sample_rate": 44100)"));
  std::vector<float> const one(64 * 100, 1);
  Host host{48000};
  host.set_model(path);
  run(host, one);
  host.work();
  auto const y = run(host, one);
  if (host.log.find("libsamplerate0-dev") != std::string::npos) {
    WARN("skipped: " << host.log);
    return;
  }
  CHECK(y.back() == Approx(0.5).margin(1e-3));
  CHECK(host.controls[3] > 0);
}

TEST_CASE("a host without any feature can play the file of an environment variable") {
  TemporaryFolder folder;
  auto const path = folder.put("a.nam", amplifier(0.5));
  ::setenv("COLDPRESS_LV2_MODEL", path.c_str(), 1);
  Host host{48000, false};
  ::unsetenv("COLDPRESS_LV2_MODEL");
  std::vector<float> const one(64, 1);
  CHECK(run(host, one) == std::vector<float>(64, 0.5));
}
