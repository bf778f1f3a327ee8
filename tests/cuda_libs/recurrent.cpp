// Recurrent layers that ask for cuDNN. On the emulated device loops compute what cuDNN's functions are called with, and
// what the descriptors' attributes say.
#include "cuda/parity.hpp"
#include "cuda/since.hpp"

#include <libraries/convolution_call.hpp>
#include <libraries/library_error.hpp>
#include <libraries/rnn_call.hpp>

namespace {

using namespace coldpress;
using namespace coldpress::test;

dynamic::BackendOptions const with_libraries{.libraries = true};

/// While it lasts, cuDNN has weights elsewhere than coldpress on the emulated device.
struct WeightsApart {
  WeightsApart() { cuda::emulated_weights_are_apart = true; }
  ~WeightsApart() { cuda::emulated_weights_are_apart = false; }
};

/// A recurrent layer that cuDNN can be, of a random kind, for samples {steps, features}.
struct RandomRnn {
  Rnn layer;
  Index steps, features;

  explicit RandomRnn(Random& random)
      : layer{.hidden_size = random.integer(1, 9),
              .num_layers = random.integer(1, 3),
              .rnn_type = static_cast<RnnType>(random.integer(0, 3)),
              .input_mode = static_cast<InputMode>(random.integer(0, 1)),
              .direction_mode = static_cast<DirectionMode>(random.integer(0, 1)),
              .output = static_cast<RnnOutput>(random.integer(0, 2))},
        steps(random.integer(1, 6)),
        features(layer.input_mode == InputMode::skip_input ? layer.hidden_size : random.integer(1, 7)) {
    if (random.integer(0, 3) == 0) layer.truncation = static_cast<std::uint64_t>(steps);  // which is none
  }
  LayerConfig config() const { return sequential({{"rnn", layer}, {"last", Linear{3}}}, Shape{steps, features}); }
  SharedTensor samples(Index batch, std::uint64_t seed) const { return noise({batch, steps, features}, seed); }
};

/// Outputs and gradients in passes of two sizes, and the weights after some steps of training, some of two minibatches.
Floats made_by(Backend const& backend, RandomRnn const& random) {
  Floats made;
  auto const take = [&](Floats const& values) { made.insert(made.end(), values.begin(), values.end()); };
  Net net = Net::from_config(backend, random.config(), {}, 11);
  // Biases too: with those that are 0, a unit of ReLU after units that are all 0 is at its kink, where cuDNN and
  // coldpress differ in the gradient.
  for (std::size_t w = 0; w < net.learnable_weights_data().size(); ++w)
    std::ranges::copy(values_of(noise({net.learnable_weights_data()[w].size()}, w, -0.6f, 0.6f)),
                      net.learnable_weights_data()[w].write_only().begin());
  for (Index batch : {3, 5, 2}) {
    take(values_of(net.forward(random.samples(batch, 1))));
    take(values_of(net.backward(noise({batch, 3}, 2))));
    take(gradients_of(net));
  }
  net.set_mode(Mode::inference);
  take(values_of(net.forward(random.samples(4, 3))));
  net.set_mode(Mode::training);
  SolverConfig config{.base_lr = 0.1f, .momentum = 0.5f};
  config.accumulate = 2;
  config.objective = LayerConfig{"loss", MeanSquaredError{}};
  Trainer solver{std::move(net), config};
  for (std::uint64_t step = 0; step < 4; ++step) {
    Index const batch = step % 2 == 0 ? 3 : 2;
    solver.train_minibatch(random.samples(batch, step), noise({batch, 3}, step + 9));
  }
  take(weights_of(solver.network()));
  return made;
}
void check_random_layers(int count) {
  Random random{7};
  for (int number = 0; number < count; ++number) {
    RandomRnn const network{random};
    Floats const reference = made_by(Backend{"cpu:reference"}, network);
    for (Backend const& backend : backends(with_libraries)) {
      INFO("network " << number << " on " << backend.name() << '\n' << dynamic::describe(network.config()));
      Since const since;
      CHECK(excess_of(made_by(backend, network), reference, 300) <= 1);
      // 3 passes with a backward one, one without, 4 steps; of the dense layer likewise.
      CHECK(since().library_calls == 2 * (3 * 3 + 1 + 4 * 3));
    }
  }
}
Net net_of(Backend const& backend, Rnn const& layer) {
  return Net::from_config(backend, sequential({{"rnn", layer}}, Shape{4, 3}), {}, 11);
}
Rnn const deep{.hidden_size = 5, .num_layers = 2, .direction_mode = DirectionMode::bi_directional};

}  // namespace

