// dynamic::Layer, used as a program written for Juice would use it.
#include "tensors.hpp"

namespace {

using namespace coldpress;
using namespace coldpress::test;

Net make(LayerConfig config, std::optional<Shape> input = {}, std::uint64_t seed = 3) {
  return Net::from_config(Backend{}, std::move(config), input, seed);
}

/// y of one Linear, by hand.
Floats affine(Floats const& w, Floats const& b, Floats const& x, std::size_t batch) {
  std::size_t const out = b.size(), in = w.size() / out;
  Floats y;
  for (std::size_t n = 0; n < batch; ++n) {
    for (std::size_t o = 0; o < out; ++o) {
      double sum = static_cast<double>(b[o]);
      for (std::size_t i = 0; i < in; ++i)
        sum += static_cast<double>(w[o * in + i]) * static_cast<double>(x[n * in + i]);
      y.push_back(static_cast<float>(sum));
    }
  }
  return y;
}
bool close(Floats const& a, Floats const& b, float tolerance = 1e-5f) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!(std::abs(a[i] - b[i]) <= tolerance)) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("one layer alone is a network") {
  Net layer = make({"fc", Linear{3}}, Shape{2, 2});
  REQUIRE(layer.learnable_weights_names() == std::vector<std::string>{"fc-0", "fc-0-bias"});
  CHECK(layer.name() == "fc");
  CHECK(layer.input_shape() == Shape{2, 2});
  CHECK(layer.output_shape() == Shape{3});
  layer.learnable_weights_data()[1].write_only()[2] = 0.5f;
  SharedTensor const x = noise({5, 2, 2}, 1);
  auto const w = values_of(layer.learnable_weights_data()[0]), b = values_of(layer.learnable_weights_data()[1]);
  CHECK(close(values_of(layer.forward(x)), affine(w, b, values_of(x), 5)));

  Net by_name = make(wired({"fc", Linear{3}}, {"data"}, {"fc"}), Shape{4});
  CHECK(by_name.forward(noise({1, 4}, 1)).shape() == std::vector<Index>{1, 3});
  Net activation = make({"relu", ReLU{}}, Shape{3});
  CHECK(values_of(activation.forward(tensor({1, 3}, {-1, 0, 2}))) == Floats{0, 0, 2});
  CHECK(values_of(activation.backward(tensor({1, 3}, {5, 6, 7}))) == Floats{0, 0, 7});
  CHECK(activation.learnable_weights_data().empty());
}

