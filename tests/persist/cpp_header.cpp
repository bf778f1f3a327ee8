// Models as C++ headers. tests/embedded compiles such headers and compares what they compute.
#include <coldpress/coldpress.hpp>
#include <coldpress/dynamic/register_layer.hpp>
#include <coldpress/persist.hpp>
#include <coldpress/persist/cpp_header.hpp>

#include "support/catch.hpp"

#include <limits>
#include <memory>

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

namespace {
constexpr auto with_loss = graph([](auto x, auto labels) {
  auto const scores = x | Linear{3} | name("scores");
  apply(SoftmaxLoss{}, scores, labels);
  return scores + (x | Rnn{.hidden_size = 3, .rnn_type = RnnType::gru, .output = RnnOutput::last_step});
});
}  // namespace

TEST_CASE("branches are a function, without losses and their inputs") {
  std::string const header = header_of<Graph<with_loss>, Inputs{Shape{5}, Shape{1}}>();
  CHECK(has(header, "auto network = coldpress::graph([](auto input0) {"));
  CHECK(has(header, "input0 | coldpress::Linear{.output_size = 3} | coldpress::name(\"scores\");"));
  CHECK(has(header, ".rnn_type = coldpress::RnnType::gru, .output = coldpress::RnnOutput::last_step}"));
  CHECK(has(header, "apply(coldpress::Add{}, value1, value"));
  CHECK(has(header, "coldpress::Network<Type, coldpress::Shape{5}, "));
  CHECK_FALSE(has(header, "Loss"));
}

TEST_CASE("what cannot be exported is said") {
  persist::Model model = persist::model_of(Network<Sequential<Linear{2}>, Shape{3}>{3});
  for (char const* const name : {"", "1amp", "amp::", "::amp", "my amp", "a:b", "amp::2"})
    CHECK_THROWS_AS(persist::cpp_header(model, name), ConfigError);
  CHECK_NOTHROW(static_cast<void>(persist::cpp_header(model, "my::amp_2")));
  model.weights[0].values[4] = std::numeric_limits<float>::infinity();
  CHECK_THROWS_AS(persist::cpp_header(model, "amp"), DataError);
  model.weights.clear();
  CHECK_THROWS_AS(persist::cpp_header(model, "amp"), FormatError);
}
