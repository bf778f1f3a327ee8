// The networks of amp.hpp: what they compute is what NeuralAmpModelerCore computes of the same weights.
#include <coldpress/amp.hpp>
#include <coldpress/coldpress.hpp>
#include <coldpress/dynamic.hpp>

#include "support/catch.hpp"
#include "support/random.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

using namespace coldpress;

namespace {

std::string content(std::string const& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}
/// The values of a .npy file of float32.
std::vector<float> array(std::string const& path) {
  std::string const bytes = content(path);
  std::size_t const begin = bytes.find('\n') + 1;
  std::vector<float> values((bytes.size() - begin) / 4);
  std::memcpy(values.data(), bytes.data() + begin, 4 * values.size());
  return values;
}
/// The numbers of a .nam file's list of weights.
std::vector<float> weights_in(std::string const& path) {
  std::string const text = content(path);
  std::vector<float> values;
  auto const begin = text.find('[', text.find("\"weights\""));
  char const* at = text.c_str() + begin + 1;
  for (char* end = nullptr;; at = end + std::strspn(end, ", \n")) {
    values.push_back(std::strtof(at, &end));
    if (end == at) break;
  }
  values.pop_back();
  return values;
}

/// Gives a network the weights of a .nam file, which have its order. Only what nothing reads is not among the
/// network's: the product by step of the last layer, before the head, which has two arrays of weights.
void fill(dynamic::Executable& network, std::vector<float> const& values) {
  std::size_t next = 0;
  auto const& weights = network.weights();
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (i + 2 == weights.size()) {
      auto const channels = static_cast<std::size_t>(weights[i - 1].shape[0]);
      next += channels * channels + channels;
    }
    auto const size = static_cast<std::size_t>(weights[i].shape.size());
    REQUIRE(next + size <= values.size());
    network.write(dynamic::Executable::data, static_cast<int>(i), std::span{values}.subspan(next, size));
    next += size;
  }
  CHECK(next + 1 == values.size());  // the last is the head's scale
}

template <class Network>
void check_core(std::string const& name, Network const& function, Index run_in) {
  INFO(name);
  char const* const root = std::getenv("COLDPRESS_TEST_DATA");
  std::string const folder = root ? std::string{root} + "/nam/" : "";
  if (!std::filesystem::exists(folder + name + ".nam")) {
    WARN("skipped: COLDPRESS_TEST_DATA has no nam/" << name << ".nam");
    return;
  }
  // What a stream of silence leaves behind is what zeros before the signal do.
  auto signal = array(folder + "signal.npy");
  auto const wanted = array(folder + name + ".y.npy");
  signal.insert(signal.begin(), static_cast<std::size_t>(run_in), 0.0f);
  dynamic::Network network{function, Shape{static_cast<Index>(signal.size()), 1}};
  fill(network.executable(), weights_in(folder + name + ".nam"));
  network.weights_changed();
  auto const y = network.forward(std::span<float const>{signal});
  float peak = 0, off = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    peak = std::max(peak, std::abs(wanted[i]));
    off = std::max(off, std::abs(wanted[i] - y[i + static_cast<std::size_t>(run_in)]));
  }
  CHECK(peak > 0);
  CHECK(off <= 1e-5f * peak);
}

}  // namespace

TEST_CASE("A1 standard and nano, A2 full and lite compute what NeuralAmpModelerCore does") {
  check_core("a1-standard", amp::a1_standard, amp::a1_standard_run_in);
  check_core("a1-nano", amp::a1_nano, amp::a1_small_run_in);
  check_core("a2-full", amp::a2_full, amp::a2_run_in);
  check_core("a2-lite", amp::a2_lite, amp::a2_run_in);
}

