// Rules of Juice that no test elsewhere is about: what is saved, what is read in its book and tests, and its defaults.
#include "data/files.hpp"
#include "dynamic/tensors.hpp"

#include <coldpress/persist.hpp>

namespace {

using namespace coldpress;
using namespace coldpress::test;

LayerConfig const linear{"linear", Linear{3}}, sigmoid{"sigmoid", Sigmoid{}}, log_softmax{"log_softmax", LogSoftmax{}};

}  // namespace

TEST_CASE("a saved config is the user's, without the names that wiring makes") {
  TemporaryFolder folder;
  LayerConfig const config = sequential({linear, sigmoid, log_softmax}, Shape{4});
  Net const net = Net::from_config({}, config);
  net.save(folder / "net.juice");
  LayerConfig const saved = persist::read_model(folder / "net.juice").config;
  CHECK(saved == config);
  for (LayerConfig const& layer : std::get<SequentialConfig>(saved.layer_type).layers) {
    CHECK(layer.inputs.empty());
    CHECK(layer.outputs.empty());
  }
}

TEST_CASE("a container without inputs, as in Juice's book, takes the shape that its first child declares") {
  LayerConfig const inner = sequential({linear, sigmoid}, Shape{4}, "inner");
  Net nested = Net::from_config({}, sequential({inner, log_softmax}), {}, 1);
  Net flat = Net::from_config({}, sequential({linear, sigmoid, log_softmax}, Shape{4}), {}, 1);
  CHECK(nested.input_shape() == Shape{4});
  SharedTensor const x = noise({2, 4}, 1);
  CHECK(same_bits(values_of(nested.forward(x)), values_of(flat.forward(x))));
}

TEST_CASE("a weight without a bias in the file, as Leaf and older Juice wrote them, has a bias of zero") {
  TemporaryFolder folder;
  Net const net =
      Net::from_config({}, sequential({{"linear", Linear{.output_size = 3, .bias = Constant{7}}}}, Shape{4}));
  persist::Model model = persist::model_of(net);
  REQUIRE(model.weights.size() == 2);
  model.weights.pop_back();
  persist::write_model(folder / "net.juice", model);
  Net const loaded = Net::load({}, folder / "net.juice");
  CHECK(same_bits(values_of(loaded.learnable_weights_data()[0]), values_of(net.learnable_weights_data()[0])));
  CHECK(values_of(loaded.learnable_weights_data()[1]) == Floats(3, 0.0f));
}

TEST_CASE("a solver's defaults are Juice's, but for the division by the samples of a call") {
  SolverConfig const config;
  CHECK(config.name.empty());
  CHECK(std::holds_alternative<Sgd>(config.solver));
  CHECK_FALSE(config.minibatch_size);
  CHECK(config.lr_policy == Policy(lr::Fixed{}));
  CHECK(config.base_lr == 0.01f);
  CHECK(config.momentum == 0);
  CHECK_FALSE(config.clip_gradients);
  CHECK_FALSE(config.weight_decay);
  CHECK(config.regularization_method == Regularization::l2);
  CHECK(lr::Step{}.gamma == 0.1f);
  CHECK(lr::Step{}.stepsize == 10);
}
