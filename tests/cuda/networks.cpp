// What a network computes with the GPU's kernels is the reference's, within the bound, the same every time, and does
// not depend on the order of the threads, which the host can choose.
#include "cuda/parity.hpp"

#include <coldpress/backend/grid.hpp>
#include <coldpress/cuda/device.hpp>

#include <array>
#include <cstdlib>

using namespace coldpress;
using namespace coldpress::test;

namespace {

/// While it lasts, devices that are opened have no clusters.
struct WithoutClusters {
  WithoutClusters() { ::setenv("COLDPRESS_CUDA_CLUSTERS", "0", 1); }
  ~WithoutClusters() { ::unsetenv("COLDPRESS_CUDA_CLUSTERS"); }
};

/// Forward and back through a layer: its outputs, input gradients and weights' gradients, each compared by itself.
void check_products(Backend const& backend, LayerConfig const& config, Index in, Index out, Index batch, Index terms) {
  INFO(dynamic::describe(config) << "batch " << batch << " on " << backend.name());
  SharedTensor const x = noise({batch, in}, 1), dy = noise({batch, out}, 2);
  auto const made = [&](Backend const& by) {
    Net net = Net::from_config(by, config, {}, 3);
    Floats const y = values_of(net.forward(x)), dx = values_of(net.backward(dy));
    return std::array{y, dx, gradients_of(net)};
  };
  auto const tried = made(backend), exact = made(Backend{"cpu:reference"});
  for (std::size_t k = 0; k < tried.size(); ++k) CHECK(excess_of(tried[k], exact[k], static_cast<double>(terms)) <= 1);
}

}  // namespace

TEST_CASE("random networks are within the bound of the reference") { check_random_networks(backends()); }

TEST_CASE("networks of common sizes learn what the reference learns") { check_whole_networks(backends()); }

TEST_CASE("random networks with minibatches of up to 512 samples are within the bound of the reference") {
  check_large_minibatches(backends());
}

TEST_CASE("without clusters networks have the same bits") {
  Random random{77};
  Index with = 0, without = 0;
  auto const count = [](Index& of, auto const& make) {
    Index const before = cuda::counts().clusters;
    auto const made = make();
    of += cuda::counts().clusters - before;
    return made;
  };
  auto const names = devices();
  for (std::uint64_t seed = 0; seed < cases(40); ++seed) {
    RandomNetwork const network{random};
    Index const batch = random.integer(1, 40);
    for (std::string const& device : names) {
      auto const trace = [&] { return Trace{device, network, seed, batch}; };
      Trace const clusters = count(with, trace);
      WithoutClusters const off;
      INFO("network " << seed << ", batch " << batch << " on " << device);
      CHECK(same(count(without, trace), clusters));
    }
  }
  CHECK(with > 0);
  CHECK(without == 0);
}

TEST_CASE("large products are the reference's, value by value") {
  auto const dense = [](Index out) { return Linear{.output_size = out}; };
  for (Backend const& backend : backends()) {
    // Forward has so many tiles of 128 x 128 that a GPU takes these.
    check_products(backend, sequential({{"wide", dense(1537)}}, Shape{19}), 19, 1537, 1410, 1537);
    if (is_emulated(backend)) continue;
    for (auto const [in, out, batch] : {std::array<Index, 3>{784, 1024, 512},
                                        {1024, 1024, 512},
                                        {4096, 1000, 128},
                                        {2047, 2049, 1025},
                                        {9000, 10, 3}})
      check_products(backend, sequential({{"dense", dense(out)}}, Shape{in}), in, out, batch,
                     std::max({in, out, batch}));
    LayerConfig const images =
        sequential({{"images", Convolution{.num_output = 64, .filter_shape = 5, .padding = 2}}}, Shape{32, 16, 16});
    check_products(backend, images, 32 * 256, 64 * 256, 128, 128 * 256);
  }
}

