// Passes of a dynamic::Layer in any order, and the memory that they read and write.
#include "tensors.hpp"

#include <coldpress/dynamic/adapter.hpp>

#include <deque>

namespace {

using namespace coldpress;
using namespace coldpress::test;

Net make(LayerConfig config, std::optional<Shape> input = {}, std::uint64_t seed = 3) {
  return Net::from_config(Backend{}, std::move(config), input, seed);
}

}  // namespace

TEST_CASE("predict is forward in inference, whatever the mode") {
  Net layer = make(sequential({{"a", Linear{9}}, {"d", Dropout{}}, {"b", Linear{3}}}, Shape{4}));
  SharedTensor const x = noise({3, 4}, 1), dy = noise({3, 3}, 2);
  layer.forward(x);
  layer.learnable_weights_data()[3].write_only()[0] = 5;
  auto const y = copy_of<float>(layer.predict(x.read()));
  CHECK(layer.mode() == Mode::training);
  error_of<ShapeError>([&] { layer.backward(dy); });
  layer.set_mode(Mode::inference);
  CHECK(same_bits(values_of(layer.forward(x)), y));
}

TEST_CASE("any batch, in any order, gives what a fresh network gives") {
  Net layer = make(small_network());
  for (Index batch : {3, 1, 64, 2, 64, 5}) {
    SharedTensor const x = noise({batch, 4}, 1), dy = noise({batch, 3}, 2);
    Net fresh = make(small_network());
    CHECK(same_bits(values_of(layer.forward(x)), values_of(fresh.forward(x))));
    CHECK(layer.forward(x).shape() == std::vector<Index>{batch, 3});
    CHECK(same_bits(values_of(layer.backward(dy)), values_of(fresh.backward(dy))));
    CHECK(layer.backward(dy).shape() == std::vector<Index>{batch, 4});
    CHECK(same_bits(gradients_of(layer), gradients_of(fresh)));
  }
  CHECK(layer.forward(noise({4}, 1)).shape() == std::vector<Index>{1, 3});
  SharedTensor const x = noise({2, 1, 4}, 1);
  layer.forward(x);
  CHECK(layer.backward(noise({2, 3}, 2)).shape() == x.shape());
}

TEST_CASE("a network's own results may be its inputs and the gradients of its outputs") {
  auto const deep =
      sequential({{"a", Linear{8}}, {"s", TanH{}}, {"b", Linear{4}}, {"t", TanH{}}, {"c", Linear{4}}}, Shape{4});
  Floats const x = values_of(noise({3, 4}, 1));
  auto const run = [&](auto keep) {  // keep() is a view of its own results or a copy of them
    Floats made;
    auto const add = [&](Floats const& values) { made.insert(made.end(), values.begin(), values.end()); };
    Net net = make(deep);
    for (int times = 0; times < 4; ++times) {
      std::span<float const> y = keep(net.predict(x));
      for (int again = 0; again < 3; ++again) add(copy_of<float>(y = keep(net.predict(y))));
      auto const one = y.subspan(4, 4);  // the second sample
      add(copy_of<float>(net.predict(one)));
    }
    auto& network = net.executable();
    using Given = std::array<dynamic::Values, 1>;
    for (int times = 0; times < 3; ++times) {
      auto const y = keep(network.forward(Given{x}, Mode::training)[0]);
      auto const z = keep(network.forward(Given{y}, Mode::training)[0]);
      auto const dx = keep(network.backward_input(Given{z}, nullptr)[0]);
      network.backward_parameters();
      add(gradients_of(net)), add(copy_of<float>(dx));
      auto const w = keep(network.forward(Given{dx}, Mode::training)[0]);
      add(copy_of<float>(network.backward_input(Given{w}, nullptr)[0]));
    }
    return made;
  };
  std::deque<Floats> copies;
  CHECK(same_bits(run([](std::span<float const> view) { return view; }), run([&](std::span<float const> view) {
                    return std::span<float const>{copies.emplace_back(view.begin(), view.end())};
                  })));
}

