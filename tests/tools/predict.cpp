#include "tools/command.hpp"

#include <coldpress/data/npy.hpp>
#include <coldpress/persist.hpp>

#include <cmath>
#include <cstring>

namespace coldpress::command {
namespace {

struct Case {
  TemporaryFolder folder;
  std::string model = folder / "net.juice", input = folder / "x.npy", output = folder / "y.npy";
  std::vector<float> x = std::vector<float>(17 * 6);

  Case() {
    dynamic::SequentialConfig net;
    net.add_input("data", {6})
        .add_layer({"fc1", Linear{.output_size = 9}})
        .add_layer({"drop", Dropout{.probability = 0.5f}});
    net.add_layer({"relu", ReLU{}}).add_layer({"fc2", Linear{.output_size = 6}}).add_layer({"fold", Reshape{{2, 3}}});
    dynamic::Layer::from_config(dynamic::Backend{}, {"net", net}, {}, 5).save(model);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i));
    data::write_npy(input, std::vector<Index>{17, 2, 3}, x);
  }
  std::vector<std::string> predict(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"predict", "--model", model, "--input", input, "--output", output});
    return more;
  }
};

TEST_CASE("predict gives the library's outputs, bit for bit, in batches of any size") {
  if (!has_command()) return;
  Case const c;
  for (char const* backend : {"cpu", "cpu:reference"}) {
    auto layer = dynamic::Layer::load(dynamic::Backend{backend}, c.model);
    layer.set_mode(dynamic::Mode::inference);
    for (std::size_t const batch :
         {std::size_t{64}, std::size_t{17}, std::size_t{5}, std::size_t{1}, std::size_t{1} << 40}) {
      INFO(backend << ", batch " << batch);
      std::vector<float> y;
      for (std::span<float const> left{c.x}; !left.empty();) {
        auto const part = layer.forward(left.first(std::min(left.size() / 6, batch) * 6));
        y.insert(y.end(), part.begin(), part.end());
        left = left.subspan(part.size());  // as many values come out as go in
      }
      std::string const text = output(c.predict({"--batch", std::to_string(batch), "--backend", backend}));
      CHECK(text == "17 samples of {2, 3} to {2, 3} in " + c.output + "\n");
      auto const found = data::read_npy(c.output);
      CHECK(found.extents == std::vector<Index>{17, 2, 3});
      REQUIRE(found.values.size() == y.size());
      CHECK(std::memcmp(found.values.data(), y.data(), y.size() * sizeof(float)) == 0);
    }
  }
}

TEST_CASE("predict refuses what does not fit, and leaves the output as it was") {
  if (!has_command()) return;
  Case const c;
  auto const put = [&](std::vector<Index> extents) {
    Index size = 1;
    for (Index const extent : extents) size *= extent;
    data::write_npy(c.input, extents, std::vector<float>(static_cast<std::size_t>(size)));
  };
  c.folder.put("y.npy", "old");
  put({17, 5});
  CHECK(contains(failure(c.predict()), c.model + ": layer 'net': the network takes samples of shape {6}, not {5}"));
  put({17});
  CHECK(contains(failure(c.predict()), "the network takes samples of shape {6}, not {1}"));
  put({0, 6});
  CHECK(failure(c.predict()) == c.input + ": contains no values");
  put({});
  CHECK(failure(c.predict()) == c.input + ": has 0 extents, expected 1 to 9, samples first");
  c.folder.put("x.npy", "no array");
  CHECK(contains(failure(c.predict()), c.input + ": is not a .npy file"));
  CHECK(contains(failure(c.predict({"--backend", "abacus"})), "no backend 'abacus'"));
  c.folder.put("net.juice", "no network");
  CHECK(contains(failure(c.predict()), c.model + ": is not a Cap'n Proto message"));
  CHECK(content(c.output) == "old");
  CHECK(contains(failure({"predict", "--model", c.model, "--input", c.input, "--output", c.folder / "nowhere/y.npy"}),
                 "nowhere"));
}

}  // namespace
}  // namespace coldpress::command
