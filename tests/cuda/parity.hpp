// Whether networks on a GPU compute what the reference computes.
#pragma once

#include "cuda/devices.hpp"
#include "dynamic/random_case.hpp"
#include "dynamic/random_network.hpp"

#include <coldpress/dynamic/describe.hpp>

#include <optional>

namespace coldpress::test {

/// On each of devices().
inline std::vector<Backend> backends(dynamic::BackendOptions const& options = {}) {
  std::vector<Backend> all;
  for (std::string const& device : devices()) all.emplace_back(device, options);
  return all;
}

/// All of it, to the bit.
inline bool same(Trace const& a, Trace const& b) {
  bool same = true;
  for (auto member :
       {&Trace::output, &Trace::input_gradient, &Trace::gradients, &Trace::inference, &Trace::losses, &Trace::trained})
    same = same && same_bits(a.*member, b.*member);
  return same;
}

inline bool is_emulated(Backend const& backend) { return backend.name() == "cuda:emulated"; }

/// Minibatches of up to 512 samples: few networks of them in emulation, which takes long, and three of these
/// five for each commit.
inline void check_large_minibatches(std::vector<Backend> const& all) {
  constexpr std::uint64_t every = COLDPRESS_NIGHTLY ? 12 : 24;
  Random random{512};
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    RandomNetwork const network{random};
    Index const batch = seed == 0 ? 512 : random.integer(10, 512);
    std::optional<Trace> exact;  // where somebody is compared with it
    for (Backend const& backend : all) {
      if (is_emulated(backend) && seed % every != 0) continue;
      if (!exact) exact.emplace("cpu:reference", network, seed, batch);
      Trace const tried{backend, network, seed, batch};
      INFO("network " << seed << ", batch " << batch << " on " << backend.name() << '\n'
                      << dynamic::describe(network.config()));
      CHECK(distance(tried, *exact, network, batch) <= 1);
      CHECK(same(tried, Trace{backend, network, seed, batch}));
    }
  }
}

