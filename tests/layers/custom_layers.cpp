// Custom layers, as docs/adding-a-layer.md has them, in networks of one input and one output.
#include "support/custom_layers.hpp"
#include "support/layer_laws.hpp"

using namespace coldpress;
using namespace custom_layers;

TEST_CASE("a custom layer's pointwise layer keeps the laws") { test::check_layer_laws<Snake{.frequency = 0.5f}>(); }
TEST_CASE("a custom layer's random numbers keep the laws") { test::check_laws_at<Jitter{}, Shape{19}>(); }
TEST_CASE("a custom layer's view keeps the laws") { test::check_laws_at<Column{}, Shape{2, 9}>(); }
TEST_CASE("a custom layer's plain loops keep the laws") { test::check_layer_laws<Reverse{}>(); }

TEST_CASE("the norm of all gradients does not see what lies between rows") {
  using Net = Network<Sequential<Linear{7}, Reverse{}, Linear{20}, Sigmoid{}, Linear{3}>, Shape{4}>;
  auto const net = test::random_network<Net>(1);
  Net::TrainingWorkspace workspace;
  test::Random random{2};
  for (Index const batch : {9, 3, 5}) {  // smaller ones find what the larger left
    auto const x = random.values<float>(batch * 4), dy = random.values<float>(batch * 3);
    net.forward_training(x, workspace);
    net.backward(dy, workspace);
    double all = 0, seen = 0;
    for (float const g : workspace.gradients()) all += double{g} * double{g};
    for (float const g : test::canonical<Net>(workspace.gradients())) seen += double{g} * double{g};
    CHECK(all == Approx(seen).epsilon(1e-12));
  }
}
