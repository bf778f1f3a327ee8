// A random network with its inputs, and all that passes and steps of training make of it.
#pragma once

#include "dynamic/tensors.hpp"
#include "support/random_config.hpp"

#include <map>

namespace coldpress::test {

/// The name of weight w, which that of the first layer of a key is not: another order has another one.
inline std::string name_of(Net const& net, std::size_t w) {
  auto const& weight = net.executable().weights()[w];
  return weight.other_name.empty() ? weight.name : weight.other_name;
}

/// What a pass forward and back makes: outputs, gradients of the inputs, and of each weight by its name.
struct Made {
  Floats outputs = {}, inputs = {};
  std::map<std::string, Floats> weights = {};
};

/// A network, and inputs that suit it.
class Case {
 public:
  Case(RandomConfig const& random, Net network, Index batch) : net(std::move(network)) {
    Random numbers{17};
    for (Shape const& shape : net.input_shapes()) {
      Index const classes = random.classes(inputs.size());
      SharedTensor x = noise({batch, shape.size()}, inputs.size() + 1);
      for (float& label : x.read_write())
        label = classes > 0 ? static_cast<float>(numbers.integer(0, classes - 1)) : label;
      inputs.push_back(std::move(x));
    }
    for (Shape const& shape : net.output_shapes())
      gradients.push_back(noise({batch, shape.size()}, gradients.size() + 50));
  }
  Floats forward() {
    net.executable().set_step(0);  // the same masks every time
    Floats all;
    for (SharedTensor const& y : net.forward(inputs)) all.insert(all.end(), y.read().begin(), y.read().end());
    return all;
  }
  Made pass() {
    Made made{.outputs = forward()};
    for (SharedTensor const& dx : net.backward(gradients))
      made.inputs.insert(made.inputs.end(), dx.read().begin(), dx.read().end());
    for (std::size_t w = 0; w < net.learnable_weights_names().size(); ++w)
      made.weights[name_of(net, w)] = values_of(net.learnable_weights_gradients()[w]);
    return made;
  }

  Net net;
  std::vector<SharedTensor> inputs = {}, gradients = {};
};

inline bool same(Made const& a, Made const& b) {
  bool same = same_bits(a.outputs, b.outputs) && same_bits(a.inputs, b.inputs) && a.weights.size() == b.weights.size();
  for (auto const& [name, values] : a.weights)
    same = same && b.weights.count(name) > 0 && same_bits(values, b.weights.at(name));
  return same;
}
inline double excess_of(Floats const& values, Floats const& reference, double terms) {
  return excess(values, copy_of<double>(reference), terms, 1);
}

/// What two steps of training leave: the losses by their names, and the weights by theirs.
inline std::map<std::string, Floats> trained(Case& one, bool fused) {
  SolverConfig config{.base_lr = 0.02f, .momentum = 0.5f};
  if (!fused) config.clip_gradients = 1e30f;
  Trainer solver{std::move(one.net), config};
  std::map<std::string, Floats> made;
  for (int step = 0; step < 2; ++step) {
    solver.train_minibatch(one.inputs);
    for (auto const& [name, loss] : solver.losses()) made[name].push_back(loss);
  }
  for (std::size_t w = 0; w < solver.network().learnable_weights_names().size(); ++w)
    made[name_of(solver.network(), w)] = values_of(solver.network().learnable_weights_data()[w]);
  return made;
}
inline bool same(std::map<std::string, Floats> const& a, std::map<std::string, Floats> const& b) {
  bool same = a.size() == b.size();
  for (auto const& [name, values] : a) same = same && b.count(name) > 0 && same_bits(values, b.at(name));
  return same;
}

}  // namespace coldpress::test
