// Counts the weights of each architecture in their order, and the steps of the past that it reads.
#include "nam_network.hpp"

#include <algorithm>
#include <utility>

namespace coldpress::convert::nam {
namespace {

/// Collects the slots of one layer after another.
class Slots {
 public:
  struct Extent {
    Index now, whole;
  };
  void matrix(std::string const& layer, Extent outputs, Extent inputs, Index taps, bool used = true) {
    all_.push_back({layer + "-0", outputs.now, inputs.now, taps, outputs.whole, inputs.whole, used});
  }
  void bias(std::string const& layer, Extent outputs, bool used = true) {
    all_.push_back({layer + "-0-bias", outputs.now, 1, 1, outputs.whole, 1, used});
  }
  void convolution(std::string const& layer, Extent outputs, Extent inputs, Index taps, bool used = true) {
    matrix(layer, outputs, inputs, taps, used);
    bias(layer, outputs, used);
  }
  std::vector<Slot> take() { return std::move(all_); }

 private:
  std::vector<Slot> all_;
};

void add_layer(Slots& slots, std::string const& name, LayerArray const& now, LayerArray const& whole, std::size_t l,
               bool last) {
  Layer const& layer = now.layers[l];
  Slots::Extent const sums{now.sums(layer), whole.sums(layer)}, condition{now.condition, whole.condition};
  Slots::Extent const channels{now.channels, whole.channels}, bottleneck{now.bottleneck, whole.bottleneck};
  auto const each = [](Slots::Extent all, Index groups) { return Slots::Extent{all.now / groups, all.whole / groups}; };
  slots.convolution(name + "conv", sums, each(channels, now.groups_input), layer.taps);
  slots.matrix(name + "input_mixin", sums, each(condition, now.groups_mixin), 1);
  if (now.layer1x1.active)
    slots.convolution(name + "layer1x1", channels, each(bottleneck, now.layer1x1.groups), 1, !last);
  Slots::Extent const skips{now.skips(), whole.skips()};
  if (now.head1x1.active) slots.convolution(name + "head1x1", skips, each(bottleneck, now.head1x1.groups), 1);
  for (int p = conv_pre; p <= head1x1_post; ++p) {
    Film const& film = now.films[static_cast<std::size_t>(p)];
    if (!film.active) continue;
    Index const factor = film.shift ? 2 : 1;
    auto const place = static_cast<Place>(p);
    bool const used = place != layer1x1_post || (layer.gating == Gating::blended && !last);
    slots.convolution(name + std::string{film_names[static_cast<std::size_t>(p)]},
                      {factor * now.dimension(place, layer), factor * whole.dimension(place, layer)},
                      each(condition, film.groups), 1, used);
  }
}

Index count_of(std::vector<Slot> const& slots) {
  Index count = 0;
  for (Slot const& slot : slots) count += slot.in_file();
  return count;
}
Index count(WaveNet const& network) { return count_of(slots_of(network, "")) + 1; }
Index count(ConvNet const& network) {
  auto const blocks = static_cast<Index>(network.dilations.size());
  return count_of(slots_of(network, "")) + (network.batchnorm ? blocks * (3 * network.channels + 1) : 0);
}
Index count(Fir const& network) { return network.taps + network.bias; }
Index count(Lstm const& network) {
  Index total = network.outputs * (network.hidden + 1);
  for (Index layer = 0; layer < network.layers; ++layer) {
    Index const inputs = layer == 0 ? network.inputs : network.hidden;
    total += network.hidden * (gates_of(RnnType::lstm) * (inputs + network.hidden + 1) + 2);
  }
  return total;
}

Index kept(WaveNet const& network) {
  Index total = network.condition ? history(*network.condition) : 0;
  for (LayerArray const& array : network.arrays) {
    for (Layer const& layer : array.layers) total += array.channels * (layer.taps - 1) * layer.dilation;
    total += array.skips() * (array.head_taps - 1) * array.head_dilation;
  }
  if (!network.head) return total;
  for (Index const taps : network.head->taps)
    total += std::max(network.head->channels, network.arrays.back().head_outputs) * (taps - 1);
  return total;
}
Index kept(ConvNet const& network) {
  Index total = 0;
  for (Index const dilation : network.dilations) total += std::max(network.channels, network.inputs) * dilation;
  return total;
}
Index kept(Fir const& network) { return network.taps - 1; }
Index kept(Lstm const& network) { return 2 * network.hidden * network.layers; }

}  // namespace

Index LayerArray::dimension(Place place, Layer const& layer) const {
  switch (place) {
    case conv_pre:
    case layer1x1_post:
      return channels;
    case mixin_pre:
      return condition;
    case activation_post:
      return bottleneck;
    case head1x1_post:
      return head1x1.outputs;
    default:
      return sums(layer);
  }
}

Index Network::inputs() const {
  return std::visit(
      []<class N>(N const& network) -> Index {
        if constexpr (std::is_same_v<N, Fir>) {
          return 1;
        } else {
          return network.inputs;
        }
      },
      kind);
}
Index Network::outputs() const {
  return std::visit(
      []<class N>(N const& network) -> Index {
        if constexpr (std::is_same_v<N, Fir>) {
          return 1;
        } else if constexpr (std::is_same_v<N, WaveNet>) {
          return network.head ? network.head->outputs : network.arrays.back().head_outputs;
        } else {
          return network.outputs;
        }
      },
      kind);
}

std::vector<Slot> slots_of(WaveNet const& network, std::string const& prefix) {
  Slots slots;
  for (std::size_t a = 0; a < network.arrays.size(); ++a) {
    LayerArray const &now = network.arrays[a], &whole = network.whole.empty() ? now : network.whole[a];
    std::string const name = prefix + "array" + std::to_string(a) + ".";
    slots.matrix(name + "rechannel", {now.channels, whole.channels}, {now.inputs, whole.inputs}, 1);
    for (std::size_t l = 0; l < now.layers.size(); ++l) {
      bool const last = a + 1 == network.arrays.size() && l + 1 == now.layers.size();
      add_layer(slots, name + "layer" + std::to_string(l) + ".", now, whole, l, last);
    }
    Slots::Extent const outputs{now.head_outputs, whole.head_outputs};
    slots.matrix(name + "head", outputs, {now.skips(), whole.skips()}, now.head_taps);
    if (now.head_bias) slots.bias(name + "head", outputs);
  }
  if (network.head) {
    Index inputs = network.arrays.back().head_outputs;
    for (std::size_t i = 0; i < network.head->taps.size(); ++i) {
      bool const last = i + 1 == network.head->taps.size();
      Index const outputs = last ? network.head->outputs : network.head->channels;
      slots.convolution(prefix + "head" + std::to_string(i) + ".conv", {outputs, outputs}, {inputs, inputs},
                        network.head->taps[i]);
      inputs = outputs;
    }
  }
  return slots.take();
}

std::vector<Slot> slots_of(ConvNet const& network, std::string const& prefix) {
  Slots slots;
  Index inputs = network.inputs / network.groups;
  Slots::Extent const channels{network.channels, network.channels};
  for (std::size_t b = 0; b < network.dilations.size(); ++b) {
    slots.convolution(prefix + "block" + std::to_string(b) + ".conv", channels, {inputs, inputs}, 2);
    inputs = network.channels / network.groups;
  }
  slots.convolution(prefix + "head", {network.outputs, network.outputs}, channels, 1);
  return slots.take();
}

Index weight_count(Network const& network) {
  return std::visit([](auto const& kind) { return count(kind); }, network.kind);
}
Index history(Network const& network) {
  return std::visit([](auto const& kind) { return kept(kind); }, network.kind);
}

}  // namespace coldpress::convert::nam
