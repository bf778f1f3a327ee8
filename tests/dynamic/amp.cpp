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

/// Gives a network the weights of a .nam file, in which a layer's convolution comes before its factors of the signal,
/// and the last layer has a product that nothing reads.
class Filler {
 public:
  Filler(dynamic::Layer& network, std::vector<float> values)
      : executable_(network.executable()), values_(std::move(values)) {}
  void stack(std::size_t layers, bool last) {
    take(1);
    for (std::size_t i = 0; i < layers; ++i) {
      std::size_t const mixed = weight_++;
      take(2);
      put(mixed);
      if (last && i + 1 == layers) {
        auto const channels = static_cast<std::size_t>(executable_.weights()[mixed].shape[0]);
        next_ += channels * channels + channels;
      } else {
        take(2);
      }
    }
  }
  void take(int count) {
    for (int i = 0; i < count; ++i) put(weight_++);
  }
  /// Whether all values but the head's scale were taken.
  bool done() const { return next_ + 1 == values_.size() && weight_ == executable_.weights().size(); }

 private:
  void put(std::size_t weight) {
    auto const size = static_cast<std::size_t>(executable_.weights()[weight].shape.size());
    REQUIRE(next_ + size <= values_.size());
    executable_.write(dynamic::Executable::data, static_cast<int>(weight), std::span{values_}.subspan(next_, size));
    next_ += size;
  }
  dynamic::Executable& executable_;
  std::vector<float> values_;
  std::size_t next_ = 0, weight_ = 0;
};

template <class Network>
void check_core(std::string const& name, Network const& function, Index run_in, std::vector<std::size_t> stacks) {
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
  Filler filler{network, weights_in(folder + name + ".nam")};
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    bool const last = i + 1 == stacks.size();
    filler.stack(stacks[i], last);
    filler.take(last ? 2 : 1);
  }
  REQUIRE(filler.done());
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
  check_core("a1-standard", amp::a1_standard, amp::a1_standard_run_in, {10, 10});
  check_core("a1-nano", amp::a1_nano, amp::a1_small_run_in, {7, 13});
  check_core("a2-full", amp::a2_full, amp::a2_run_in, {23});
  check_core("a2-lite", amp::a2_lite, amp::a2_run_in, {23});
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
