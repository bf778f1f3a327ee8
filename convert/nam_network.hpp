// The architectures of .nam files as plain data, which reading and writing share.
#pragma once

#include "whole_network.hpp"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace coldpress::convert::nam {

// What a model may have. Real ones have some 16 channels and 10,000 weights.
constexpr Index max_channels = 4096, max_taps = Index{1} << 20, max_dilation = Index{1} << 20, max_layers = 1024;
constexpr int max_networks = 8;  // one inside another

/// A pointwise layer; or, with slopes, a PReLU with one for each channel, of which several layers are made.
struct Activation {
  dynamic::LayerType layer = TanH{};
  std::vector<float> slopes = {};
  bool operator==(Activation const&) const = default;
};

enum class Gating { none, gated, blended };
constexpr std::array<std::string_view, 3> gating_names{"none", "gated", "blended"};

/// A scale and a shift of each channel, which a 1x1 convolution computes from the condition.
struct Film {
  bool active = false, shift = true;
  Index groups = 1;
  bool operator==(Film const&) const = default;
};
/// Where a FiLM may be, in the order of their weights.
enum Place { conv_pre, conv_post, mixin_pre, mixin_post, activation_pre, activation_post, layer1x1_post, head1x1_post };
constexpr std::array<std::string_view, 8> film_names{
    "conv_pre_film",       "conv_post_film",       "input_mixin_pre_film", "input_mixin_post_film",
    "activation_pre_film", "activation_post_film", "layer1x1_post_film",   "head1x1_post_film"};

struct Layer {
  Index taps = 1, dilation = 1;
  Activation activation = {};
  Gating gating = Gating::none;
  Activation secondary = {Sigmoid{}};
  bool operator==(Layer const&) const = default;
};
struct OneByOne {
  bool active = false;
  Index outputs = 1, groups = 1;
  bool operator==(OneByOne const&) const = default;
};
/// One entry of a WaveNet's "layers".
struct LayerArray {
  Index inputs = 1, condition = 1, channels = 1, bottleneck = 1;
  Index head_outputs = 1, head_taps = 1, head_dilation = 1;
  bool head_bias = false;
  Index groups_input = 1, groups_mixin = 1;
  OneByOne layer1x1 = {.active = true}, head1x1 = {};  // layer1x1 has as many outputs as there are channels
  std::array<Film, 8> films = {};
  std::vector<Layer> layers = {};

  /// The channels that a layer gives to the head.
  Index skips() const { return head1x1.active ? head1x1.outputs : bottleneck; }
  /// The channels before a layer's activation.
  Index sums(Layer const& layer) const { return layer.gating == Gating::none ? bottleneck : 2 * bottleneck; }
  /// The channels that a FiLM changes.
  Index dimension(Place place, Layer const& layer) const;
  bool operator==(LayerArray const&) const = default;
};
struct Head {
  Index channels = 1, outputs = 1;
  std::vector<Index> taps = {};
  Activation activation = {};
};

struct Network;
struct WaveNet {
  Index inputs = 1;
  std::vector<LayerArray> arrays = {};
  std::vector<LayerArray> whole = {};  // of a slimmed network: what the file has weights for
  std::optional<Head> head = {};
  std::shared_ptr<Network const> condition = {};
  float head_scale = 1;  // the last of the weights
};
struct Lstm {
  Index inputs = 1, outputs = 1, hidden = 1, layers = 1;
};
struct ConvNet {
  Index inputs = 1, outputs = 1, channels = 1, groups = 1;
  bool batchnorm = false;
  Activation activation = {};
  std::vector<Index> dilations = {};
};
struct Fir {
  Index taps = 1;
  bool bias = false;
};

using convert::Weights;

struct Network {
  std::variant<WaveNet, Lstm, ConvNet, Fir> kind;
  Weights weights = {};            // of the condition's network, too
  std::vector<float> states = {};  // the initial ones of an LSTM

  Index inputs() const;
  Index outputs() const;
};

/// One of the arrays of numbers that follow one another in "weights": the bias of a layer, or its matrix {outputs,
/// inputs, taps}.
struct Slot {
  std::string weight;
  Index outputs, inputs = 1, taps = 1;
  Index whole_outputs, whole_inputs;  // those in the file, of which a slimmed network has the first
  bool used = true;                   // whether the network has it

  Index in_file() const { return whole_outputs * whole_inputs * taps; }
};
/// The slots of a WaveNet without its last number, head_scale; those of a ConvNet without batch normalisation.
/// `prefix` is that of the names of its layers.
std::vector<Slot> slots_of(WaveNet const& network, std::string const& prefix);
std::vector<Slot> slots_of(ConvNet const& network, std::string const& prefix);
/// How many numbers "weights" must have.
Index weight_count(Network const& network);
/// The numbers that the steps before the current one leave in the network's memory.
Index history(Network const& network);

/// The network as layers, for samples of this shape, and the weights that come from slopes. The layers have fixed
/// names, by which to_network knows them again; `x` is the name of the input.
dynamic::LayerConfig to_config(Network const& network, Shape const& input, Weights& slopes,
                               std::string const& x = "input");
/// What to_config made the config of; the weights must be those of the config. Throws UnsupportedError with the first
/// layer that cannot be in such a config.
Network to_network(dynamic::LayerConfig const& config, Weights const& weights);

/// The weights by name of the numbers in a file, as many as weight_count says, and back.
void set_weights(Network& network, std::vector<float> const& numbers, std::string const& prefix = "");
std::vector<float> numbers_of(Network const& network, Weights const& weights, std::string const& prefix = "");

}  // namespace coldpress::convert::nam
