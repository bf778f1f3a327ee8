// Which inputs of a network belong to samples and which to targets, and how minibatches are taken apart for them.
#pragma once

#include <coldpress/data/source.hpp>
#include <coldpress/dynamic/layer.hpp>
#include <coldpress/typed/describe.hpp>

#include <span>
#include <string>
#include <vector>

namespace coldpress::train {

/// An input of a network, and whether data give it their targets or a part of their samples.
struct NetworkInput {
  std::string name;
  Shape shape;
  bool of_targets = false;
};
/// What a network needs its inputs for: its outputs alone; or also its losses and statistics, where a loss beside it
/// takes the targets, or none does.
enum class InputsFor { outputs, loss_beside, own_losses };
/// The purpose in training and evaluation.
constexpr InputsFor inputs_for(bool has_loss_beside) {
  return has_loss_beside ? InputsFor::loss_beside : InputsFor::own_losses;
}
/// The inputs of a network in their order. One is the targets' if no output depends on it, nor what a loss or a
/// statistic compares with targets, where these are needed; the first one never is. For own_losses, if there is no such
/// input, the last of several is the targets' where what a loss or a statistic compares with depends on it.
std::vector<NetworkInput> network_inputs(Description const& network, InputsFor purpose);
std::vector<NetworkInput> network_inputs(dynamic::Layer const& network, InputsFor purpose);
/// The same for a config that states several inputs; empty for one that does not. Throws what Layer::from_config
/// throws.
std::vector<NetworkInput> network_inputs(dynamic::LayerConfig const& network, InputsFor purpose);

/// The inputs that belong to samples or, if `of_targets`, to targets.
std::vector<NetworkInput> inputs_of(std::vector<NetworkInput> const& inputs, bool of_targets);
/// The shape of what data have for these inputs: that of the only one, or else a flat one with the values of all, one
/// input after another.
Shape joined_shape(std::vector<NetworkInput> const& inputs);
/// For example "sequence {20, 3} and lengths {1}".
std::string to_string(std::vector<NetworkInput> const& inputs);

/// Throws ShapeError, with names and shapes, unless samples and targets of the source are what these inputs take.
/// Arrays are given to inputs in their order; those with the inputs' names in another order are refused, too. Extents
/// of 1 do not count, a flat shape fits any other with as many values, and a flat sample that is not made of arrays may
/// have the values of all inputs.
void check_arrays(std::vector<NetworkInput> const& inputs, data::Source const& source);

/// Gives a network its inputs of a minibatch. The values of one input of several are copied from the rows in which data
/// have them, into memory that is kept.
class InputArrays {
 public:
  using Values = std::span<float const>;
  InputArrays() = default;
  explicit InputArrays(std::vector<NetworkInput> const& inputs);

  /// The inputs in their order, valid until the next call. An input of targets is empty if there are none.
  std::span<Values const> of(Values samples, Values targets);

 private:
  struct Part {
    bool of_targets;
    Index begin, size, row;        // of the input in a row of samples or targets, and the size of that row
    std::vector<float> copy = {};  // where the row has values of other inputs, too
  };
  std::vector<Part> parts_;
  std::vector<Values> inputs_;
};

}  // namespace coldpress::train
