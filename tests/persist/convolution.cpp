// Convolutions in Juice's files: without bias but with a blob of that name, and turned where CUDA trained them.
#include "persist/files.hpp"

#include <coldpress/coldpress.hpp>
#include <coldpress/persist.hpp>

namespace coldpress::persist {
namespace {

using Juices = Sequential<Reshape{Shape{1, 4, 3}}, Convolution{.num_output = 2, .filter_shape = 2, .has_bias = false},
                          Pooling{.filter_shape = 2}, Linear{2}>;
using Net = Network<Juices, Shape{4, 3}>;

std::vector<float> counted(std::size_t size) {
  std::vector<float> values(size);
  for (std::size_t i = 0; i < size; ++i) values[i] = static_cast<float>(i + 1);
  return values;
}
NamedTensor& weight(Model& model, std::string const& name) {
  for (NamedTensor& tensor : model.weights) {
    if (tensor.name == name) return tensor;
  }
  throw ConfigError{"no weight " + name};
}

TEST_CASE("a file for Juice has the bias that Juice expects, and both load") {
  TemporaryFolder folder;
  Net const net{3};
  save(net, folder / "net.juice", {.batch = 5, .for_juice = true});
  Model model = read_model(folder / "net.juice");
  CHECK(model.batch == 5);
  REQUIRE(model.weights.size() == 4);
  CHECK(model.weights[0].name == "convolution1-0");
  CHECK(model.weights[1].name == "convolution1-0-bias");
  CHECK(model.weights[1].shape == std::vector<Index>{5, 2, 3, 2});
  auto const same = [&](auto const& loaded) { return model_of(loaded).weights == model_of(net).weights; };
  CHECK(same(load<Net>(folder / "net.juice")));
  CHECK(same(dynamic::Layer::load(dynamic::Backend{}, folder / "net.juice")));

  weight(model, "convolution1-0-bias").shape = {1, 60};  // no blob of Juice
  CHECK_THROWS_AS(weights_in_order(model), FormatError);
  weight(model, "convolution1-0-bias").shape = {5, 2, 3, 2};
  weight(model, "convolution1-0-bias").name = "linear2-0-bias";
  CHECK_THROWS_AS(weights_in_order(model), FormatError);
}

TEST_CASE("a config that Juice wrote has no bias, rounds down and excludes padding") {
  Model const model = parse(capnp("encode --packed", juice_schema, R"((name = "net", config = (name = "net",
      layerType = (sequential = (inputs = [(name = "data", shape = [30, 28, 28])], layers = [
        (name = "reshape", layerType = (reshape = (shape = [30, 1, 28, 28]))),
        (name = "conv", layerType = (convolution = (numOutput = 20, filterShape = [5], stride = [1], padding = [0]))),
        (name = "pool", layerType = (pooling = (mode = max, filterShape = [2], stride = [2], padding = [0])))])))))"));
  CHECK(model.batch == 30);
  auto const& net = std::get<dynamic::SequentialConfig>(model.config.layer_type);
  CHECK(net.layers[1].layer_type ==
        dynamic::LayerType{Convolution{.num_output = 20, .filter_shape = 5, .has_bias = false}});
  CHECK(net.layers[2].layer_type == dynamic::LayerType{Pooling{.filter_shape = 2, .stride = 2}});
  CHECK(dynamic::output_shapes(model.config).back() == std::pair{std::string{"pool"}, Shape{20, 12, 12}});
}

TEST_CASE("filters that Juice trained on CUDA are turned back") {
  TemporaryFolder folder;
  Net net{3};
  net.write_weight(0, counted(8));
  save(net, folder / "net.juice");
  auto const turned = load<Net>(folder / "net.juice", {.cuda_filters = true});
  std::vector<float> values(8);
  turned.read_weight(0, values);
  CHECK(values == std::vector<float>{4, 3, 2, 1, 8, 7, 6, 5});
  auto const layer = dynamic::Layer::load(dynamic::Backend{}, folder / "net.juice", {.cuda_filters = true});
  CHECK(model_of(layer).weights == model_of(turned).weights);
  Model model = model_of(net);
  rotate_filters(model);
  CHECK(model.weights == model_of(turned).weights);
  rotate_filters(model);
  CHECK(model == model_of(net));
}

TEST_CASE("each filter is turned by itself, also where it is wider than it is high") {
  dynamic::SequentialConfig layers;
  layers.add_input("x", {1, 4, 5}).add_layer({"c", Convolution{.num_output = 2, .filter_shape = {2, 3}}});
  Model model{.name = "net", .config = {"net", layers}, .weights = {{"c-0", {2, 1, 2, 3}, counted(12)}}};
  rotate_filters(model);
  CHECK(weight(model, "c-0").values == std::vector<float>{6, 5, 4, 3, 2, 1, 12, 11, 10, 9, 8, 7});
}

TEST_CASE("what Juice cannot compute is not written for it") {
  auto const refused = [](dynamic::LayerType layer) {
    dynamic::SequentialConfig net;
    net.add_input("x", {2, 6, 6}).add_layer({"odd", std::move(layer)});
    Model const model{.name = "net", .config = {"net", net}};
    try {
      for_juice(model);
    } catch (ConfigError const& error) {
      return error.layer() == "odd";
    }
    return false;
  };
  CHECK_FALSE(refused(Convolution{.num_output = 2, .filter_shape = 3, .padding = 1, .has_bias = false}));
  CHECK(refused(Convolution{.num_output = 2, .filter_shape = 3}));
  CHECK(refused(Convolution{.num_output = 2, .filter_shape = {3, 2}, .has_bias = false}));
  CHECK(refused(Convolution{.num_output = 2, .filter_shape = 3, .dilation = 2, .has_bias = false}));
  CHECK(refused(Convolution{.num_output = 2, .filter_shape = 3, .groups = 2, .has_bias = false}));
  CHECK(refused(Convolution{.num_output = 2, .filter_shape = 3, .same = true, .has_bias = false}));
  CHECK(refused(Convolution{.num_output = 2, .filter_shape = 3, .padding_after = 1, .has_bias = false}));
  CHECK(refused(Pooling{.filter_shape = 3, .same = true}));
  CHECK_FALSE(refused(Pooling{.filter_shape = 3, .stride = 2}));
  CHECK(refused(Pooling{.filter_shape = 3, .rounding = Rounding::ceil}));
  CHECK(refused(Pooling{.mode = PoolingMode::average, .filter_shape = 3, .count_padding = true}));
}

TEST_CASE("a config that does not say its input is not guessed from a matrix behind a convolution") {
  Model model = model_of(Net{1});
  std::get<dynamic::SequentialConfig>(model.config.layer_type).inputs.clear();
  CHECK_THROWS_AS(weights_in_order(model), ConfigError);
}

}  // namespace
}  // namespace coldpress::persist