TEST_CASE("recurrent layers by cuDNN are within the bound of the reference") { check_random_layers(80); }

TEST_CASE("weights that cuDNN has elsewhere are copied there and back") {
  WeightsApart const apart;
  check_random_layers(40);
}

TEST_CASE("a backward pass can be repeated, and cut into its halves") {
  SharedTensor const x = noise({3, 4, 3}, 1), dy = noise({3, 4, 10}, 2);
  for (Backend const& backend : backends(with_libraries)) {
    for (RnnType type : {RnnType::lstm, RnnType::gru, RnnType::relu, RnnType::tanh}) {
      Rnn layer = deep;
      layer.rnn_type = type;
      Net net = net_of(backend, layer);
      auto const gradients = [&](Floats const& dx) {
        Floats all = gradients_of(net);
        all.insert(all.end(), dx.begin(), dx.end());
        return all;
      };
      net.forward(x);
      Floats const first = gradients(values_of(net.backward(dy)));
      CHECK(same_bits(gradients(values_of(net.backward(dy))), first));
      Floats const dx = values_of(net.backward_input(dy));
      net.backward_parameters();
      CHECK(same_bits(gradients(dx), first));
      net.backward_parameters();
      CHECK(same_bits(gradients(dx), first));
      // Inference in between keeps nothing, and takes nothing away.
      net.forward(x);
      net.set_mode(Mode::inference);
      net.forward(noise({2, 4, 3}, 8));
      net.set_mode(Mode::training);
      net.forward(x);
      CHECK(same_bits(gradients(values_of(net.backward(dy))), first));
    }
  }
}

TEST_CASE("steps with recurrent layers allocate nothing, wait for nothing and start graphs that are there") {
  auto const check = [](std::vector<Backend> const& all) {
    for (Backend const& backend : all) {
      SolverConfig config{.base_lr = 0.01f, .momentum = 0.9f};
      config.objective = LayerConfig{"loss", MeanSquaredError{}};
      Trainer solver{
          Net::from_config(
              backend,
              sequential({{"first", Rnn{.hidden_size = 6}},
                          {"second", Rnn{.hidden_size = 5, .rnn_type = RnnType::gru, .output = RnnOutput::last_step}},
                          {"last", Linear{3}}},
                         Shape{4, 3})),
          config};
      auto const train = [&](int steps, std::uint64_t seed) {
        for (int step = 0; step < steps; ++step, ++seed) {
          Floats const x = values_of(noise({7, 4, 3}, seed)), t = values_of(noise({7, 3}, seed + 100));
          solver.train_minibatch(x, t);
        }
      };
      train(3, 0);
      Since const since;
      train(10, 3);
      auto const made = since();
      CHECK(made.launches == 10);
      CHECK(made.graphs == 0);
      CHECK(made.allocations == 0);
      CHECK(made.waits == 0);
      CHECK(made.library_calls == 10 * (3 + 3 + 3));
    }
  };
  check(backends(with_libraries));
  WeightsApart const apart;
  check({Backend{"cuda:emulated", with_libraries}});
}

