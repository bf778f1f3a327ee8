// The weights of a network from a config in its backend's memory, with the gradients and optimizer states, which have
// the same layout.
#pragma once

#include "engine_transfer.hpp"
#include "program.hpp"

#include <coldpress/core/filler.hpp>
#include <coldpress/core/finite.hpp>
#include <coldpress/run/state_shares.hpp>

#include <algorithm>
#include <memory>
#include <vector>

namespace coldpress::dynamic {

template <class Backend>
class ParameterStore {
 public:
  using Memory = typename EngineTransfer<Backend>::template Memory<float, DynamicBatch, 0>;
  using Weight = Executable::Weight;

  /// The layout is that of the program, and the same for all programs of the graph. All three arguments are borrowed.
  ParameterStore(Graph const& graph, Program const& program, EngineTransfer<Backend> const& transfer,
                 Backend const& backend)
      : graph_(graph),
        program_(program),
        transfer_(transfer),
        backend_(backend),
        owners_(graph.owners()),
        weights_(graph.weights()),
        frozen_(std::make_unique<bool[]>(graph.parameters.size())),
        parameters_(transfer.template memory<Memory>()) {
    parameters_.reserve(program.parameter_size());
  }

  std::vector<Weight> const& weights() const { return weights_; }
  /// Initialises the weights by the layers' fillers.
  void fill(std::uint64_t seed) {
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      Parameter const& weight = parameter(static_cast<int>(i));
      Slot const& at = slot(static_cast<int>(i));
      transfer_.change(parameters_.data() + at.offset, at.size, [&](float* storage) {
        coldpress::fill(weight, RandomStream{seed, 0, weights_[i].name},
                        [&](Index e, float value) { backend_.put(weight, storage, e, value); });
      });
    }
  }
  void read(int buffer, int weight, std::span<float> values) const {
    check(weight, values.size());
    check_here(buffer);
    float const* const from = known(buffer);
    Slot const& at = slot(weight);
    if (!from) {
      std::ranges::fill(values, 0.0f);
      return;
    }
    transfer_.read(from + at.offset, at.size, [&](float const* storage) {
      for (std::size_t e = 0; e < values.size(); ++e)
        values[e] = backend_.get(parameter(weight), storage, static_cast<Index>(e));
    });
  }
  void write(int buffer, int weight, std::span<float const> values) {
    check(weight, values.size());
    check_here(buffer);
    Slot const& at = slot(weight);
    transfer_.change(base(buffer) + at.offset, at.size, [&](float* storage) {
      for (std::size_t e = 0; e < values.size(); ++e)
        backend_.put(parameter(weight), storage, static_cast<Index>(e), values[e]);
    });
  }
  void clear(int buffer) {
    if (buffer == Executable::gradient) where.gradients = Whereabouts::whole;
    if (buffer >= Executable::state) where.state = Whereabouts::whole;
    base(buffer);
    transfer_.clear(buffer == Executable::data ? parameters_ : buffers_[static_cast<std::size_t>(buffer - 1)]);
  }
  bool is_finite() const {
    bool finite = true;
    transfer_.read(parameters_.data(), parameters_.size(), [&](float const* all) {
      finite = first_not_finite(Values{all, static_cast<std::size_t>(parameters_.size())}) < 0;
    });
    return finite;
  }
  void set_frozen(int weight, bool frozen) {
    check(weight);
    frozen_[static_cast<std::size_t>(owners_[static_cast<std::size_t>(weight)])] = frozen;
  }
  /// A flag per parameter.
  bool const* frozen() const { return frozen_.get(); }

  float* data() { return parameters_.data(); }
  /// A buffer that exists, or null; then its values are zero.
  float const* known(int buffer) const {
    auto const other = static_cast<std::size_t>(buffer - 1);
    if (buffer == Executable::data) return parameters_.data();
    return other < buffers_.size() ? buffers_[other].data() : nullptr;
  }
  /// Frees all states.
  void drop_states() {
    while (buffers_.size() >= Executable::state) buffers_.pop_back();
  }
  /// Returns a buffer of gradients or states, and allocates it the first time.
  float* base(int buffer) {
    if (buffer == Executable::data) return parameters_.data();
    if (buffer < 0) refuse("network: no buffer of weights has number ", buffer);
    while (static_cast<int>(buffers_.size()) < buffer) buffers_.push_back(transfer_.template memory<Memory>());
    auto& memory = buffers_[static_cast<std::size_t>(buffer - 1)];
    memory.reserve(parameters_.size());
    return memory.data();
  }

  Whereabouts where;  // the states and the gradients are

 private:
  void check_here(int buffer) const {
    if (buffer != Executable::data) Whereabouts::check(buffer == Executable::gradient ? where.gradients : where.state);
  }
  Parameter const& parameter(int weight) const {
    return graph_.parameters[static_cast<std::size_t>(owners_[static_cast<std::size_t>(weight)])];
  }
  Slot const& slot(int weight) const { return program_.slot(owners_[static_cast<std::size_t>(weight)]); }
  void check(int weight) const {
    if (weight < 0 || weight >= static_cast<int>(weights_.size()))
      refuse("network: no weight has number ", weight, "; there are ", weights_.size());
  }
  void check(int weight, std::size_t values) const {
    check(weight);
    Weight const& checked = weights_[static_cast<std::size_t>(weight)];
    Index const size = checked.shape.size();
    if (static_cast<Index>(values) != size)
      refuse("network: weight '", checked.name, "' of shape ", checked.shape, " has ", size, " values, got ", values);
  }

  Graph const& graph_;
  Program const& program_;
  EngineTransfer<Backend> const& transfer_;
  Backend const& backend_;
  std::vector<int> owners_;  // per weight: its parameter
  std::vector<Weight> weights_;
  std::unique_ptr<bool[]> frozen_;
  Memory parameters_;
  std::vector<Memory> buffers_;  // gradients, then optimizer states
};

}  // namespace coldpress::dynamic
