// The networks of amp.hpp are those of .nam files.
#include <coldpress/amp.hpp>
#include <coldpress/coldpress.hpp>

#include "convert/nam_play.hpp"

#include <coldpress/dynamic/to_config.hpp>

using namespace coldpress;
using namespace coldpress::convert;
using namespace nam_test;

namespace {

/// The same layers, with the same names, in the same order, with the same inputs.
void check_same(dynamic::LayerConfig const& file, dynamic::LayerConfig const& function) {
  CHECK(dynamic::difference(file, function) == "");
  auto const& read = std::get<dynamic::SequentialConfig>(file.layer_type);
  auto const& made = std::get<dynamic::SequentialConfig>(function.layer_type);
  REQUIRE(read.layers.size() == made.layers.size());
  for (std::size_t i = 0; i < read.layers.size(); ++i) {
    CHECK(read.layers[i].name == made.layers[i].name);
    auto inputs = made.layers[i].inputs;
    for (std::string& input : inputs) {
      if (input == made.inputs[0].name) input = read.inputs[0].name;
    }
    CHECK(read.layers[i].inputs == inputs);
  }
}

}  // namespace

TEST_CASE("a network of each architecture is written as a .nam file, and is the same when it is read") {
  if (!has_json()) return;
  TemporaryFolder folder;
  std::vector<std::pair<std::string, std::size_t>> const numbers{
      {"a1-standard", 13802}, {"a1-lite", 6554}, {"a1-feather", 3026}, {"a1-nano", 842}};
  amp::for_each_architecture([&](std::string const& name, auto const& function, Index run_in) {
    INFO(name);
    std::string const path = folder / "a.nam";
    auto const model = persist::model_of(
        dynamic::Layer::from_config(dynamic::Backend{"cpu"}, dynamic::to_config(function, Shape{1}), {}, 7));
    write_nam(path, model);
    auto const read = read_nam(path);
    check_same(read.model.config, model.config);
    CHECK(read.metadata.version == (name.starts_with("a1") ? "0.5.4" : "0.7.0"));
    REQUIRE(read.model.weights.size() == model.weights.size());
    for (std::size_t i = 0; i < model.weights.size(); ++i) CHECK(read.model.weights[i] == model.weights[i]);
    auto const found = std::ranges::find(numbers, name, [](auto const& pair) { return pair.first; });
    auto const text = content(path);
    auto const count = static_cast<std::size_t>(std::ranges::count(text.substr(text.find("\"weights\"")), ',')) + 1;
    if (found != numbers.end()) CHECK(count == found->second);

    // That of the sequences that it is trained on is the same.
    auto const trained = persist::model_of(dynamic::Layer::from_config(
        dynamic::Backend{"cpu"}, dynamic::to_config(function, Shape{run_in + 8, 1}), {}, 7));
    std::string const other = folder / "b.nam";
    write_nam(other, trained);
    CHECK(content(other) == text);
  });
}

TEST_CASE("a .nam file is read as the type") {
  if (!has_json()) return;
  TemporaryFolder folder;
  using Net = Network<Graph<amp::a1_nano>, Shape{1}>;
  Net const net{5};
  write_nam(folder / "a.nam", persist::model_of(net));
  auto const read = read_nam(folder / "a.nam").model;
  Net other{0};
  persist::load_model(other, read);
  auto layer = persist::layer_of(dynamic::Backend::like_static(), read);
  for (auto const& sample : signal) {
    float const x = static_cast<float>(sample[0]);
    float const y = layer.step({&x, 1})[0];
    CHECK(other.step(std::span{&x, 1}).values[0] == y);
  }
  using Other = Network<Graph<amp::a2_lite>, Shape{1}>;
  CHECK_THROWS_AS(persist::weights_for<Other>(read), MismatchError);
}

TEST_CASE("models of guitarists have the networks of amp.hpp") {
  if (!has_json()) return;
  char const* const data = std::getenv("COLDPRESS_TEST_DATA");
  int models = 0;
  amp::for_each_architecture([&](std::string const& name, auto const& function, Index) {
    INFO(name);
    std::string const path = (data ? std::string{data} : "") + "/nam/" + name + ".nam";
    if (!std::filesystem::exists(path)) return;
    check_same(read_nam(path).model.config, dynamic::to_config(function, Shape{1}));
    ++models;
  });
  if (models == 0) WARN("skipped: COLDPRESS_TEST_DATA has no nam/a1-standard.nam");
}
