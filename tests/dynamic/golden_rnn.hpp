// What the tests of recurrent layers of configs share that compare with the values of tests/golden/rnn_*.py.
#pragma once

#include "support/golden_file.hpp"
#include "tensors.hpp"

namespace coldpress::test {

/// The multiples of 1/128 that the scripts take, too.
inline Floats numbers(Index count, Index factor) {
  Floats values;
  for (Index i = 0; i < count; ++i) values.push_back(static_cast<float>(i * factor % 101 - 50) / 128);
  return values;
}

struct GoldenRnn {
  Floats y, weights;
  std::vector<Floats> gradients;  // of all inputs
};
/// A forward and a backward pass of a network of one layer with these weights and gradients of its output.
inline GoldenRnn golden_pass(Net net, std::vector<SharedTensor> const& inputs) {
  Floats const weights = numbers(net.learnable_weights_data()[0].size(), 37);
  std::copy(weights.begin(), weights.end(), net.learnable_weights_data()[0].write_only().begin());
  SharedTensor const y = net.forward(inputs)[0];
  GoldenRnn made{values_of(y), {}, {}};
  SharedTensor dy{y.shape()};
  Floats const given = numbers(y.size(), 23);
  std::copy(given.begin(), given.end(), dy.write_only().begin());
  net.backward(dy);
  for (SharedTensor const& gradient : net.input_gradients()) made.gradients.push_back(values_of(gradient));
  made.weights = gradients_of(net);
  return made;
}

inline void check_golden(Floats const& found, std::vector<double> const& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == Approx(expected[i]).margin(2e-7).epsilon(2e-6));
}

/// f(backend, layer, values, suffix) for each layer of a file of golden values: the names of what belongs to the states
/// after the last step have the suffix "_of_layers", and those of all steps have none.
template <class F>
void for_each_golden_rnn(std::string const& file, Index hidden, F f) {
  struct Kind {
    std::string name;
    RnnType type;
    bool reset_after = true;
  };
  auto const golden = golden_cases(file);
  for (Kind const& kind : {Kind{"lstm", RnnType::lstm},
                           {"gru", RnnType::gru},
                           {"gru_reset_before", RnnType::gru, false},
                           {"tanh", RnnType::tanh}}) {
    for (auto const& [layers, directions] : {std::pair<Index, int>{2, 1}, {1, 2}, {2, 2}}) {
      std::string const name = kind.name + "_" + std::to_string(layers) + "_" + std::to_string(directions);
      for (std::string const backend : {"cpu", "cpu:reference"}) {
        Rnn layer{.hidden_size = hidden, .num_layers = layers, .rnn_type = kind.type, .reset_after = kind.reset_after};
        if (directions == 2) layer.direction_mode = DirectionMode::bi_directional;
        for (std::string const suffix : {"", "_of_layers"}) {
          INFO(name << suffix << " on " << backend);
          layer.output = suffix.empty() ? RnnOutput::sequence : RnnOutput::layers;
          f(backend, layer, golden.at(name), suffix);
        }
      }
    }
  }
}

}  // namespace coldpress::test