TEST_CASE("a small network has every kind of kernel") {
  LayerConfig const config = sequential({{"conv", Convolution{.num_output = 5, .filter_shape = 3}},
                                         {"relu", ReLU{}},
                                         {"pool", Pooling{.filter_shape = 2, .stride = 2}},
                                         {"batch", BatchNormalization{}},
                                         {"steps", Reshape{{5, 9}}},
                                         {"lstm", Rnn{.hidden_size = 6, .output = RnnOutput::last_step}},
                                         {"drop", Dropout{.probability = 0.3f}},
                                         {"last", Linear{4}},
                                         {"scores", LogSoftmax{}}},
                                        Shape{1, 8, 8});
  auto const steps = [&](std::string const& device) {
    SolverConfig options{.base_lr = 0.01f, .momentum = 0.9f};
    options.objective = LayerConfig{"loss", NegativeLogLikelihood{4}};
    options.clip_gradients = 0.5f;
    Trainer solver{Net::from_config(Backend{device}, config, {}, 3), options};
    Floats made;
    for (std::uint64_t step = 0; step < 2; ++step) {
      solver.train_minibatch(noise({6, 1, 8, 8}, step), tensor({6}, {0, 1, 2, 3, 1, 2}));
      made.push_back(solver.loss());
    }
    Floats const weights = weights_of(solver.network());
    made.insert(made.end(), weights.begin(), weights.end());
    return made;
  };
  Floats const exact = steps("cpu:reference");
  for (std::string const& device : devices()) CHECK(excess(steps(device), copy_of<double>(exact), 3000, 1) <= 1);
}

TEST_CASE("products are in the precision that is asked for") {
  LayerConfig const config =
      sequential({{"conv", Convolution{.num_output = 9, .filter_shape = 3}}, {"tanh", TanH{}}, {"last", Linear{30}}},
                 Shape{3, 9, 9});
  for (std::string const& device : devices()) {
    auto const made = [&](Precision precision) {
      return values_of(
          Net::from_config(Backend{device, {.precision = precision}}, config).forward(noise({20, 3, 9, 9}, 1)));
    };
    Floats const exact = made(Precision::fp32);
    auto const distance = [&](Floats const& y) {
      double apart = 0, whole = 0;
      for (std::size_t i = 0; i < y.size(); ++i) apart += std::pow(y[i] - exact[i], 2), whole += std::pow(exact[i], 2);
      return std::sqrt(apart / whole);
    };
    double const tf32 = distance(made(Precision::tf32)), bf16 = distance(made(Precision::bf16));
    CHECK((1e-5 < tf32 && tf32 < 1e-3 && 1e-3 < bf16 && bf16 < 1e-2));
  }
}

TEST_CASE("the order of threads changes no bit") {
  Random random{2026};
  for (std::uint64_t seed = 0; seed < cases(40); ++seed) {
    RandomNetwork const network{random};
    Trace const forward{"cuda:emulated", network, seed, 5};
    for (auto const order : {grid::Order::backward, grid::Order::shuffled}) {
      grid::order() = order;
      Trace const other{"cuda:emulated", network, seed, 5};
      grid::order() = grid::Order::forward;
      INFO("network " << seed << '\n' << dynamic::describe(network.config()));
      CHECK(same(forward, other));
    }
  }
}

TEST_CASE("a machine without a GPU says what is missing") {
  try {
    Backend const backend{"cuda:0"};
    SUCCEED("there is a GPU");
  } catch (UnsupportedError const& error) {
    INFO(error.what());
    CHECK(says(error, "cuda:0"));
    CHECK((says(error, "driver") || says(error, "GPUs")));
  }
  CHECK(says(error_of<UnsupportedError>([] { Backend{"cuda:one"}; }), "cuda:NUMBER"));
  CHECK(says(error_of<UnsupportedError>([] { Backend{"cuda", {.threads = 2}}; }), "threads"));
  CHECK(says(error_of<UnsupportedError>([] { Backend{"cuda", {.bfloat16 = true}}; }), "bfloat16"));
  CHECK(says(error_of<UnsupportedError>([] { Backend{"cuda", {.libraries = true}}; }), "coldpress::cuda_libs"));
}
