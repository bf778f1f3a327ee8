// Networks that ask for cuDNN and cuBLASLt. On the emulated device loops compute what these libraries were told, read
// back from their own descriptors: wrong shapes, strides, windows, addresses or a missing bias are wrong values.
#include "cuda/parity.hpp"
#include "cuda/since.hpp"

#include <libraries/convolution_call.hpp>

namespace {

using namespace coldpress;
using namespace coldpress::test;

dynamic::BackendOptions const with_libraries{.libraries = true};

LayerConfig lenet() {
  return sequential({{"conv1", Convolution{.num_output = 20, .filter_shape = 5}},
                     {"pool1", Pooling{.filter_shape = 2, .stride = 2}},
                     {"conv2", Convolution{.num_output = 50, .filter_shape = 5}},
                     {"pool2", Pooling{.filter_shape = 2, .stride = 2}},
                     {"dense", Linear{500}},
                     {"relu", ReLU{}},
                     {"scores", Linear{10}},
                     {"log", LogSoftmax{}}},
                    Shape{1, 28, 28});
}
/// Of images {3, 9, 9}, whose samples do not fill whole multiples of 16 bytes.
LayerConfig small() {
  return sequential({{"conv", Convolution{.num_output = 5, .filter_shape = 3, .stride = 2, .padding = 1}},
                     {"tanh", TanH{}},
                     {"again", Convolution{.num_output = 3, .filter_shape = 2, .has_bias = false}},
                     {"last", Linear{3}}},
                    Shape{3, 9, 9});
}
Trainer trainer_of(LayerConfig const& network, Backend const& backend, dynamic::LayerType const& loss) {
  SolverConfig config{.base_lr = 0.01f, .momentum = 0.9f};
  config.objective = LayerConfig{"loss", loss};
  return {Net::from_config(backend, network, {}, 11), config};
}
void train(Trainer& solver, int steps, std::uint64_t seed = 0) {
  for (int step = 0; step < steps; ++step, ++seed) {
    Floats const x = values_of(noise({7, 3, 9, 9}, seed)), t = values_of(noise({7, 3}, seed + 100));
    solver.train_minibatch(x, t);
  }
}

}  // namespace

TEST_CASE("random networks are within the bound of the reference, by libraries") {
  Since const since;
  check_random_networks(backends(with_libraries));
  CHECK(since().library_calls > 1000);
}

TEST_CASE("large minibatches are within the bound of the reference, by libraries") {
  check_large_minibatches(backends(with_libraries));
}
TEST_CASE("networks of common sizes learn what the reference learns, by libraries") {
  check_whole_networks(backends(with_libraries));
}

TEST_CASE("random graphs are within the bound of the reference, by libraries") {
  Since const since;
  check_random_graphs(backends(with_libraries));
  CHECK(since().library_calls > 1000);
}

TEST_CASE("every product of LeNet with its weights is a library's") {
  for (Backend const& backend : backends(with_libraries)) {
    auto const steps = [](Backend const& by) {
      Trainer solver = trainer_of(lenet(), by, NegativeLogLikelihood{10});
      Floats made;
      for (std::uint64_t step = 0; step < 2; ++step) {
        solver.train_minibatch(noise({3, 1, 28, 28}, step), tensor({3}, {7, 0, 3}));
        made.push_back(solver.loss());
      }
      Floats const weights = weights_of(solver.network());
      made.insert(made.end(), weights.begin(), weights.end());
      return made;
    };
    Since const since;
    Floats const made = steps(backend);
    // Forward, and the gradients of the weights, of four layers; input gradients of all but the first.
    CHECK(since().library_calls == 2 * (4 + 4 + 3));
    CHECK(excess_of(made, steps(Backend{"cpu:reference"}), 3000) <= 1);
  }
}

TEST_CASE("steps with libraries allocate nothing, wait for nothing and start graphs that are there") {
  for (Backend const& backend : backends(with_libraries)) {
    Trainer solver = trainer_of(small(), backend, MeanSquaredError{});
    train(solver, 3);
    Since const since;
    train(solver, 10, 3);
    auto const made = since();
    CHECK(made.launches == 10);
    CHECK(made.graphs == 0);
    CHECK(made.allocations == 0);
    CHECK(made.waits == 0);
    CHECK(made.downloads == 0);
    CHECK(made.uploads == 20);
    CHECK(made.library_calls == 10 * (3 + 3 + 2));
    // The activation and its slope, two gradients of biases, the loss, and the update.
    CHECK(made.kernels == 10 * 6);
    // A graph for each of the two places of minibatches: the update alone gets other arguments, its number.
    CHECK(made.patches < 20);
  }
}

