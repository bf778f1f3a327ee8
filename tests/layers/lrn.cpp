#include "support/layer_laws.hpp"

using namespace coldpress;

TEST_CASE("LRN keeps the laws of layers: across channels") {
  test::check_laws_at<LRN{.size = 4, .scale = 0.5f, .shift = 2}, Shape{6, 2, 3}>();
}
TEST_CASE("LRN keeps the laws of layers: within a channel, with a power of its own") {
  test::check_values_at<LRN{.size = 3, .power = 0.5f, .mode = LRNMode::within}, Shape{2, 4, 5}>();
}

// Juice's own vectors: a window of one value.
TEMPLATE_TEST_CASE("LRN gives Juice's values", "", DefaultBackend, Reference<double>) {
  using Net = Network<Sequential<LRN{.size = 1, .scale = 1e-4f, .shift = 2}>, Shape{1, 1, 3}, DynamicBatch, TestType>;
  using T = typename Net::T;
  Net net;
  typename Net::TrainingWorkspace workspace;
  std::vector<T> const x{1, 1, 2};
  auto const y = test::copy_of<T>(net.forward_training(x, workspace)),
             dx = test::copy_of<T>(net.backward(x, workspace));
  double const wanted_y[] = {0.594581260843431, 0.594581260843431, 1.1890287651464355},
               wanted_dx[] = {0.594536669478436, 0.594536669478436, 1.188672127844352};
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(static_cast<double>(y[i]) == Approx(wanted_y[i]).epsilon(2e-7));
    CHECK(static_cast<double>(dx[i]) == Approx(wanted_dx[i]).epsilon(2e-7));
  }
}

TEST_CASE("a normalisation that means nothing is refused with a sentence") {
  auto const sentence = [](LRN const& lrn, Shape in) -> std::string {
    try {
      lrn.output_shape(in);
    } catch (ShapeError const& error) {
      return error.sentence();
    }
    return "none";
  };
  CHECK(sentence({}, {3}) == "none");
  CHECK(sentence({.size = 0}, {3}).find("size") != std::string::npos);
  CHECK(sentence({.shift = 0}, {3}).find("shift") != std::string::npos);
  CHECK(sentence({.scale = -1}, {3}).find("scale") != std::string::npos);
  CHECK(sentence({.mode = LRNMode::within}, {3, 4}).find("{channels, height, width}") != std::string::npos);
  CHECK(sentence({.size = 4, .mode = LRNMode::within}, {3, 4, 4}).find("odd") != std::string::npos);
}