/// Within the bound, and the same every time. For each commit, few of them in emulation.
inline void check_random_networks(std::vector<Backend> const& all) {
  double worst = 0;
  Random random{2025};
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    RandomNetwork const network{random};
    Index const batch = random.integer(1, 9);
    std::optional<Trace> exact;
    for (Backend const& backend : all) {
      if (is_emulated(backend) && seed >= cases(150)) continue;
      if (!exact) exact.emplace("cpu:reference", network, seed, batch);
      Trace const tried{backend, network, seed, batch};
      double const by = distance(tried, *exact, network, batch);
      INFO("network " << seed << ", batch " << batch << " on " << backend.name() << '\n'
                      << dynamic::describe(network.config()));
      CHECK(by <= 1);
      worst = by <= worst ? worst : by;
      if (seed < cases(40)) CHECK(same(tried, Trace{backend, network, seed, batch}));
    }
  }
  CHECK(worst > 0);
}
/// Networks of the size that people train: some steps each. A host in a GPU's place computes the smallest alone. They
/// are smooth: a rounding decides of no unit or window which way its gradient goes.
inline void check_whole_networks(std::vector<Backend> const& all) {
  struct Whole {
    LayerConfig network;
    Shape in;
    Index batch, longest, layers;  // terms of its longest sum
  };
  auto const dense = [](std::vector<Index> sizes, Index in) {
    std::vector<LayerConfig> layers;
    for (Index size : sizes) {
      std::string const number = std::to_string(layers.size());
      layers.emplace_back("linear" + number, Linear{size}), layers.emplace_back("tanh" + number, TanH{});
    }
    layers.emplace_back("last", Linear{10}), layers.emplace_back("scores", LogSoftmax{});
    return sequential(std::move(layers), Shape{in});
  };
  std::vector<LayerConfig> const lenet = {
      {"conv1", Convolution{.num_output = 20, .filter_shape = 5}},
      {"pool1", Pooling{.mode = PoolingMode::average, .filter_shape = 2, .stride = 2}},
      {"conv2", Convolution{.num_output = 50, .filter_shape = 5}},
      {"pool2", Pooling{.mode = PoolingMode::average, .filter_shape = 2, .stride = 2}},
      {"dense", Linear{500}},
      {"tanh", TanH{}},
      {"last", Linear{10}},
      {"scores", LogSoftmax{}}};
  std::vector<LayerConfig> const recurrent = {
      {"lstm", Rnn{.hidden_size = 64, .output = RnnOutput::last_step}}, {"last", Linear{10}}, {"scores", LogSoftmax{}}};
  Whole const networks[] = {{dense({128}, 784), Shape{784}, 64, 784, 2},
                            {dense({512, 512}, 784), Shape{784}, 128, 784, 3},
                            {dense({1024, 300}, 500), Shape{500}, 512, 1024, 3},
                            {sequential(lenet, Shape{1, 28, 28}), Shape{1, 28, 28}, 64, 64 * 576, 6},
                            {sequential(recurrent, Shape{12, 5}), Shape{12, 5}, 256, 256 * 12, 12}};
  for (Whole const& whole : networks) {
    auto const learned = [&](Backend const& backend) {
      SolverConfig config{.base_lr = 0.01f, .momentum = 0.9f};
      config.objective = LayerConfig{"loss", NegativeLogLikelihood{10}};
      Trainer solver{Net::from_config(backend, whole.network, {}, 11), config};
      std::vector<Floats> made;
      Random random{3};
      for (std::uint64_t step = 0; step < 3; ++step) {
        Floats labels;
        for (Index i = 0; i < whole.batch; ++i) labels.push_back(static_cast<float>(random.integer(0, 9)));
        made.push_back(values_of(
            solver.train_minibatch(noise({whole.batch, whole.in.size()}, step), tensor({whole.batch}, labels))));
        made.push_back({solver.loss()});
      }
      made.push_back(weights_of(solver.network()));
      return made;
    };
    std::vector<Floats> exact;
    for (Backend const& backend : all) {
      if (is_emulated(backend) && &whole != networks) continue;
      if (exact.empty()) exact = learned(Backend{"cpu:reference"});
      auto const made = learned(backend);
      INFO("batch " << whole.batch << " on " << backend.name() << '\n' << dynamic::describe(whole.network));
      for (std::size_t i = 0; i < exact.size(); ++i)
        CHECK(distance(made[i], exact[i], whole.longest) <= static_cast<double>(whole.layers));
    }
  }
}
/// With branches and joins, in passes and in training.
inline void check_random_graphs(std::vector<Backend> const& all) {
  for (Backend const& backend : all) {
    auto const network_of = [](LayerConfig const& config, Backend const& on) {
      return Net::from_config(on, config, {}, 11);
    };
    int trainings = 0;
    for (int number = 0; number < 120; ++number) {
      RandomConfig random{static_cast<std::uint64_t>(number), number % 3 == 0 ? 40 : 8, number % 2 == 1};
      LayerConfig const config = random.config();
      Index const batch = 1 + number % 5;
      INFO("network " << number << " on " << backend.name());
      Case here{random, network_of(config, backend), batch},
          there{random, network_of(config, Backend{"cpu:reference"}), batch};
      double const count = static_cast<double>(std::get<SequentialConfig>(config.layer_type).layers.size()),
                   terms = static_cast<double>(std::max(random.widest(), batch)) * count * count;  // errors add up
      Made const made = here.pass(), reference = there.pass();
      CHECK(excess_of(made.outputs, reference.outputs, terms) <= 1);
      CHECK(excess_of(made.inputs, reference.inputs, terms) <= 1);
      for (auto const& [name, values] : made.weights) CHECK(excess_of(values, reference.weights.at(name), terms) <= 1);
      if (random.losses() == 0 || here.net.learnable_weights_names().empty()) continue;
      for (Case* one : {&here, &there}) one->net.executable().set_step(0);
      auto const steps = trained(here, number % 4 == 1), exact = trained(there, number % 4 == 1);
      for (auto const& [name, values] : exact) CHECK(excess_of(steps.at(name), values, terms) <= 1);
      ++trainings;
    }
    CHECK(trainings > 20);
  }
}

}  // namespace coldpress::test