TEST_CASE("the list of results that a network returns may be the list of its next inputs") {
  auto const make_one = [] {
    return make(
        sequential({{"a", Linear{8}}, {"s", TanH{}}, {"b", Linear{4}}, {"t", TanH{}}, {"c", Linear{4}}}, Shape{4}));
  };
  Floats const x = values_of(noise({3, 4}, 1));
  using Given = std::array<dynamic::Values, 1>;
  Net one = make_one(), other = make_one();
  auto &network = one.executable(), &copied = other.executable();
  auto const compare = [&](auto pass, auto results) {
    pass(network, std::span<dynamic::Values const>{Given{x}}), pass(copied, std::span<dynamic::Values const>{Given{x}});
    Floats const values = copy_of<float>(results(copied)[0]);
    pass(network, results(network)), pass(copied, std::span<dynamic::Values const>{Given{values}});
    CHECK(same_bits(copy_of<float>(network.outputs()[0]), copy_of<float>(copied.outputs()[0])));
  };
  auto const outputs = [](auto& of) { return of.outputs(); };
  auto const infer = [](auto& in, auto given) { in.forward(given, Mode::inference); };
  auto const train = [](auto& in, auto given) { in.forward(given, Mode::training); };
  for (int times = 0; times < 3; ++times) {
    compare(infer, outputs);
    compare(train, outputs);
    compare([](auto& in, auto given) { in.evaluate(given); }, outputs);
    compare(
        [](auto& in, auto given) {
          in.forward(given, Mode::training);
          in.backward_input(in.outputs(), nullptr);
        },
        [](auto& of) { return of.input_gradients(); });
  }
}
TEST_CASE("a batch that was predicted before a larger one is predicted as before") {
  // With so many values memory that is given back is the system's, and must not be used again.
  Net layer = make(sequential({{"a", Linear{4096}}, {"t", TanH{}}, {"b", Linear{3}}}, Shape{4}));
  Floats const some = values_of(noise({32, 4}, 1)), many = values_of(noise({512, 4}, 2));
  Floats const wanted = copy_of<float>(layer.predict(some));
  CHECK(same_bits(copy_of<float>(layer.predict(some)), wanted));
  layer.predict(many);
  CHECK(same_bits(copy_of<float>(layer.predict(some)), wanted));
}

TEST_CASE("wrong sizes are ShapeErrors, and nothing has changed") {
  Net layer = make(small_network());
  SharedTensor const x = noise({2, 4}, 1), dy = noise({2, 3}, 2);
  auto const y = values_of(layer.forward(x)), dx = values_of(layer.backward(dy)), gradients = gradients_of(layer),
             weights = weights_of(layer);
  error_of<ShapeError>([&] { layer.forward(noise({2, 5}, 1)); });
  error_of<ShapeError>([&] { layer.forward(noise({4, 2}, 1)); });
  error_of<ShapeError>([&] { layer.forward(noise({1, 2, 4}, 1)); });
  error_of<ShapeError>([&] { layer.forward(noise({3}, 1)); });
  error_of<ShapeError>([&] { layer.backward(noise({3, 2}, 1)); });
  error_of<ShapeError>([&] { layer.forward(std::span<float const>{}); });
  error_of<ShapeError>([&] { layer.forward({x, x}); });
  error_of<ShapeError>([&] { layer.forward(std::span<SharedTensor const>{}); });
  error_of<ShapeError>([&] { layer.backward(noise({2, 4}, 1)); });
  error_of<ShapeError>([&] { layer.backward(noise({3, 3}, 1)); });
  error_of<ShapeError>([&] { layer.backward(); });
  CHECK(same_bits(values_of(layer.backward(dy)), dx));
  CHECK(same_bits(gradients_of(layer), gradients));
  CHECK(same_bits(weights_of(layer), weights));
  CHECK(same_bits(values_of(layer.forward(x)), y));
  std::vector<float> few(3);
  error_of<ShapeError>([&] { layer.executable().read(dynamic::Executable::data, 0, few); });
  error_of<ShapeError>([&] { layer.executable().write(dynamic::Executable::data, 0, few); });
  error_of<ShapeError>([&] { layer.executable().read(dynamic::Executable::data, 4, few); });
}

TEST_CASE("backward finds the inputs of the last forward, also if a later one was refused") {
  static Network<Sequential<Linear{3}>, Shape{512}> type{1};
  auto const check = [](Net layer, auto refused) {
    SharedTensor const dy = noise({64, 3}, 2);
    layer.forward(noise({64, 512}, 1));  // which the layer alone keeps
    auto const dx = values_of(layer.backward(dy)), gradients = gradients_of(layer);
    layer.forward(noise({64, 512}, 1));
    refused(layer);
    SharedTensor const other = noise({64, 512}, 3);  // where the inputs would have been
    CHECK(same_bits(values_of(layer.backward(dy)), dx));
    CHECK(same_bits(gradients_of(layer), gradients));
  };
  auto const values = [](Net& layer) {
    std::vector<float> const few(3);
    error_of<ShapeError>([&] { layer.forward(dynamic::Values{few}); });
  };
  auto const more_inputs = [](Net& layer) {
    SharedTensor const x = noise({2, 512}, 1);
    error_of<ShapeError>([&] { layer.evaluate({x, x}); });
    error_of<ShapeError>([&] { layer.forward({x, x}); });
  };
  check(make({"fc", Linear{3}}, Shape{512}), values);
  check(make({"fc", Linear{3}}, Shape{512}), more_inputs);
  check(Net::adapt(type), values);
  check(Net::adapt(type), more_inputs);
}

