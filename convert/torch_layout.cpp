// Lists the parameters of a module for each kind of layer, with the place of a part in packed weights.
#include "torch_layout.hpp"

#include "weights.hpp"

#include <array>

namespace coldpress::convert::torch {
namespace {

using Kind = RecurrentWeights::Kind;

/// The names in modules of the weights that have these suffixes in coldpress. Their layouts are the same: {outputs,
/// inputs} of a Linear, {outputs, inputs / groups, taps...} of a convolution, {inputs, outputs / groups, taps...} of a
/// transposed one, {vocabulary, features} of an Embedding, and one number for each channel of everything else.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> same{
    {{"-0", "weight"}, {"-0-bias", "bias"}, {"-0-mean", "running_mean"}, {"-0-variance", "running_var"}}};

/// The packed weights of a recurrent layer that has `size` of them.
RecurrentWeights packed(Rnn const& rnn, Index size) {
  RecurrentWeights w = rnn.weights(Shape{1});
  w.input = 0;
  w.input = (size - w.size()) / (w.biases() * w.directions);
  return w;
}

/// The gates of LSTM and GRU have the same order in PyTorch as here, i, f, g, o and r, z, n. PyTorch has no GRU that
/// applies its reset gate before the product.
std::vector<Place> of_recurrent(Rnn const& rnn, std::string const& suffix, Index size) {
  if (rnn.input_mode == InputMode::skip_input || resets_before(rnn.rnn_type, rnn.reset_after)) return {};
  RecurrentWeights const w = packed(rnn, size);
  std::vector<Place> places;
  Index next = 0;
  auto const add = [&](std::string_view name, Index part, std::vector<Index> shape) {
    std::string const parameter =
        std::string{name} + "_l" + std::to_string(part / w.directions) + (part % w.directions == 1 ? "_reverse" : "");
    places.push_back({.parameter = parameter, .suffix = suffix, .shape = shape, .first = next, .whole = false});
    next += places.back().size();
  };
  for (Index part = 0; part < w.parts(); ++part) {
    add("weight_ih", part, {w.biases(), w.inputs(part)});
    add("weight_hh", part, {w.biases(), w.hidden});
  }
  for (Index part = 0; part < w.parts(); ++part) {
    add("bias_ih", part, {w.biases()});
    add("bias_hh", part, {w.biases()});
  }
  return places;
}

}  // namespace

Index Place::size() const {
  Index size = 1;
  for (Index const extent : shape) size *= extent;
  return size;
}

std::vector<Place> places_of(dynamic::LayerType const& layer, std::string const& suffix, Shape const& shape) {
  if (auto const* const rnn = std::get_if<Rnn>(&layer)) return of_recurrent(*rnn, suffix, shape.size());
  bool const tied = std::holds_alternative<TiedLinear>(layer) && suffix == "-0";
  for (auto const& [ours, parameter] : same) {
    if (suffix == ours)
      return {{.parameter = std::string{parameter},
               .suffix = suffix,
               .shape = persist::extents_of(shape),
               .transposed = tied}};
  }
  return {};
}

bool is_ignored(dynamic::LayerType const& layer, std::string_view parameter) {
  return parameter == "num_batches_tracked" && std::holds_alternative<BatchNormalization>(layer);
}

std::vector<float> transposed(std::span<float const> values, Index rows, Index columns) {
  std::vector<float> result(values.size());
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < columns; ++j)
      result[static_cast<std::size_t>(j * rows + i)] = values[static_cast<std::size_t>(i * columns + j)];
  }
  return result;
}

}  // namespace coldpress::convert::torch
