// Models as C++ headers. tests/embedded compiles such headers and compares what they compute.
#include <coldpress/coldpress.hpp>
#include <coldpress/dynamic/register_layer.hpp>
#include <coldpress/persist.hpp>
#include <coldpress/persist/cpp_header.hpp>

#include "support/catch.hpp"

#include <limits>

using namespace coldpress;

namespace {

template <class Type, Inputs in>
std::string header_of() {
  return persist::cpp_header(persist::model_of(Network<Type, in>{3}), "amp");
}
bool has(std::string const& text, std::string const& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a sequence of layers is a Sequential, with the fields that differ from their defaults") {
  std::string const header =
      header_of<Sequential<Convolution{.num_output = 4, .filter_shape = {3, 5}, .weight = Gaussian{.deviation = 0.5f}},
                           ReLU{}, Named<"scores", Linear{.output_size = 2}>{}, LeakyReLU{.slope = 0.25f}>,
                Shape{1, 8, 8}>();
  CHECK(has(header,
            "coldpress::Sequential<\n"
            "    coldpress::Convolution{.num_output = 4, .filter_shape = {3, 5}},\n"
            "    coldpress::ReLU{},\n"
            "    coldpress::Named<\"scores\", coldpress::Linear{.output_size = 2}>{},\n"
            "    coldpress::LeakyReLU{.slope = 0.25f}>;"));
  CHECK(has(header,
            "coldpress::Network<Type, coldpress::Shape{1, 8, 8}, coldpress::Batch<1>, coldpress::ConstantWeights<>>;"));
  CHECK(has(header, "weight0[] = {  // convolution1-0 {4, 1, 3, 5}"));
  CHECK(has(header, "weight3[] = {  // scores-0-bias {2}\n    0x0p+0f, 0x0p+0f};"));
  CHECK(has(header, "arranged(values::weight0, values::weight1, values::weight2, values::weight3);"));
}

TEST_CASE("the header says what is done to samples before, and has the numbers for it") {
  auto model = persist::model_of(Network<Sequential<Linear{1}>, Shape{1, 2, 2}>{3});
  CHECK_FALSE(has(persist::cpp_header(model, "amp"), "done"));
  model.transforms = {data::OneHot{2},
                      data::SubtractMean{.mean = {0.5f}},
                      data::Scale{0.00390625f, -0.1f},
                      data::Mirror{},
                      data::Standardize{.mean = {1, 2}, .deviation = {0.25f}},
                      data::Crop{{2}}};
  model.classes = {"cat", "dog\\"};
  std::string const header = persist::cpp_header(model, "amp");
  CHECK(has(header,
            "in this order; it does not do it itself.\n"
            "//   x[i] -= transforms::mean1[0]\n"
            "//   x[i] = x[i] * 0.00390625 + -0.100000001\n"
            "//   x[i] = (x[i] - transforms::mean4[i * 2 / size]) / transforms::deviation4[0]\n"
            "//   the central 2 rows and 2 columns of each channel\n"
            "// Its classes, from 0 on: cat, dog\\.\n"
            "#pragma once"));
  CHECK(has(header, "namespace transforms {\ninline constexpr float mean1[] = {\n    0x1p-1f};\n"));
  CHECK(has(header, "inline constexpr float mean4[] = {\n    0x1p+0f, 0x1p+1f};\n"));
}

namespace {
constexpr auto with_loss = graph([](auto x, auto labels) {
  auto const scores = x | Linear{3} | name("scores");
  apply(SoftmaxLoss{}, scores, labels);
  return scores +
         (x | Rnn{.hidden_size = 3, .rnn_type = RnnType::gru, .reset_after = false, .output = RnnOutput::last_step});
});
}  // namespace

TEST_CASE("branches are a function, without losses and their inputs") {
  std::string const header = header_of<Graph<with_loss>, Inputs{Shape{5}, Shape{1}}>();
  CHECK(has(header,
            "inline constexpr auto network = coldpress::graph([](auto data) {\n"
            "  auto const scores = data | coldpress::Linear{.output_size = 3} | coldpress::name(\"scores\");\n"
            "  auto const rnn1 = data\n"
            "      | coldpress::Rnn{.hidden_size = 3, .rnn_type = coldpress::RnnType::gru, .reset_after = false, "
            ".output = coldpress::RnnOutput::last_step};\n"
            "  return scores + rnn1;\n"
            "});\n"));
  CHECK(has(header, "coldpress::Network<Type, coldpress::Shape{5}, "));
  CHECK_FALSE(has(header, "Loss"));
}

namespace {
constexpr auto tied_weights = graph([](auto x) {
  auto const code = x | Linear{2} | name("code");
  return code | TanH{} | tied(code);
});

std::string header_of(dynamic::LayerConfig const& config) {
  persist::Model model{.config = config};
  model.weights = persist::model_of(dynamic::Layer::from_config(dynamic::Backend{}, model.config, Shape{3})).weights;
  return persist::cpp_header(model, "amp", Shape{3});
}
/// Why a config cannot be written.
std::string refusal(dynamic::SequentialConfig const& layers) {
  try {
    return header_of({"net", layers});
  } catch (UnsupportedError const& error) {
    return error.layer() + ": " + error.sentence();
  }
}
}  // namespace

TEST_CASE("tied weights are tied in the type, too") {
  CHECK(has(header_of<Graph<tied_weights>, Shape{3}>(), "return tanh1 | coldpress::tied(code);"));
}

TEST_CASE("layers that share some weights are refused by name, and names that are too long are comments") {
  dynamic::SequentialConfig half;
  for (char const* const name : {"first", "second"}) {
    dynamic::LayerConfig layer{name, Linear{.output_size = 3}};
    layer.params = {{.name = "both"}, {.name = name}};
    half.add_layer(layer);
  }
  CHECK(refusal(half) == "second: it shares some of its weights, which cannot be written as a type");
  std::string const name(48, 'x');
  dynamic::SequentialConfig long_name;
  long_name.add_layer({name, Linear{.output_size = 3}});
  CHECK(has(header_of({"net", long_name}), "// \"" + name + "\"\n    coldpress::Linear{.output_size = 3}>;"));
}

TEST_CASE("what compilers must be told of many weights is in the header") {
  CHECK_FALSE(has(header_of<Sequential<Linear{10}>, Shape{100}>(), "-fconstexpr"));
  CHECK(has(header_of<Sequential<Linear{100}>, Shape{100}>(), "clang: -fconstexpr-steps=4040000; g++: none."));
  CHECK(has(header_of<Sequential<Linear{400}>, Shape{400}>(),
            "g++: -fconstexpr-ops-limit=64160000 -fconstexpr-loop-limit=262144."));
}

TEST_CASE("what cannot be exported is said") {
  persist::Model model = persist::model_of(Network<Sequential<Linear{2}>, Shape{3}>{3});
  for (char const* const name :
       {"", "1amp", "amp::", "::amp", "my amp", "a:b", "amp::2", "class", "my::int", "std", "my::coldpress"})
    CHECK_THROWS_AS(persist::cpp_header(model, name), ConfigError);
  CHECK_NOTHROW(static_cast<void>(persist::cpp_header(model, "my::amp_2")));
  model.weights[0].values[4] = std::numeric_limits<float>::infinity();
  CHECK_THROWS_AS(persist::cpp_header(model, "amp"), DataError);
  model.weights.clear();
  CHECK_THROWS_AS(persist::cpp_header(model, "amp"), FormatError);
}
