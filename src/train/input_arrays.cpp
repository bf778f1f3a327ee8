// Finds out which inputs of a network are targets, compares them with data, and takes rows of several arrays apart.
#include <coldpress/train/score.hpp>

#include "data/extents.hpp"

#include <coldpress/core/counted.hpp>
#include <coldpress/dynamic/describe.hpp>

#include <algorithm>

namespace coldpress::train {
namespace {

/// For each node, whether one of those that are marked depends on it.
std::vector<bool> needed_for(Description const& network, std::vector<bool> marked) {
  for (std::size_t i = marked.size(); i-- > 0;) {  // a node comes after those that it reads
    Node const& node = network.nodes[i];
    for (int k = 0; marked[i] && k < node.input_count(); ++k) marked[static_cast<std::size_t>(node.inputs[k])] = true;
  }
  return marked;
}
/// Marks value number `which` of those that losses and statistics compare.
void mark_compared(Description const& network, int which, std::vector<bool>& marked) {
  for (Node const& node : network.nodes) {
    bool const compares = node.kind == Node::Kind::loss || node.kind == Node::Kind::statistic;
    if (compares && which < node.input_count()) marked[static_cast<std::size_t>(node.inputs[which])] = true;
  }
}

/// The names of inputs or arrays, with what is shown after each, as in "a {2}, b {3} and c {1}".
template <class Named>
std::string list_of(std::vector<Named> const& all) {
  std::string text;
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (k > 0) text += k + 1 == all.size() ? " and " : ", ";
    text +=
        (all[k].name.empty() ? "input " + std::to_string(k) : all[k].name) + " " + coldpress::to_string(all[k].shape);
  }
  return text;
}

/// Throws ShapeError unless the arrays, or the one of this shape, are what the inputs take. `of_each` says what of each
/// sample they are.
void check_arrays(std::vector<NetworkInput> const& inputs, std::vector<data::Source::Array> const& arrays,
                  Shape const& shape, std::string const& of_each) {
  if (arrays.empty()) {
    if (data::fits(shape, joined_shape(inputs)) && !(inputs.size() > 1 && shape.rank() > 1)) return;
    throw ShapeError{"the network takes " + list_of(inputs) + " of each sample, but the " + of_each + " have shape " +
                     coldpress::to_string(shape) + "; npz:FILE gives a network several arrays, and a flat shape of " +
                     counted(joined_shape(inputs).size(), "value") + " the same one after another"};
  }
  if (arrays.size() != inputs.size())
    throw ShapeError{"the " + of_each + " have " + std::to_string(arrays.size()) + " arrays, " + list_of(arrays) +
                     ", but the network takes " + std::to_string(inputs.size()) + ": " + list_of(inputs)};
  auto const position = [&](std::size_t k) {
    return std::ranges::find(inputs, arrays[k].name, &NetworkInput::name) - inputs.begin();
  };
  for (std::size_t k = 0; k < arrays.size(); ++k) {
    if (auto const at = position(k); at < std::ssize(inputs) && at != static_cast<std::ptrdiff_t>(k))
      throw ShapeError{"the array '" + arrays[k].name + "' is number " + std::to_string(k + 1) + " of the " + of_each +
                       ", but the network's input of this name is number " + std::to_string(at + 1)};
    if (!data::fits(arrays[k].shape, inputs[k].shape))
      throw ShapeError{"the array '" + arrays[k].name + "' has shape " + coldpress::to_string(arrays[k].shape) +
                       " for each sample, but the network's input '" + inputs[k].name + "' expects " +
                       coldpress::to_string(inputs[k].shape)};
  }
}

}  // namespace

std::vector<NetworkInput> network_inputs(Description const& network, InputsFor purpose) {
  std::vector<bool> marked(network.nodes.size());
  for (int const output : network.outputs) marked[static_cast<std::size_t>(output)] = true;
  if (purpose != InputsFor::outputs) mark_compared(network, 0, marked);
  auto const of_samples = needed_for(network, std::move(marked));
  std::vector<NetworkInput> inputs;
  for (std::size_t k = 0; k < network.nodes.size() && network.nodes[k].kind == Node::Kind::input; ++k)
    inputs.push_back({network.rows[k].name, network.nodes[k].shape, k > 0 && !of_samples[k]});
  if (purpose != InputsFor::own_losses || std::ranges::any_of(inputs, &NetworkInput::of_targets)) return inputs;
  std::vector<bool> wanted(network.nodes.size());
  mark_compared(network, 1, wanted);
  if (inputs.size() > 1) inputs.back().of_targets = needed_for(network, std::move(wanted))[inputs.size() - 1];
  return inputs;
}

std::vector<NetworkInput> network_inputs(dynamic::Layer const& network, InputsFor purpose) {
  if (network.input_shapes().size() == 1) return {{"", network.input_shape()}};
  return network_inputs(dynamic::description(network.config(), network.input_shape()), purpose);
}
std::vector<NetworkInput> network_inputs(dynamic::LayerConfig const& network, InputsFor purpose) {
  auto const* const container = std::get_if<dynamic::SequentialConfig>(&network.layer_type);
  if (!container || container->inputs.size() < 2) return {};
  return network_inputs(dynamic::description(network), purpose);
}

std::vector<NetworkInput> inputs_of(std::vector<NetworkInput> const& inputs, bool of_targets) {
  std::vector<NetworkInput> some;
  std::ranges::copy_if(inputs, std::back_inserter(some),
                       [&](NetworkInput const& input) { return input.of_targets == of_targets; });
  return some;
}

Shape joined_shape(std::vector<NetworkInput> const& inputs) {
  if (inputs.size() == 1) return inputs[0].shape;
  Index size = 0;
  for (NetworkInput const& input : inputs) size += input.shape.size();
  return {size};
}

std::string to_string(std::vector<NetworkInput> const& inputs) { return list_of(inputs); }

void check_arrays(std::vector<NetworkInput> const& inputs, data::Source const& source) {
  auto const& data = source.description();
  auto const samples = inputs_of(inputs, false), targets = inputs_of(inputs, true);
  if (samples.size() == 1) {
    check_samples(data.sample_shape, samples[0].shape);
  } else {
    check_arrays(samples, data.sample_arrays, data.sample_shape, "samples");
  }
  if (targets.size() > 1) check_arrays(targets, data.target_arrays, data.target_shape, "targets");
}

InputArrays::InputArrays(std::vector<NetworkInput> const& inputs) : inputs_(inputs.size()) {
  Index rows[2] = {};
  for (NetworkInput const& input : inputs) {
    Index& row = rows[input.of_targets];
    parts_.push_back({input.of_targets, row, input.shape.size(), 0});
    row += input.shape.size();
  }
  for (Part& part : parts_) part.row = rows[part.of_targets];
}

std::span<InputArrays::Values const> InputArrays::of(Values samples, Values targets) {
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    Part& part = parts_[k];
    Values const rows = part.of_targets ? targets : samples;
    if (part.size == part.row) {
      inputs_[k] = rows;
      continue;
    }
    Index const count = static_cast<Index>(rows.size()) / part.row;
    part.copy.resize(std::max(part.copy.size(), static_cast<std::size_t>(count * part.size)));
    for (Index i = 0; i < count; ++i)
      std::copy_n(rows.data() + i * part.row + part.begin, part.size, part.copy.data() + i * part.size);
    inputs_[k] = {part.copy.data(), static_cast<std::size_t>(count * part.size)};
  }
  return inputs_;
}

}  // namespace coldpress::train
