#include "tools/command.hpp"

#include <coldpress/data/npy.hpp>
#include <coldpress/data/sound.hpp>
#include <coldpress/dynamic/stream.hpp>
#include <coldpress/persist.hpp>

#include <cmath>

namespace coldpress::command {
namespace {

constexpr Index frames = 300;

/// A network that hears 6 steps back, and a signal in a WAV file.
struct Case {
  TemporaryFolder folder;
  std::string const model = folder / "net.juice", input = folder / "x.wav", output = folder / "y.wav";
  data::Sound sound{.sample_rate = 44100, .values = std::vector<float>(frames)};

  Case() {
    dynamic::SequentialConfig net;
    net.add_input("data", {1})
        .add_layer({"conv", Convolution{.num_output = 4, .filter_shape = 3, .dilation = 2}})
        .add_layer({"tanh", TanH{}})
        .add_layer({"conv2", Convolution{.num_output = 1, .filter_shape = 3}});
    dynamic::Layer::from_config(dynamic::Backend{}, {"net", net}, {}, 5).save(model);
    for (std::size_t i = 0; i < sound.values.size(); ++i) sound.values[i] = std::sin(static_cast<float>(i) * 0.1f);
    data::write_sound(input, sound);
  }
  std::vector<std::string> stream(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"stream", "--model", model, "--input", input, "--output", output});
    return more;
  }
};

TEST_CASE("stream gives the library's output, bit for bit, in blocks of any size") {
  if (!has_command()) return;
  Case const c;
  auto const network = dynamic::Layer::load(dynamic::Backend{}, c.model);
  dynamic::Stream through{network, 1};
  through.warm_up();
  std::vector<float> expected(c.sound.values.size());
  through.process(c.sound.values, expected);
  for (char const* block : {"1", "7", "64", "1000"}) {
    CHECK(output(c.stream({"--block", block})) == "300 steps, after 6 of silence, written to " + c.output + "\n");
    data::Sound const found = data::read_sound(c.output);
    CHECK(found.sample_rate == c.sound.sample_rate);
    CHECK(found.channels == 1);
    CHECK(found.values == expected);
  }
}

TEST_CASE("stream reads and writes .npy, and stores integers where asked") {
  if (!has_command()) return;
  Case const c;
  output(c.stream());
  auto const expected = data::read_sound(c.output).values;
  std::string const x = c.folder / "x.npy", y = c.folder / "y.npy";
  data::write_npy(x, std::vector<Index>{frames}, c.sound.values);
  output({"stream", "--model", c.model, "--input", x, "--output", y});
  auto const found = data::read_npy(y);
  CHECK(found.extents == std::vector<Index>{frames});
  CHECK(found.values == expected);

  output(c.stream({"--format", "pcm16"}));
  auto const rounded = data::read_sound(c.output).values;
  REQUIRE(rounded.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK(std::abs(rounded[i] - expected[i]) <= 0.5f / 32768);
}

TEST_CASE("stream refuses signals that do not fit, and changes no file then") {
  if (!has_command()) return;
  Case const c;
  c.folder.put("y.wav", "kept");
  data::write_sound(c.input, {.channels = 2, .values = std::vector<float>(20)});
  CHECK(failure(c.stream()) == "'" + c.input + "' has 2 values per step, the network takes 1");
  std::string const x = c.folder / "x.npy";
  data::write_npy(x, std::vector<Index>{5, 3}, std::vector<float>(15));
  CHECK(failure({"stream", "--model", c.model, "--input", x, "--output", c.output}) ==
        "'" + x + "' has 3 values per step, the network takes 1");
  std::vector<float> values(12, 0.5f);
  values[7] = NAN;
  data::write_npy(x, std::vector<Index>{12}, values);
  for (std::string const& to : {c.folder / "out.npy", c.output}) {
    CHECK(failure({"stream", "--model", c.model, "--input", x, "--output", to}) ==
          x + ": value 0 of sample 7 is nan, expected finite values");
  }
  CHECK(!std::filesystem::exists(c.folder / "out.npy"));
  // What is done to samples is not done to a signal, and the silence before it would be another.
  persist::Model model = persist::read_model(c.model);
  model.transforms = {data::Noise{1}, data::Scale{2}};
  persist::write_model(c.model, model);
  data::write_sound(c.input, c.sound);
  CHECK(failure(c.stream()) == c.model + ": transforms[1] scale: is for samples, and a signal is played as it is: " +
                                   "train the network on signals without this transform");
  CHECK(content(c.output) == "kept");
  CHECK(run(c.stream({"--block", "0"})).code == 2);
  CHECK(run(c.stream({"--format", "pcm12"})).code == 2);
  std::string const text = c.folder / "y.txt";
  CHECK(run({"stream", "--model", c.model, "--input", c.input, "--output", text}).code == 2);
  CHECK(!std::filesystem::exists(text));
}

}  // namespace
}  // namespace coldpress::command
