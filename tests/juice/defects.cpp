// What Juice left broken and no test elsewhere is named after: W2, W5, W9, W10.
#include "data/files.hpp"
#include "dynamic/tensors.hpp"

#include <coldpress/backend/reference.hpp>
#include <coldpress/coldpress.hpp>
#include <coldpress/persist.hpp>

#include <algorithm>

namespace {

using namespace coldpress;
using namespace coldpress::test;

/// A convolution without bias, as Juice's, a pooling, a recurrent layer and a dense one.
LayerConfig mixed() {
  return sequential({{"conv", Convolution{.num_output = 3, .filter_shape = {2, 3}, .padding = 1, .has_bias = false}},
                     {"pool", Pooling{.mode = PoolingMode::average, .filter_shape = 2, .stride = 2}},
                     {"steps", Reshape{{3, 9}}},
                     {"rnn", Rnn{.hidden_size = 4, .rnn_type = RnnType::gru, .output = RnnOutput::last_step}},
                     {"fc", Linear{2}}},
                    Shape{1, 6, 6});
}

}  // namespace

TEST_CASE("W2: weights are found by name, whatever their order, and all of them or none") {
  TemporaryFolder folder;
  std::string const path = folder / "net.juice";
  Net net = Net::from_config({}, mixed(), {}, 4);
  SharedTensor const x = noise({2, 1, 6, 6}, 1);
  Floats const wanted = copy_of<float>(net.predict(x.read()));
  persist::Model const model = persist::model_of(net);

  persist::Model shuffled = model;
  std::ranges::reverse(shuffled.weights);
  persist::write_model(path, shuffled);
  CHECK(same_bits(wanted, copy_of<float>(Net::load({}, path).predict(x.read()))));

  auto const refused = [&](auto spoil) {
    persist::Model spoilt = model;
    spoil(spoilt.weights);
    persist::write_model(path, spoilt);
    Error const error = error_of<FormatError>([&] { Net::load({}, path); });
    CHECK(error.file() == path);
  };
  refused([](auto& weights) { weights.erase(weights.begin()); });
  refused([](auto& weights) { weights[0].name = "cnov-0"; });
  refused([](auto& weights) { weights[0].shape = {1, 3, 2, 3}; });
  refused([](auto& weights) { weights.push_back({"more-0", {1}, {0}}); });
}

TEST_CASE("W5: a gradient has its weight's shape, and the biases that Juice saves for nothing are passed over") {
  Net net = Net::from_config({}, mixed(), {}, 4);
  SharedTensor const x = noise({3, 1, 6, 6}, 1);
  net.forward(x);
  net.backward(noise({3, 2}, 2));
  auto const &data = net.learnable_weights_data(), &gradients = net.learnable_weights_gradients();
  CHECK(net.learnable_weights_names() == std::vector<std::string>{"conv-0", "rnn-0", "fc-0", "fc-0-bias"});
  REQUIRE(data.size() == gradients.size());
  for (std::size_t i = 0; i < data.size(); ++i) CHECK(data[i].shape() == gradients[i].shape());

  // Juice writes one of the output's shape for a convolution, and {1, hidden} for a recurrent layer.
  TemporaryFolder folder;
  std::string const path = folder / "net.juice";
  persist::Model model = persist::model_of(net);
  model.weights.insert(model.weights.begin() + 1,
                       {"conv-0-bias", {1, 3, 7, 6}, Floats(126, std::numeric_limits<float>::max())});
  model.weights.push_back({"rnn-0-bias", {1, 4}, Floats(4, 1)});
  persist::write_model(path, model);
  Net loaded = Net::load({}, path);
  CHECK(loaded.learnable_weights_names() == net.learnable_weights_names());
  CHECK(same_bits(copy_of<float>(loaded.predict(x.read())), copy_of<float>(net.predict(x.read()))));
}

TEST_CASE("W9: what Juice writes to a log is an error that names the layer") {
  auto const refused = [](LayerConfig const& config, std::string const& layer) {
    CHECK(error_of<ConfigError>([&] { Net::from_config({}, config); }).layer() == layer);
  };
  LayerConfig const a{"a", Linear{4}}, b{"b", Linear{4}};
  refused(sequential({wired(a, {"data"}, {"x"}), wired(b, {"data"}, {"x"})}, Shape{4}), "b");
  LayerConfig down = b;
  down.propagate_down = {true, false};
  refused(sequential({a, down}, Shape{4}), "b");
  LayerConfig rates = b;
  rates.params = {{.lr_mult = -1.0f}};
  refused(sequential({a, rates}, Shape{4}), "b");
  LayerConfig many = b;
  many.params.resize(3);
  refused(sequential({a, many}, Shape{4}), "b");
}

TEST_CASE("W10: inference apart from training, any batch, every layer trained on the CPU, float64 layers") {
  LayerConfig config = mixed();
  auto& layers = std::get<SequentialConfig>(config.layer_type).layers;
  layers.insert(layers.end() - 1, {"drop", Dropout{.probability = 0.25f}});
  Trainer solver = Trainer::from_config(
      {}, {.network = config, .objective = LayerConfig{"loss", MeanSquaredError{}}, .base_lr = 0.05f}, {}, 2);
  SharedTensor const x = noise({8, 1, 6, 6}, 1), target = noise({8, 2}, 2);
  Net& net = solver.mut_network();
  auto const error = [&] {
    auto const y = net.predict(x.read());
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) sum += std::pow(double{y[i]} - double{target.read()[i]}, 2);
    return sum;
  };
  double const before = error();
  std::vector<Floats> weights;
  for (SharedTensor const& weight : net.learnable_weights_data()) weights.push_back(values_of(weight));
  for (int step = 0; step < 300; ++step) solver.train_minibatch(x, target);
  CHECK(error() < 0.5 * before);
  for (std::size_t i = 0; i < weights.size(); ++i)
    CHECK_FALSE(same_bits(weights[i], values_of(net.learnable_weights_data()[i])));

  Floats const all = copy_of<float>(net.predict(x.read()));
  CHECK_FALSE(same_bits(values_of(net.forward(x)), all));  // drops
  for (Index batch : {5, 2, 8}) {
    Floats const part = copy_of<float>(net.predict(x.read().first(static_cast<std::size_t>(36 * batch))));
    CHECK(same_bits(part, Floats(all.begin(), all.begin() + 2 * batch)));
  }

  using Double =
      Network<Sequential<Convolution{.num_output = 2, .filter_shape = 2}, Pooling{.filter_shape = 2}, Linear{1}>,
              Shape{1, 4, 4}, DynamicBatch, Reference<double>>;
  Double wide{1};
  std::vector<double> values(16, 0x1p-40);
  double const y = wide.forward(values)[0];
  values[5] += 0x1p-70;  // no float beside 2^-40 sees it
  CHECK(wide.forward(values)[0] != y);
}