TEST_CASE("backward finds the inputs of the last forward, also if one had other numbers of samples or wrong labels") {
  LayerConfig fc{"fc", Linear{3}}, loss{"loss", NegativeLogLikelihood{3}};
  fc.inputs = {"x"}, fc.outputs = {"scores"}, loss.inputs = {"scores", "labels"};
  Net layer = make({"both", dynamic::SequentialConfig{{fc, loss}, {{"x", Shape{512}}, {"labels", Shape{1}}}}});
  SharedTensor const dy = noise({64, 3}, 2), labels = tensor({64, 1}, Floats(64, 1.0f));
  layer.forward({noise({64, 512}, 1), labels});
  auto const dx = values_of(layer.backward(dy)), gradients = gradients_of(layer);
  layer.forward({noise({64, 512}, 1), labels});
  error_of<ShapeError>([&] { layer.forward({noise({64, 512}, 3), tensor({2, 1}, {1, 2})}); });
  error_of<DataError>([&] { layer.evaluate({noise({64, 512}, 3), tensor({64, 1}, Floats(64, 7.0f))}); });
  std::vector<SharedTensor> others;  // one of them is where the inputs would have been
  for (std::uint64_t i = 4; i < 8; ++i) others.push_back(noise({64, 512}, i));
  CHECK(same_bits(values_of(layer.backward(dy)), dx));
  CHECK(same_bits(gradients_of(layer), gradients));
}

TEST_CASE("backward comes after forward") {
  static Network<Sequential<Linear{3}>, Shape{4}> type{1};
  auto const check = [](Net layer) {
    SharedTensor const x = noise({2, 4}, 1), dy = noise({2, 3}, 2);
    error_of<ShapeError>([&] { layer.backward(dy); });
    error_of<ShapeError>([&] { layer.backward_parameters(); });
    layer.forward(x);
    error_of<ShapeError>([&] { layer.backward_parameters(); });
    layer.backward(dy);
    layer.forward(x);
    error_of<ShapeError>([&] { layer.backward_parameters(); });
    layer.backward(dy);
    layer.set_mode(Mode::inference);
    layer.forward(x);
    error_of<ShapeError>([&] { layer.backward(dy); });
    error_of<ShapeError>([&] { layer.backward_parameters(); });
  };
  check(make(sequential({{"fc", Linear{3}}}, Shape{4})));
  check(Net::adapt(Network<Sequential<Linear{3}>, Shape{4}>{1}));
}

TEST_CASE("the two halves of backward make the whole") {
  Net whole = make(small_network()), halves = make(small_network());
  SharedTensor const x = noise({6, 4}, 1), dy = noise({6, 3}, 2);
  whole.forward(x), halves.forward(x);
  auto const dx = values_of(whole.backward(dy));
  CHECK(same_bits(values_of(halves.backward_input(dy)), dx));
  CHECK(gradients_of(halves) == Floats(8 * 4 + 8 + 3 * 8 + 3, 0.0f));
  halves.backward_parameters();
  CHECK(same_bits(gradients_of(halves), gradients_of(whole)));
}

TEST_CASE("samples without tensors mix with tensors") {
  Net layer = make(small_network());
  SharedTensor const two = noise({2, 4}, 1), five = noise({5, 4}, 3), dy = noise({5, 3}, 2);
  Net other = make(small_network());
  other.forward(five);
  auto const dx = values_of(other.backward(dy));
  layer.forward(two);
  layer.forward(five.read());
  CHECK(same_bits(values_of(layer.backward(dy)), dx));
  CHECK(layer.backward(dy).shape() == std::vector<Index>{5, 4});
}

