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
    net.add_input("data", {6}).add_layer({"fc1", Linear{.output_size = 9}}).add_layer({"drop", Dropout{.probability = 0.5f}});
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
    auto const y = layer.forward(std::span<float const>{c.x});
    for (char const* batch : {"64", "17", "5", "1", "1099511627776"}) {
      INFO(backend << ", batch " << batch);
      std::string const text = output(c.predict({"--batch", batch, "--backend", backend}));
      CHECK(text == "17 samples of {2, 3} to {2, 3} in " + c.output + "\n");
      auto const found = data::read_npy(c.output);
      CHECK(found.extents == std::vector<Index>{17, 2, 3});
      REQUIRE(found.values.size() == y.size());
      // BLAS may sum a smaller batch in another order.
      if (std::string_view{backend} == "cpu" || std::atoi(batch) >= 17) {
        CHECK(std::memcmp(found.values.data(), y.data(), y.size_bytes()) == 0);
      } else {
        for (std::size_t i = 0; i < y.size(); ++i) CHECK(found.values[i] == Approx(y[i]).margin(1e-6));
      }
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
  CHECK(failure(c.predict()) == c.model + ": the network takes samples of shape {6}, not {5}");
  put({17});
  CHECK(failure(c.predict()) == c.model + ": the network takes samples of shape {6}, not {1}");
  put({0, 6});
  CHECK(failure(c.predict()) == c.input + ": holds no value");
  put({});
  CHECK(failure(c.predict()) == c.input + ": has 0 extents, wanted 1 to 9, samples first");
  c.folder.put("x.npy", "no array");
  CHECK(contains(failure(c.predict()), c.input + ": is not a .npy file"));
  CHECK(contains(failure(c.predict({"--backend", "abacus"})), "no backend 'abacus'"));
  c.folder.put("net.juice", "no network");
  CHECK(contains(failure(c.predict()), c.model + ": is no Cap'n Proto message"));
  CHECK(content(c.output) == "old");
  CHECK(contains(failure({"predict", "--model", c.model, "--input", c.input, "--output", c.folder / "nowhere/y.npy"}), "nowhere"));
}

}  // namespace
}  // namespace coldpress::command
