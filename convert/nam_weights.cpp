// The numbers of a .nam file, as the weights of the network, and back.
#include "nam_network.hpp"

#include <coldpress/core/recurrent.hpp>

#include <algorithm>
#include <cmath>
#include <span>

namespace coldpress::convert::nam {
namespace {

constexpr Index lstm_gates = gates_of(RnnType::lstm);

/// Numbers of a file, one after the other.
class Numbers {
 public:
  explicit Numbers(std::vector<float> const& all) : left_(all) {}
  std::span<float const> take(Index count) {
    auto const taken = left_.first(static_cast<std::size_t>(count));
    left_ = left_.subspan(static_cast<std::size_t>(count));
    return taken;
  }
  std::vector<float> copy(Index count) {
    auto const taken = take(count);
    return {taken.begin(), taken.end()};
  }

 private:
  std::span<float const> left_;
};

void read_slots(std::vector<Slot> const& slots, Numbers& numbers, Weights& weights) {
  for (Slot const& slot : slots) {
    auto const all = numbers.take(slot.in_file());
    if (!slot.used) continue;
    std::vector<float>& values = weights[slot.weight];
    values.reserve(static_cast<std::size_t>(slot.outputs * slot.inputs * slot.taps));
    for (Index i = 0; i < slot.outputs; ++i) {
      auto const row = all.begin() + i * slot.whole_inputs * slot.taps;
      values.insert(values.end(), row, row + slot.inputs * slot.taps);
    }
  }
}

void read(WaveNet& network, Numbers numbers, std::string const& prefix, Network& all) {
  read_slots(slots_of(network, prefix), numbers, all.weights);
  network.head_scale = numbers.take(1)[0];
}
void read(ConvNet const& network, Numbers numbers, std::string const& prefix, Network& all) {
  if (!network.batchnorm) return read_slots(slots_of(network, prefix), numbers, all.weights);
  auto slots = slots_of(network, prefix);
  for (std::size_t b = 0; b < network.dilations.size(); ++b) {
    auto const channels = static_cast<std::size_t>(network.channels);
    std::vector<float> matrix = numbers.copy(slots[2 * b].in_file());
    auto const mean = numbers.take(network.channels), variance = numbers.take(network.channels),
               weight = numbers.take(network.channels), bias = numbers.take(network.channels);
    double const epsilon = numbers.take(1)[0];
    std::vector<float> shifts(channels);
    std::size_t const row = matrix.size() / channels;
    for (std::size_t c = 0; c < channels; ++c) {
      double const scale = weight[c] / std::sqrt(epsilon + variance[c]);
      shifts[c] = static_cast<float>(bias[c] - scale * mean[c]);
      for (std::size_t i = 0; i < row; ++i)
        matrix[c * row + i] = static_cast<float>(scale * static_cast<double>(matrix[c * row + i]));
    }
    all.weights[slots[2 * b].weight] = std::move(matrix);
    all.weights[slots[2 * b + 1].weight] = std::move(shifts);
  }
  slots.erase(slots.begin(), slots.begin() + static_cast<std::ptrdiff_t>(2 * network.dilations.size()));
  read_slots(slots, numbers, all.weights);
}
void read(Fir const& network, Numbers numbers, std::string const& prefix, Network& all) {
  auto taps = numbers.copy(network.taps);
  std::ranges::reverse(taps);  // the file begins with that of the newest sample
  all.weights[prefix + "fir-0"] = std::move(taps);
  if (network.bias) all.weights[prefix + "fir-0-bias"] = numbers.copy(1);
}
void read(Lstm const& network, Numbers numbers, std::string const& prefix, Network& all) {
  RecurrentWeights const packing{lstm_gates, network.inputs, network.hidden, network.layers};
  std::vector<float> packed(static_cast<std::size_t>(packing.size()));
  for (Index layer = 0; layer < network.layers; ++layer) {
    PackedPart const part{packing, layer, packed.data()};
    for (Index row = 0; row < lstm_gates * network.hidden; ++row) {
      std::ranges::copy(numbers.take(part.inputs), part.of_x + row * part.inputs);
      std::ranges::copy(numbers.take(network.hidden), part.of_h + row * network.hidden);
    }
    std::ranges::copy(numbers.take(lstm_gates * network.hidden), part.bias_x);
    auto const states = numbers.take(2 * network.hidden);
    all.states.insert(all.states.end(), states.begin(), states.end());
  }
  all.weights[prefix + "lstm-0"] = std::move(packed);
  all.weights[prefix + "head-0"] = numbers.copy(network.outputs * network.hidden);
  all.weights[prefix + "head-0-bias"] = numbers.copy(network.outputs);
}

/// Collects the numbers for a file.
class Written {
 public:
  explicit Written(Weights const& weights) : weights_(weights) {}
  void add(std::string const& weight, Index count) { add(std::span{weights_.find(weight)->second}, count); }
  void add(std::span<float const> values, Index count) {
    auto const size = static_cast<std::size_t>(count);
    numbers_.insert(numbers_.end(), values.begin(),
                    values.begin() + static_cast<std::ptrdiff_t>(std::min(size, values.size())));
    numbers_.resize(numbers_.size() + size - std::min(size, values.size()));  // zeros for what no network has
  }
  void add(std::vector<Slot> const& slots) {
    for (Slot const& slot : slots)
      slot.used ? add(slot.weight, slot.in_file()) : add(std::span<float const>{}, slot.in_file());
  }
  std::vector<float> const& values(std::string const& weight) const { return weights_.find(weight)->second; }
  std::vector<float> take() { return std::move(numbers_); }