TEST_CASE("a layer may read what it made") {
  Net layer = make(sequential({{"a", Linear{4}}, {"t", TanH{}}}, Shape{4})),
      other = make(sequential({{"a", Linear{4}}, {"t", TanH{}}}, Shape{4}));
  SharedTensor const x = noise({3, 4}, 1), dy = noise({3, 4}, 2);
  auto const& y = layer.forward(x);
  SharedTensor const copy = tensor({3, 4}, values_of(y));
  auto const again = values_of(layer.forward(y));
  CHECK(same_bits(values_of(other.forward(copy)), again));
  CHECK(same_bits(values_of(layer.backward(dy)), values_of(other.backward(dy))));
  CHECK(same_bits(gradients_of(layer), gradients_of(other)));
  // Its own input gradient as the next input.
  SharedTensor const dx = tensor({3, 4}, values_of(layer.backward(dy)));
  layer.forward(layer.backward(dy)), other.forward(dx);
  CHECK(same_bits(values_of(layer.backward(dy)), values_of(other.backward(dy))));
  CHECK(same_bits(gradients_of(layer), gradients_of(other)));
}

TEST_CASE("layers in a row: what one keeps of another survives") {
  Net front = make({"a", Linear{8}}, Shape{4}), back = make({"b", Linear{3}}, Shape{8});
  SharedTensor const x = noise({2, 4}, 1), dy = noise({2, 3}, 2);
  back.forward(front.forward(x));
  auto const dx = values_of(back.backward(dy)), gradients = gradients_of(back);
  for (Index batch : {64, 2}) {  // back still has the tensor it was given
    front.forward(noise({batch, 4}, 5));
    CHECK(same_bits(values_of(back.backward(dy)), dx));
    CHECK(same_bits(gradients_of(back), gradients));
  }
}

TEST_CASE("an output or input gradient that is held keeps its values") {
  Net net = make(small_network());
  SharedTensor const x = noise({2, 4}, 1), others = noise({2, 4}, 2), dy = noise({2, 3}, 3);
  SharedTensor const y = net.forward(x);
  Floats const values = values_of(y);
  SharedTensor const dx = net.backward(dy);
  Floats const gradients = values_of(dx);
  std::vector<SharedTensor> held;
  for (std::uint64_t time = 0; time < 3; ++time) {
    held.push_back(net.forward(others));
    CHECK_FALSE(same_bits(values_of(held.back()), values));
    held.push_back(net.backward(noise({2, 3}, 4 + time)));
    CHECK_FALSE(same_bits(values_of(held.back()), gradients));
  }
  CHECK_FALSE(same_bits(values_of(held[1]), values_of(held[5])));
  CHECK(same_bits(values_of(y), values));
  CHECK(same_bits(values_of(dx), gradients));
}

TEST_CASE("an input that is resized is not read again") {
  Net net = make(sequential({{"fc", Linear{2}}}, Shape{3})), loss = make({"loss", MeanSquaredError{}});
  SharedTensor const x = noise({20, 3}, 1), t = noise({20, 3}, 2);
  net.forward(x);
  loss.forward({x, t});
  x.resize({1, 3});
  error_of<ShapeError>([&] { net.backward(noise({20, 2}, 3)); });
  error_of<ShapeError>([&] { loss.backward(); });
  // Also where the values are where they were, as the heap has it for nearly as many: then the size tells.
  int in_place = 0;
  for (Index const size : {58, 59, 61, 62}) {
    SharedTensor const again = noise({20, 3}, 1);
    net.forward(again);
    float const* const before = again.read().data();
    again.resize({size});
    in_place += again.read().data() == before;
    error_of<ShapeError>([&] { net.backward(noise({20, 2}, 3)); });
  }
  UNSCOPED_INFO(in_place << " of 4 tensors were resized in place");
}

// Readers that do not read their input again let go of it, but the slope of its chain still needs it.
TEST_CASE("a second backward finds the slopes of chains before slices and poolings") {
  for (std::string const name : {"cpu", "cpu:reference"}) {
    Net net = Net::from_config(Backend{name}, sequential({{"a", Linear{40}},
                                                          {"t", TanH{}},
                                                          {"b", Linear{40}},
                                                          {"u", Sigmoid{}},
                                                          {"s", Slice{.begin = 3, .end = 33}},
                                                          {"c", Linear{2}}},
                                                         Shape{7}));
    net.forward(noise({6, 7}, 1));
    Floats const dx = values_of(net.backward(noise({6, 2}, 2)));
    net.backward(noise({6, 2}, 3));
    CHECK(same_bits(values_of(net.backward(noise({6, 2}, 2))), dx));
  }
}