TEST_CASE("recurrent layers that cuDNN is not asked for stay with kernels") {
  SharedTensor const x = noise({2, 4, 3}, 1);
  for (std::string const& device : devices()) {
    auto const calls = [&](Rnn const& layer, dynamic::BackendOptions const& options = with_libraries) {
      Net net = net_of(Backend{device, options}, layer);
      Since const since;
      net.forward(x);
      return since().library_calls;
    };
    CHECK(calls({.hidden_size = 5}) == 1);
    CHECK(calls({.hidden_size = 5}, {.precision = Precision::tf32, .libraries = true}) == 1);
    CHECK(calls({.hidden_size = 5}, {.precision = Precision::bf16, .libraries = true}) == 0);
    CHECK(calls({.hidden_size = 5}, {}) == 0);
    CHECK(calls({.hidden_size = 5, .num_layers = 2, .dropout_probability = 0.5f}) == 0);
    CHECK(calls({.hidden_size = 5, .num_layers = 1, .dropout_probability = 0.5f}) == 1);
    CHECK(calls({.hidden_size = 5, .rnn_type = RnnType::gru}) == 1);
    CHECK(calls({.hidden_size = 5, .rnn_type = RnnType::gru, .reset_after = false}) == 0);
    CHECK(calls({.hidden_size = 5, .truncation = 3}) == 0);
    CHECK(calls({.hidden_size = 5, .truncation = 4}) == 1);

    Net stream = Net::from_config(Backend{device, with_libraries}, sequential({{"rnn", Rnn{}}}, Shape{1, 3}));
    stream.set_mode(Mode::inference);
    Floats const step = values_of(noise({1, 3}, 4));
    Since const since;
    stream.step(step), stream.step(step);
    CHECK(since().library_calls == 0);
  }
}

TEST_CASE("cuDNN is told the precision, and says where weights are") {
  cuda::RnnTask const lstm{RnnType::lstm, {4, 3, 5, 2, 2, false}, 7, 4, RnnOutput::sequence, true};
  alignas(16) float weight[4] = {};
  auto const math = [&](bool tf32) {
    cuda::RnnPlan const plan{lstm, tf32, cuda::emulated_rnn(), nullptr, weight};
    cudnnRNNAlgo_t algorithm{};
    cudnnRNNMode_t mode{};
    cudnnRNNBiasMode_t bias{};
    cudnnDirectionMode_t direction{};
    cudnnRNNInputMode_t input{};
    cudnnDataType_t type{}, precision{};
    cudnnMathType_t told{};
    std::int32_t sizes[4] = {};
    cudnnDropoutDescriptor_t dropout{};
    std::uint32_t flags = 0;
    REQUIRE(cudnnGetRNNDescriptor_v8(plan.descriptor(), &algorithm, &mode, &bias, &direction, &input, &type, &precision,
                                     &told, &sizes[0], &sizes[1], &sizes[2], &sizes[3], &dropout,
                                     &flags) == CUDNN_STATUS_SUCCESS);
    return told;
  };
  CHECK(math(false) == CUDNN_FMA_MATH);
  CHECK(math(true) == CUDNN_DEFAULT_MATH);
}

TEST_CASE("weights are where cuDNN has them") {
  for (std::string const& name : devices()) {
    auto const device = cuda::open_device(name);
    device->make_current();
    auto const cudnn = device->emulated() ? nullptr : cuda::open_cudnn(device->stream());
    cuda::RnnLibrary const& library = device->emulated() ? cuda::emulated_rnn() : cuda::cudnn_rnn();
    int in_place = 0, all = 0;
    Random random{3};
    for (; all < 100; ++all) {
      RandomRnn const of{random};
      RecurrentWeights const weights = parameters_of(of.layer, Shape{of.steps, of.features})[0].recurrent;
      cuda::DeviceMemory<float> memory{device};
      memory.reserve(weights.size());
      auto const plan = [&] {
        return cuda::RnnPlan{
            {of.layer.rnn_type, weights, 7, of.steps, of.layer.output, true}, false, library, cudnn, memory.data()}
            .weights_are_in_place();
      };
      in_place += plan();
      if (!device->emulated()) continue;
      WeightsApart const apart;
      CHECK(!plan());
    }
    if (device->emulated()) CHECK(in_place == all);
    WARN(name << ": cuDNN has the packed weights of " << in_place << " layers of " << all << " in place");
  }
}