 private:
  Weights const& weights_;
  std::vector<float> numbers_;
};

void write(WaveNet const& network, Written& to, std::string const& prefix, Network const&) {
  to.add(slots_of(network, prefix));
  to.add(std::span{&network.head_scale, 1}, 1);
}
void write(ConvNet const& network, Written& to, std::string const& prefix, Network const&) {
  to.add(slots_of(network, prefix));
}
void write(Fir const& network, Written& to, std::string const& prefix, Network const&) {
  auto taps = to.values(prefix + "fir-0");
  std::ranges::reverse(taps);
  to.add(taps, network.taps);
  if (network.bias) to.add(prefix + "fir-0-bias", 1);
}
void write(Lstm const& network, Written& to, std::string const& prefix, Network const& all) {
  RecurrentWeights const packing{lstm_gates, network.inputs, network.hidden, network.layers};
  auto const& packed = to.values(prefix + "lstm-0");
  std::span<float const> states = all.states;
  for (Index layer = 0; layer < network.layers; ++layer) {
    PackedPart const part{packing, layer, packed.data()};
    Index const rows = lstm_gates * network.hidden;
    for (Index row = 0; row < rows; ++row) {
      to.add(std::span{part.of_x + row * part.inputs, static_cast<std::size_t>(part.inputs)}, part.inputs);
      to.add(std::span{part.of_h + row * network.hidden, static_cast<std::size_t>(network.hidden)}, network.hidden);
    }
    std::vector<float> biases(part.bias_x, part.bias_x + rows);
    for (Index row = 0; row < rows; ++row) biases[static_cast<std::size_t>(row)] += part.bias_h[row];
    to.add(biases, rows);
    auto const count = std::min(states.size(), static_cast<std::size_t>(2 * network.hidden));
    to.add(states.first(count), 2 * network.hidden);
    states = states.subspan(count);
  }
  to.add(prefix + "head-0", network.outputs * network.hidden);
  to.add(prefix + "head-0-bias", network.outputs);
}

}  // namespace

void set_weights(Network& network, std::vector<float> const& numbers, std::string const& prefix) {
  std::visit([&](auto& kind) { read(kind, Numbers{numbers}, prefix, network); }, network.kind);
}

std::vector<float> numbers_of(Network const& network, Weights const& weights, std::string const& prefix) {
  Written written{weights};
  std::visit([&](auto const& kind) { write(kind, written, prefix, network); }, network.kind);
  return written.take();
}

}  // namespace coldpress::convert::nam
