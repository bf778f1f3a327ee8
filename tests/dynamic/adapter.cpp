// A static network behind the dynamic API: owned or borrowed, trained, moved, and refused where a dynamic one is.
#include "tensors.hpp"

#include <coldpress/backend/reference.hpp>
#include <coldpress/dynamic/adapter.hpp>

namespace {

using namespace coldpress;
using namespace coldpress::test;

using Type = Sequential<Linear{8}, TanH{}, Linear{3}, LogSoftmax{}>;
using Static = Network<Type, Shape{4}>;

template <class N>
Floats weights_of_static(N const& net) {
  Floats all;
  for (int i = 0; i < N::weight_count; ++i) {
    Floats values(static_cast<std::size_t>(N::weight_shape(i).size()));
    net.read_weight(i, values);
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

SolverConfig const config{.objective = LayerConfig{"nll", NegativeLogLikelihood{3}}, .base_lr = 0.1f, .momentum = 0.5f};

}  // namespace

TEST_CASE("an lvalue is borrowed, an rvalue owned") {
  Static net{1};
  Net borrowed = Net::adapt(net), owned = Net::adapt(Static{1});
  CHECK(borrowed.learnable_weights_names() ==
        std::vector<std::string>{"linear1-0", "linear1-0-bias", "linear2-0", "linear2-0-bias"});
  CHECK(borrowed.input_shape() == Shape{4});
  CHECK(borrowed.output_shape() == Shape{3});
  CHECK(same_bits(weights_of(borrowed), weights_of_static(net)));
  CHECK(same_bits(weights_of(owned), weights_of_static(net)));
  borrowed.learnable_weights_data()[1].write_only()[0] = 7;
  SharedTensor const x = noise({2, 4}, 1);
  auto const y = values_of(borrowed.forward(x));
  CHECK(weights_of_static(net)[8 * 4] == 7);
  CHECK(same_bits(y, copy_of<float>(net.forward(x.read()))));
  CHECK_FALSE(same_bits(y, values_of(owned.forward(x))));
}

TEST_CASE("its config builds the same network") {
  Net adapted = Net::adapt(Static{5}), built = Net::from_config(Backend::like_static(), adapted.config(), {}, 5);
  SharedTensor const x = noise({3, 4}, 1), dy = noise({3, 3}, 2);
  CHECK(same_bits(values_of(adapted.forward(x)), values_of(built.forward(x))));
  CHECK(same_bits(values_of(adapted.backward(dy)), values_of(built.backward(dy))));
  adapted.update_weights(), built.update_weights();
  CHECK(same_bits(weights_of(adapted), weights_of(built)));
  adapted.clear_weights_gradients();
  CHECK(gradients_of(adapted) == Floats(weights_of(adapted).size(), 0.0f));
}

TEST_CASE("a batch the compiler knows is the only one") {
  Net one = Net::adapt(Network<Type, Shape{4}, Batch<2>>{1});
  SharedTensor const x = noise({2, 4}, 1), dy = noise({2, 3}, 2);
  Net any = Net::adapt(Static{1});
  CHECK(same_bits(values_of(one.forward(x)), values_of(any.forward(x))));
  CHECK(same_bits(values_of(one.backward(dy)), values_of(any.backward(dy))));
  error_of<ShapeError>([&] { one.forward(noise({3, 4}, 1)); });
}

TEST_CASE("it trains what it borrows") {
  Static net{1};
  auto const before = weights_of_static(net);
  {
    Trainer solver{Net::adapt(net), config};
    SharedTensor const x = noise({6, 4}, 1), labels = tensor({6}, {0, 1, 2, 0, 1, 2});
    float first = 0;
    for (int step = 0; step < 50; ++step) {
      float const loss = solver.train_minibatch(x.read(), labels.read());
      if (step == 0) first = loss;
    }
    CHECK(solver.loss() < first);
    CHECK(solver.iteration() == 50);
    CHECK(same_bits(weights_of(solver.network()), weights_of_static(net)));
    error_of<DataError>([&] { solver.train_minibatch(x, tensor({6}, Floats(6, 3.0f))); });
    CHECK(same_bits(weights_of(solver.network()), weights_of_static(net)));
    error_of<ShapeError>([&] { solver.mut_network().backward(noise({6, 3}, 1)); });
  }
  CHECK_FALSE(same_bits(before, weights_of_static(net)));
}

TEST_CASE("it refuses what no network has") {
  Net adapted = Net::adapt(Static{1});
  error_of<ShapeError>([&] { adapted.reserve(0); });
  error_of<ShapeError>([&] { adapted.executable().set_frozen(99, true); });
  error_of<ShapeError>([&] { adapted.executable().clear(-1); });
}

TEST_CASE("an option that it could not follow is refused, and nothing has changed") {
  auto in_parts = config;
  in_parts.microbatch = 2;
  Trainer solver{Net::adapt(Static{1}), in_parts};
  Floats const before = weights_of(solver.network());
  auto const error = error_of<UnsupportedError>([&] {
    solver.train_minibatch(noise({6, 4}, 1), tensor({6}, {0, 1, 2, 0, 1, 2}));
  });
  CHECK(error.what() == std::string{"solver: an adapted network computes a minibatch at once, and microbatch is 2; "
                                    "give the network type a coldpress::Solver with this option"});
  CHECK(same_bits(weights_of(solver.network()), before));
  CHECK(solver.iteration() == 0);
}

TEST_CASE("it moves, and its tensors outlive it") {
  std::optional<Net> adapted = Net::adapt(Static{1});
  SharedTensor const x = noise({2, 4}, 1);
  auto const y = values_of(adapted->forward(x)), w = weights_of(*adapted);
  Net moved = std::move(*adapted);
  adapted.reset();
  CHECK(same_bits(values_of(moved.forward(x)), y));
  auto const tensors = moved.learnable_weights_data();
  moved = Net::adapt(Static{2});
  CHECK(same_bits(values_of(tensors), w));
  CHECK_FALSE(same_bits(values_of(moved.forward(x)), y));
}

TEST_CASE("an adapted network of the reference backend trains as the fast one does") {
  using Layers = Sequential<Linear{6}, TanH{}, Linear{3}>;
  Network<Layers, Shape{4}> fast{3};
  Network<Layers, Shape{4}, DynamicBatch, Reference<float>> exact{3};
  dynamic::SolverConfig const squares{.objective = dynamic::LayerConfig{"loss", MeanSquaredError{}}, .base_lr = 0.1f};
  dynamic::Solver a{dynamic::Layer::adapt(fast), squares}, b{dynamic::Layer::adapt(exact), squares};
  std::vector<float> x(20), t(15);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 7) / 7;
  for (std::size_t i = 0; i < t.size(); ++i) t[i] = static_cast<float>(i % 5) / 5;
  for (int step = 0; step < 5; ++step) {
    float const loss = a.train_minibatch(x, t);
    CHECK(b.train_minibatch(x, t) == Approx(loss).epsilon(1e-5));
  }
}
