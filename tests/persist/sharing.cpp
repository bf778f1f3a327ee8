// Weights that layers share, in files that have them once, as ours, or once for each layer, as Juice's.
#include <coldpress/persist.hpp>

#include "persist/files.hpp"

namespace coldpress::persist {
namespace {

/// Two layers with one matrix and one bias, both named.
Model shared_model() {
  dynamic::SequentialConfig net;
  net.add_input("x", {4});
  for (char const* name : {"a", "b"}) {
    net.add_layer({name, Linear{.output_size = 4}});
    net.layers.back().params = {{.name = "w"}, {.name = "v"}};
  }
  return {
      .name = "net", .config = container("net", net), .weights = {tensor("a-0", {4, 4}), tensor("a-0-bias", {1, 4})}};
}

TEST_CASE("what is shared is in a file once, or once for each layer with the same values") {
  Model model = shared_model();
  auto const once = weights_in_order(model);
  REQUIRE(once.size() == 2);
  CHECK(once[0] == model.weights[0].values);
  model.weights.push_back(tensor("b-0", {4, 4}));
  model.weights.push_back(tensor("b-0-bias", {1, 4}));
  CHECK(weights_in_order(model) == once);
}

TEST_CASE("a layer's own values for what it shares are refused") {
  for (std::size_t const value : {std::size_t{0}, std::size_t{15}}) {
    Model model = shared_model();
    model.weights.push_back(tensor("b-0", {4, 4}));
    model.weights.back().values[value] += 1;
    CHECK(message<MismatchError>([&] { weights_in_order(model); }) ==
          "weight 'b-0' is shared with 'a-0', but has other values");
    CHECK_THROWS_AS(layer_of(dynamic::Backend{}, model), MismatchError);
  }
  // A bias that is not there is zero.
  Model leaf = shared_model();
  leaf.weights[1].name = "b-0-bias";
  leaf.weights[1].values.assign(4, 0);
  CHECK(weights_in_order(leaf)[1] == std::vector<float>(4));
  leaf.weights[1].values[3] = 1;
  CHECK(message<MismatchError>([&] { weights_in_order(leaf); }) ==
        "weight 'b-0-bias' is shared with 'a-0-bias', but has other values");
  Model model = shared_model();
  model.weights.push_back(tensor("b-0", {4, 3}));
  CHECK(contains(message<FormatError>([&] { weights_in_order(model); }),
                 "has shape [4, 3], but the layer expects [4, 4]"));
  model.weights.back() = tensor("b-0", {4, 4});
  model.weights.back().values.pop_back();
  CHECK(contains(message<FormatError>([&] { weights_in_order(model); }),
                 "has 15 values, but its shape [4, 4] requires 16"));
}

}  // namespace
}  // namespace coldpress::persist