TEST_CASE("layers that only change the shape are networks too") {
  Net layer = make(sequential({{"flat", Flatten{}}, {"square", Reshape{Shape{2, 2}}}}, Shape{4}));
  SharedTensor const x = tensor({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(values_of(layer.forward(x)) == values_of(x));
  CHECK(layer.forward(x).shape() == std::vector<Index>{2, 2, 2});
  CHECK(values_of(layer.backward(x)) == values_of(x));
  for (SharedTensor const& other : {x, noise({2, 4}, 1), x})  // the output is the input, wherever that is
    CHECK(copy_of<float>(layer.predict(other.read())) == values_of(other));
}

TEST_CASE("weights have Juice's names, order and shapes") {
  Net layer = make(sequential(
      {{"reshape", Reshape{Shape{2, 2}}}, {"linear1", Linear{5}}, {"sigmoid", Sigmoid{}}, {"linear2", Linear{1}}},
      Shape{4}));
  CHECK(layer.learnable_weights_names() ==
        std::vector<std::string>{"linear1-0", "linear1-0-bias", "linear2-0", "linear2-0-bias"});
  std::vector<std::vector<Index>> shapes, gradients;
  for (auto const& weight : layer.learnable_weights_data()) shapes.push_back(weight.shape());
  for (auto const& weight : layer.learnable_weights_gradients()) gradients.push_back(weight.shape());
  CHECK(shapes == std::vector<std::vector<Index>>{{5, 4}, {1, 5}, {1, 5}, {1, 1}});
  CHECK(gradients == shapes);
  CHECK(layer.learnable_weights_lr() == std::vector<std::optional<float>>(4, 1.0f));
}

TEST_CASE("containers nest, and a nested network computes what the flat one does") {
  std::vector<LayerConfig> const layers = {{"a", Linear{6}}, {"t", TanH{}}, {"b", Linear{3}}, {"s", Softmax{}}};
  Net flat = make(sequential(layers, Shape{4}));
  LayerConfig const front = sequential({layers[0], layers[1]}, {}, "front"),
                    back = sequential({layers[2], layers[3]}, {}, "back");
  Net nested = make(sequential({front, back}, Shape{4}));
  // The Juice book's: one container in another, and only the inner one has an input.
  Net book = make(sequential({sequential(layers, Shape{4}, "inner")}));
  Net given = make(sequential({front, sequential({back}, Shape{2, 3}, "middle")}), Shape{2, 2});
  SharedTensor const x = noise({7, 4}, 2), dy = noise({7, 3}, 3);
  auto const y = values_of(flat.forward(x)), dx = values_of(flat.backward(dy)), gradients = gradients_of(flat);
  for (Net* other : {&nested, &book, &given}) {
    CHECK(other->learnable_weights_names() == flat.learnable_weights_names());
    CHECK(same_bits(values_of(other->forward(x)), y));
    CHECK(same_bits(values_of(other->backward(dy)), dx));
    CHECK(same_bits(gradients_of(*other), gradients));
  }
}

TEST_CASE("layers may be wired by hand, in place too") {
  SharedTensor const x = noise({2, 4}, 2);
  auto const expected = values_of(make(small_network(ReLU{})).forward(x));
  LayerConfig const linear{"hidden", Linear{8}}, relu{"activation", ReLU{}}, head{"out", Linear{3}};
  LayerConfig const hidden = wired(linear, {"data"}, {"h"}), in_place = wired(relu, {"h"}, {"h"}),
                    apart = wired(relu, {"h"}, {"r"}), out = wired(head, {"h"}, {"y"}),
                    after = wired(head, {"r"}, {"y"});
  CHECK(same_bits(values_of(make(sequential({hidden, in_place, out}, Shape{4})).forward(x)), expected));
  CHECK(same_bits(values_of(make(sequential({hidden, apart, after}, Shape{4})).forward(x)), expected));
  CHECK(same_bits(values_of(make(sequential({hidden, in_place, head}, Shape{4})).forward(x)), expected));
  CHECK(same_bits(values_of(make(sequential({hidden, apart, after}), Shape{4}).forward(x)), expected));
  // An activation in place that comes first must not write over the caller's values.
  Net first = make(sequential({wired(relu, {"data"}, {"data"}), wired(head, {"data"}, {})}, Shape{4}));
  auto const before = values_of(x);
  first.forward(x);
  CHECK(values_of(x) == before);
  // Containers read and make names as layers do; names inside are their own.
  LayerConfig block = sequential({wired(linear, {"in"}, {"h"}), in_place}, {}, "block");
  std::get<SequentialConfig>(block.layer_type).add_input("in", Shape{4});
  CHECK(same_bits(
      values_of(make(sequential({wired(block, {"data"}, {"h2"}), wired(head, {"h2"}, {"h"})}, Shape{4})).forward(x)),
      expected));
  LayerConfig const twin = sequential({wired({"more", TanH{}}, {}, {"h"})}, {}, "twin"),
                    outer = wired(block, {"data"}, {"h"});
  CHECK(make(sequential({outer, twin, wired(head, {"h"}, {"data2"})}, Shape{4})).output_shape() == Shape{3});
}

TEST_CASE("propagate_down has one entry for each input, or none") {
  LayerConfig layer = wired({"fc", Linear{3}}, {"data"}, {});
  layer.propagate_down = {true};
  make(sequential({layer}, Shape{4}));
  layer.inputs.clear();
  make(sequential({layer}, Shape{4}));
  layer.propagate_down = {true, true};
  CHECK(error_of<ConfigError>([&] { make(sequential({layer}, Shape{4})); }).layer() == "fc");
}

TEST_CASE("a weight's config says how it starts, and its other name") {
  LayerConfig layer{"fc", Linear{3}};
  layer.params = {{"shared", Constant{2}}, {"", Constant{-1}}};
  Net net = make(layer, Shape{2});
  CHECK(weights_of(net) == Floats{2, 2, 2, 2, 2, 2, -1, -1, -1});
  CHECK(net.learnable_weights_names() == std::vector<std::string>{"fc-0", "fc-0-bias"});
  CHECK(net.executable().weights()[0].other_name == "shared");
  CHECK(net.executable().weights()[1].other_name == "shared-bias");
}

TEST_CASE("the same config and seed give the same network, another seed another") {
  SharedTensor const x = noise({3, 4}, 1);
  LayerConfig const config =
      sequential({{"a", Linear{9}}, {"d", Dropout{.probability = 0.5f}}, {"b", Linear{3}}}, Shape{4});
  Net a = make(config), b = make(config), c = make(config, {}, 4);
  CHECK(same_bits(weights_of(a), weights_of(b)));
  CHECK_FALSE(same_bits(weights_of(a), weights_of(c)));
  for (int step = 0; step < 3; ++step) CHECK(same_bits(values_of(a.forward(x)), values_of(b.forward(x))));
}

TEST_CASE("Dropout acts in training and not in inference") {
  Net layer = make({"drop", Dropout{.probability = 0.5f}}, Shape{1000});
  SharedTensor const x = tensor({1, 1000}, Floats(1000, 1.0f));
  CHECK(layer.mode() == Mode::training);
  auto const first = values_of(layer.forward(x)), gradient = values_of(layer.backward(x)),
             second = values_of(layer.forward(x));
  CHECK(std::count(first.begin(), first.end(), 0.0f) + std::count(first.begin(), first.end(), 2.0f) == 1000);
  CHECK(std::abs(std::count(first.begin(), first.end(), 0.0f) - 500) < 80);
  CHECK(gradient == first);
  CHECK(second != first);
  layer.set_mode(Mode::inference);
  CHECK(values_of(layer.forward(x)) == values_of(x));
  error_of<ShapeError>([&] { layer.backward(x); });
  layer.set_mode(Mode::training);
  layer.forward(x);
  layer.backward(x);
}

TEST_CASE("update_weights subtracts the gradients, clear_weights_gradients zeroes them") {
  Net layer = make(small_network());
  layer.forward(noise({2, 4}, 1));
  layer.backward(noise({2, 3}, 2));
  auto expected = weights_of(layer);
  auto const gradients = gradients_of(layer);
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] -= gradients[i];
  layer.update_weights();
  CHECK(weights_of(layer) == expected);
  CHECK(same_bits(gradients_of(layer), gradients));
  layer.clear_weights_gradients();
  CHECK(gradients_of(layer) == Floats(expected.size(), 0.0f));
  layer.update_weights();
  CHECK(weights_of(layer) == expected);
  // The update may be written by hand, as Juice's solvers do.
  layer.learnable_weights_gradients()[1].write_only()[0] = 0.25f;
  layer.update_weights();
  expected[8 * 4] -= 0.25f;
  CHECK(weights_of(layer) == expected);
}

TEST_CASE("a fresh gradient is not overwritten by what was written before") {
  Net layer = make(small_network()), other = make(small_network());
  SharedTensor const x = noise({2, 4}, 1), dy = noise({2, 3}, 2);
  std::ranges::fill(layer.learnable_weights_gradients()[0].write_only(), 100.0f);
  for (Net* net : {&layer, &other}) net->forward(x), net->backward(dy), net->update_weights();
  CHECK(same_bits(weights_of(layer), weights_of(other)));
}

TEST_CASE("weights are written and read through their tensors") {
  Net layer = make(small_network()), other = make(small_network(), {}, 77);
  SharedTensor const x = noise({3, 4}, 1);
  for (std::size_t i = 0; i < 4; ++i) {
    auto const from = layer.learnable_weights_data()[i].read();
    std::ranges::copy(from, other.learnable_weights_data()[i].write_only().begin());
  }
  auto const y = values_of(layer.forward(x));
  CHECK(same_bits(values_of(other.forward(x)), y));
  other.learnable_weights_data()[3].read_write()[1] += 1;
  auto const shifted = values_of(other.forward(x));
  CHECK(shifted[1] == Approx(y[1] + 1));
  CHECK(shifted[0] == y[0]);
  // After the inference without tensors too.
  other.learnable_weights_data()[3].read_write()[1] -= 1;
  other.set_mode(Mode::inference);
  CHECK(close(copy_of<float>(other.forward(x.read())), y));
}

TEST_CASE("tensors outlive their layer") {
  std::optional<Net> layer = make(small_network());
  layer->forward(noise({2, 4}, 1));
  layer->backward(noise({2, 3}, 2));
  layer->learnable_weights_data()[1].write_only()[0] = 42;
  auto const weights = layer->learnable_weights_data(), gradients = layer->learnable_weights_gradients();
  auto const y = layer->forward(noise({2, 4}, 1));
  auto const w = weights_of(*layer), g = gradients_of(*layer), values = values_of(y);
  layer.reset();
  CHECK(values_of(weights) == w);
  CHECK(w[8 * 4] == 42);
  CHECK(values_of(gradients) == g);
  CHECK(values_of(y) == values);
  weights[0].write_only()[0] = 1;
}

TEST_CASE("weights and their buffers have numbers, and others are refused") {
  Net const net = make(small_network());
  auto& network = net.executable();
  int const weights = static_cast<int>(network.weights().size());
  Floats value(1);
  for (int const weight : {-1, weights}) {
    error_of<ShapeError>([&] { network.set_frozen(weight, true); });
    error_of<ShapeError>([&] { network.read(dynamic::Executable::data, weight, value); });
  }
  Floats first(static_cast<std::size_t>(network.weights()[0].shape.size()));
  error_of<ShapeError>([&] { network.write(-1, 0, first); });
}

TEST_CASE("layers move, and what points to them stays right") {
  SharedTensor const x = noise({2, 4}, 1), dy = noise({2, 3}, 2);
  Net reference = make(small_network());
  auto const y = values_of(reference.forward(x)), dx = values_of(reference.backward(dy)), g = gradients_of(reference);
  Net original = make(small_network());
  auto const bias = original.learnable_weights_data()[1], gradient = original.learnable_weights_gradients()[0];
  original.forward(x);
  Net moved = std::move(original);
  CHECK(same_bits(values_of(moved.backward(dy)), dx));
  Net assigned = make({"other", Linear{2}}, Shape{3});
  auto const lost = assigned.learnable_weights_data()[0];
  auto const lost_values = values_of(lost);
  assigned = std::move(moved);
  error_of<UnsupportedError>([&] { moved.forward(x); });
  CHECK(same_bits(gradients_of(assigned), g));
  CHECK(same_bits(values_of(gradient), Floats(g.begin(), g.begin() + 32)));
  bias.write_only()[0] += 1;
  CHECK_FALSE(same_bits(values_of(assigned.forward(x)), y));
  bias.read_write()[0] -= 1;
  CHECK(close(values_of(assigned.forward(x)), y));
  CHECK(values_of(lost) == lost_values);
  std::vector<Net> many;
  for (std::uint64_t seed = 0; seed < 9; ++seed) many.push_back(make(small_network(), {}, seed));
  CHECK(same_bits(values_of(many[3].forward(x)), y));
}

TEST_CASE("a loss is a layer of its own") {
  for (std::string const backend : {"cpu", "cpu:reference"}) {
    Net squares = Net::from_config(Backend{backend}, {"loss", MeanSquaredError{}});
    error_of<ShapeError>([&] { squares.backward(); });
    SharedTensor const y = tensor({2, 2}, {1, 2, 3, 4}), t = tensor({2, 2}, {0, 2, 5, 4});
    auto const outputs = squares.forward({y, t});
    REQUIRE(outputs.size() == 1);
    CHECK(values_of(outputs[0]) == Floats{(1.0f + 4.0f) / 2});
    CHECK(values_of(squares.backward()[0]) == Floats{2, 0, -4, 0});
    CHECK(squares.backward_input()[0].shape() == y.shape());
    CHECK(error_of<ShapeError>([&] { squares.backward(y); }).what() ==
          std::string{"backward: a loss takes no gradients, got 1"});
    CHECK(squares.learnable_weights_data().empty());

    Net likelihood = Net::from_config(Backend{backend}, {"nll", NegativeLogLikelihood{3}});
    SharedTensor const scores = tensor({2, 3}, {-1, -2, -3, -4, -5, -6}), labels = tensor({2, 1}, {2, 0});
    CHECK(values_of(likelihood.forward({scores, labels})[0]) == Floats{3.5f});
    CHECK(values_of(likelihood.backward()[0]) == Floats{0, 0, -1, -1, 0, 0});
    error_of<DataError>([&] { likelihood.forward({scores, tensor({2}, {0, 3})}); });
    error_of<DataError>([&] { likelihood.forward({scores, tensor({2}, {0.5f, 1})}); });
    error_of<DataError>([&] { likelihood.forward({scores, tensor({2}, {-1, std::nanf("")})}); });
    error_of<ShapeError>([&] { likelihood.forward({scores, tensor({3}, {0, 1, 2})}); });
    error_of<ShapeError>([&] { likelihood.forward({y, labels}); });
    error_of<ShapeError>([&] { likelihood.forward({scores}); });
    error_of<ShapeError>([&] { likelihood.forward(scores); });
    error_of<ShapeError>([&] { squares.forward({SharedTensor{{}}, SharedTensor{{}}}); });
    error_of<UnsupportedError>([&] { likelihood.forward(scores.read()); });
    CHECK(values_of(likelihood.backward()[0]) == Floats{0, 0, -1, -1, 0, 0});
    error_of<UnsupportedError>([&] { likelihood.executable(); });
    error_of<UnsupportedError>([&] { likelihood.update_weights(); });
  }
}

TEST_CASE("a loss layer gives the gradient of its targets where it has one") {
  for (std::string const backend : {"cpu", "cpu:reference"}) {
    SharedTensor const y = tensor({2, 3}, {1, 2, 3, 4, 5, 6}), t = tensor({2, 3}, {0, 2, 5, 4, 4, 9});
    Net loss = Net::from_config(Backend{backend}, {"loss", SquareLoss{.loss_weight = 2}});
    loss.forward({y, t});
    auto const gradients = loss.backward();
    REQUIRE(gradients.size() == 2);
    CHECK(values_of(gradients[0]) == Floats{2, 0, -4, 0, 2, -6});
    CHECK(values_of(gradients[1]) == Floats{-2, 0, 4, 0, -2, 6});
    CHECK(gradients[1].shape() == t.shape());
    // The cross entropy of labels that are probabilities: its targets' gradient is that of -t log p, by hand.
    Net soft = Net::from_config(Backend{backend}, {"soft", SoftlabelSoftmax{}});
    SharedTensor const scores = tensor({1, 2}, {0, std::log(3.0f)}), part = tensor({1, 2}, {0.5f, 0.5f});
    soft.forward({scores, part});
    auto const both = soft.backward();
    REQUIRE(both.size() == 2);
    CHECK(values_of(both[1])[0] == Approx(-std::log(0.25)));
    CHECK(values_of(both[1])[1] == Approx(-std::log(0.75)));
    // One without: the predictions' alone.
    Net squares = Net::from_config(Backend{backend}, {"loss", MeanSquaredError{}});
    squares.forward({y, t});
    CHECK(squares.backward().size() == 1);
  }
}

TEST_CASE("what is refused at run time is said with its numbers") {
  Net layer = make(small_network());
  auto const refused = [&](auto action, std::string const& sentence) {
    INFO(sentence);
    CHECK(says(error_of<ShapeError>(action), sentence));
  };
  refused([&] { layer.predict(Floats(7)); }, "got 7 values, expected a multiple of 4, which a sample of {4} has");
  refused([&] { layer.forward(noise({4, 2}, 1)); }, "must be the number of its samples, 2, but is 4");
  layer.forward(noise({2, 4}, 1));
  refused([&] { layer.executable().backward_input(dynamic::Values{Floats(5)}); },
          "the gradient of an output: got 5 values, expected 6 (2 samples of {3})");
  Floats few(3);
  refused([&] { layer.executable().read(dynamic::Executable::data, 0, few); },
          "weight 'hidden-0' of shape {8, 4} has 32 values, got 3");
  refused([&] { layer.executable().read(dynamic::Executable::data, 9, few); }, "no weight has number 9; there are 4");
  layer.step(Floats(8));
  refused([&] { layer.step(Floats(4)); }, "got 1 samples, while 2 sequences are under way");
  Trainer solver{make(small_network()), {.objective = LayerConfig{"loss", MeanSquaredError{}}}};
  refused([&] { solver.train_minibatch(Floats(8), Floats(7)); },
          "the targets: got 7 values, expected 6 (2 samples of {3})");
  Net likelihood = make({"nll", NegativeLogLikelihood{3}});
  CHECK(says(error_of<DataError>([&] {
               likelihood.forward({noise({2, 3}, 1), tensor({2}, {0, 7})});
             }),
             "the label of sample 1 is 7; expected a whole number from 0 to 2"));
  Net positions = make({"s", SoftmaxLoss{}});
  CHECK(says(error_of<DataError>([&] {
               positions.forward({noise({2, 3, 4}, 1), tensor({2, 4}, {0, 1, 2, 0, 0, 1, 0.5f, 2})});
             }),
             "label 2 of sample 1 is 0.5; expected a whole number from 0 to 2"));
}

TEST_CASE("a network and its loss, by hand, as Juice's solver runs them") {
  Net net = make(small_network()), loss = make({"loss", MeanSquaredError{}});
  SharedTensor const x = noise({8, 4}, 1), t = noise({8, 3}, 2);
  float before = 0;
  for (int step = 0; step < 200; ++step) {
    float const mean = loss.forward({net.forward(x), t})[0].read()[0];
    if (step == 0) before = mean;
    net.backward(loss.backward());
    for (SharedTensor const& g : net.learnable_weights_gradients()) {
      for (float& value : g.read_write()) value *= 0.1f / 8;
    }
    net.update_weights();
  }
  CHECK(loss.forward({net.forward(x), t})[0].read()[0] < before / 2);
}

TEST_CASE("a layer that was moved from says so") {
  Net net = make(sequential({{"fc", Linear{2}}}, Shape{3}));
  Net const other = std::move(net);
  error_of<UnsupportedError>([&] { net.forward(noise({1, 3}, 1)); });
}