// The numbers of weights are those of the field, less the last layer's product by step and the head's scale.
TEST_CASE("each architecture has its number of weights, reaches as far back as it says, and streams") {
  std::vector<std::pair<std::string, Index>> const wanted{{"a1-standard", 13802 - 72 - 1},
                                                          {"a1-lite", 6554 - 42 - 1},
                                                          {"a1-feather", 3026 - 20 - 1},
                                                          {"a1-nano", 842 - 6 - 1}};
  amp::for_each_architecture([&](std::string const& name, auto const& function, Index run_in) {
    INFO(name);
    Index weights = 0;
    for (auto const& weight : dynamic::weights_of(dynamic::to_config(function, Shape{1})))
      weights += weight.shape.size();
    auto const found = std::find_if(wanted.begin(), wanted.end(), [&](auto const& pair) { return pair.first == name; });
    if (found != wanted.end()) CHECK(weights == found->second);

    // A change at step 3 is heard until run_in steps later, and no longer; a stream gives the same as the whole.
    Index const steps = run_in + 8;
    dynamic::Network whole{dynamic::Backend{}, 5, function, Shape{steps, 1}},
        stream{dynamic::Backend{}, 5, function, Shape{1}};
    std::vector<float> x(static_cast<std::size_t>(steps), 0.1f);
    auto const copy = [](dynamic::Values values) { return std::vector<float>(values.begin(), values.end()); };
    auto const y = copy(whole.forward(std::span<float const>{x}));
    for (std::size_t i = 0; i < 50; ++i) REQUIRE(stream.step(std::span{x}.subspan(i, 1))[0] == y[i]);
    x[3] = 0.7f;
    auto const changed = copy(whole.forward(std::span<float const>{x}));
    for (std::size_t i = 0; i < 3; ++i) CHECK(changed[i] == y[i]);
    CHECK(changed[3] != y[3]);
    for (std::size_t i = static_cast<std::size_t>(run_in) + 4; i < y.size(); ++i) CHECK(changed[i] == y[i]);
  });
}

TEST_CASE("a network as a type has the bits of its config") {
  using Net = Network<Graph<amp::a1_nano>, Shape{96, 1}>;
  Net net{3};
  dynamic::Network other{dynamic::Backend::like_static(), 3, amp::a1_nano, Shape{96, 1}};
  test::Random random{1};
  auto const x = random.values<float>(2 * 96);
  auto const y = net.forward(x);
  auto const z = other.forward(std::span<float const>{x});
  for (std::size_t i = 0; i < 2 * 96; ++i) CHECK(y.values[i] == z[i]);
}

namespace {
constexpr auto training = graph([](auto signal, auto target) {
  auto const y = amp::after_run_in(signal | Convolution{.num_output = 1, .filter_shape = 2}, target);
  apply(MeanSquaredError{}, y, target) | name("loss");
  return y;
});
}  // namespace

TEST_CASE("what is before the run-in's end is not judged") {
  dynamic::Network const network{training, Shape{10, 1}, Shape{4, 1}};
  CHECK(network.output_shape() == Shape{4, 1});
  CHECK_THROWS_AS((dynamic::Network{training, Shape{3, 1}, Shape{4, 1}}), ShapeError);
}

TEST_CASE("the layers have the names of those of a .nam file, of the first network if there are several") {
  constexpr auto two = graph([](auto signal) { return amp::a2_lite(signal) + amp::a2_lite(signal); });
  auto const names = [](dynamic::LayerConfig const& config) {
    std::vector<std::string> all;
    for (auto const& layer : std::get<dynamic::SequentialConfig>(config.layer_type).layers) all.push_back(layer.name);
    return all;
  };
  auto const one = names(dynamic::to_config(amp::a2_lite, Shape{1})), both = names(dynamic::to_config(two, Shape{1}));
  std::vector<std::string> const first{
      "array0.rechannel",          "array0.layer0.conv",     "array0.layer0.input_mixin", "array0.layer0.sum",
      "array0.layer0.activation",  "array0.layer0.layer1x1", "array0.layer0.residual",    "array0.layer1.conv",
      "array0.layer1.input_mixin", "array0.layer1.sum",      "array0.layer1.activation",  "array0.layer1.layer1x1",
      "array0.layer1.residual",    "array0.layer1.skip"};
  CHECK(std::vector<std::string>(one.begin(), one.begin() + 14) == first);
  CHECK(one.back() == "head_scale");
  REQUIRE(both.size() == 2 * one.size() + 1);
  CHECK(std::vector<std::string>(both.begin(), both.begin() + static_cast<std::ptrdiff_t>(one.size())) == one);
  CHECK(both[one.size()] == "convolution1");
  CHECK(names(dynamic::to_config<Graph<amp::a2_lite>, Shape{1}>()) == one);
  CHECK(names(dynamic::to_config<Graph<two>, Shape{1}>()) == both);
}