TEST_CASE("what libraries read and write is at multiples of 16 bytes, whatever the sizes") {
  Backend const backend{"cuda:emulated", with_libraries};
  for (Index size = 1; size < 10; ++size) {
    LayerConfig const network = sequential({{"rnn", Rnn{.hidden_size = size, .output = RnnOutput::last_step}},
                                            {"first", Linear{size}},
                                            {"between", LayerNormalization{}},
                                            {"last", Linear{3}}},
                                           Shape{2, 3});
    Trainer solver = trainer_of(network, backend, MeanSquaredError{});
    Since const since;
    for (Index batch : {1, 3}) solver.train_minibatch(noise({batch, 2, 3}, 1), noise({batch, 3}, 2));
    CHECK(since().library_calls == 2 * (3 + 3 + 3));
  }
  // Where sums are split into 43 parts, the scratch is an odd number of values.
  Trainer solver =
      trainer_of(sequential({{"first", Linear{129}}, {"last", Linear{3}}}, Shape{5}), backend, MeanSquaredError{});
  Since const since;
  solver.train_minibatch(noise({3, 5}, 1), noise({3, 3}, 2));
  CHECK(since().library_calls == 2 + 2 + 1);
}

TEST_CASE("gradients are added where several minibatches are one update's") {
  for (Backend const& backend : backends(with_libraries)) {
    auto const steps = [](Backend const& by) {
      Net net = Net::from_config(by, small(), {}, 11);
      for (std::uint64_t round = 0; round < 3; ++round) {
        net.forward(noise({4, 3, 9, 9}, round));
        net.backward(noise({4, 3}, round + 9));
      }
      SolverConfig config{.base_lr = 0.1f};
      config.accumulate = 2;
      config.objective = LayerConfig{"loss", MeanSquaredError{}};
      Floats made = gradients_of(net);
      Trainer solver{std::move(net), config};
      train(solver, 4);
      Floats const weights = weights_of(solver.network());
      made.insert(made.end(), weights.begin(), weights.end());
      return made;
    };
    CHECK(excess_of(steps(backend), steps(Backend{"cpu:reference"}), 1000) <= 1);
  }
}

TEST_CASE("what libraries are not asked for stays with kernels") {
  SharedTensor const x = noise({2, 3, 9, 9}, 1);
  for (std::string const& device : devices()) {
    auto const calls = [&](dynamic::BackendOptions const& options) {
      Net net = Net::from_config(Backend{device, options}, small());
      Since const since;
      net.forward(x);
      return since().library_calls;
    };
    CHECK(calls({}) == 0);
    CHECK(calls({.libraries = true}) == 3);
    CHECK(calls({.precision = Precision::tf32, .libraries = true}) == 3);
    CHECK(calls({.precision = Precision::bf16, .libraries = true}) == 0);

    // Sequences that go on: what came before is nothing that cuDNN knows of.
    Net net = Net::from_config(Backend{device, with_libraries},
                               sequential({{"conv", Convolution{.num_output = 3, .filter_shape = 3}}}, Shape{2, 2}));
    net.set_mode(Mode::inference);
    Floats const sequence = values_of(noise({1, 2, 2}, 4));
    Since const since;
    net.step(sequence), net.step(sequence);
    CHECK(since().library_calls == 0);
  }
}

TEST_CASE("a pass has calls of libraries, or is one kernel") {
  CHECK(says(error_of<UnsupportedError>([] {
               Backend{"cuda:emulated", {.fused = true, .libraries = true}};
             }),
             "fused"));
}

TEST_CASE("what a library refuses names the layer") {
  auto const device = cuda::emulated_device();
  auto const libraries = cuda::libraries_maker()(device, Precision::fp32);
  ConvolutionGeometry g = Convolution{.num_output = 4, .filter_shape = 2}.geometry({3, 5, 5});
  g.groups = 2;
  Rows<float> const none{nullptr, 7, 0, 0};
  for (int time = 0; time < 2; ++time) {
    Error const error = error_of<ShapeError>(
        [&] { libraries->multiply(cuda::LayerPass::forward, g, none, nullptr, nullptr, none, false); });
    CHECK(error.layer() == "convolution of 3 x 5 x 5 to 4 x 4 x 4, 7 samples");
  }
}

TEST_CASE("what is no plan of a convolution is a LibraryError") {
  CHECK_THROWS_AS(cuda::AskedConvolution{"{}"}, cuda::LibraryError);
  CHECK_THROWS_AS(cuda::AskedConvolution{R"({"nodes":[{"operation":"CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD"}]})"},
                  cuda::LibraryError);
}

TEST_CASE("minibatches that were uploaded are copied to where libraries read them, and nothing is captured anew") {
  for (Backend const& backend : backends(with_libraries)) {
    Trainer solver = trainer_of(small(), backend, MeanSquaredError{}),
            plain = trainer_of(small(), backend, MeanSquaredError{});
    std::vector<std::pair<SharedTensor, SharedTensor>> here, there;
    for (std::uint64_t number = 0; number < 12; ++number) {
      here.emplace_back(noise({7, 3, 9, 9}, number), noise({7, 3}, number + 100));
      there.emplace_back(solver.network().upload(here.back().first), solver.network().upload(here.back().second));
    }
    auto const train = [](Trainer& by, auto const& all) {
      for (auto const& [x, t] : all) by.train_minibatch(x, t);
    };
    train(solver, there), train(plain, here);
    Since const since;
    train(solver, there);
    CHECK(since().uploads == 0);
    CHECK(since().copies == 12 * 2);
    CHECK(since().graphs == 0);
    CHECK(since().waits == 0);
    CHECK(since().allocations == 0);
    train(plain, here);
    CHECK(same_bits(weights_of(solver.network()), weights_of(plain.network())));
  }
}
