// A sequence that goes through a network in blocks of steps, written once for network types and for configs.
#pragma once

#include <coldpress/run/program_stream.hpp>
#include <coldpress/run/stream.hpp>

namespace coldpress {

/// The passes of a program, and all memory of one stream.
template <class Program, class Backend>
class BlockStream : public ProgramStream<Program, Backend> {
  using Base = ProgramStream<Program, Backend>;
  using Base::program_, Base::inputs_, Base::outputs_, Base::plan_, Base::state_;
  using typename Base::Endless;

 public:
  using typename Base::T;

  /// `scratch` is what the program's layers need in addition, in values.
  BlockStream(Program const& program, Backend backend, T const* parameters, std::uint64_t seed,
              std::span<Shape const> inputs, std::span<Shape const> outputs, Index scratch, detail::StreamPlan plan,
              Index most)
      : Base(program, backend, parameters, seed, inputs, outputs, std::move(plan)),
        most_((std::clamp<Index>(most, 1, steps_at_once) + 15) / 16 * 16),
        row_(program.plan().workspace) {
    make_values();
    Index values = program.plan().workspace * most_, rows = 0;
    for (Shape const& in : inputs_) values += in.size() * most_, rows += in.size();
    workspace_.reserve(values + scratch);
    row_values_.reserve(rows);
    Index to = program.plan().workspace * most_, row = 0;
    for (Shape const& in : inputs_) {
      row_inputs_[places_.size()] = row_values_.data() + row;
      places_.push_back(workspace_.data() + to);
      to += in.size() * most_, row += in.size();
    }
    this->lend(workspace_.data() + values);
    if (plan_.tapes) this->record(run());
  }

  void process(Index steps, std::span<std::span<T const> const> inputs,
               std::span<std::span<T> const> outputs) override {
    start();
    auto const made = run();
    for (Index first = 0; first < steps; first += clock_.steps) {
      clock_.steps = std::min(most_, steps - first);
      for (std::size_t k = 0; k < inputs.size(); ++k)
        bring(inputs[k].data() + first * inputs_[k].size(), input(k), inputs_[k].size());
      this->play(made);
      detail::for_each_output(made, [&](std::size_t k, auto const& y) {
        Index const features = outputs_[k].size();
        fetch(y, outputs[k].data() + first * features, features);
      });
      advance();
    }
    stop();
  }

 private:
  static constexpr Index clock_size = 16;  // values
  using BlockRun = Run<Program, Backend, StepBlock<T>, T*>;

  void silence(Index steps) override {
    start();
    auto const made = run();
    for (; steps > 0; steps -= clock_.steps) {
      clock_.steps = std::min(most_, steps);
      for (std::size_t k = 0; k < inputs_.size(); ++k) {
        for (Index c = 0; c < inputs_[k].size(); ++c) std::fill_n(input(k).row(c), clock_.steps, T{});
      }
      this->play(made), advance();
    }
    stop();
  }
  T const* values_of(Endless const& endless) override { return state_.data() + clock_size + endless.in_block; }
  BlockRun run() {
    StepBlock<T> const block{&clock_,
                             most_,
                             values_.data() + inputs_.size(),
                             plan_.states.data(),
                             plan_.by_steps.get(),
                             row_.data(),
                             row_inputs_.data()};
    BlockRun made{program_,
                  this->backend_,
                  this->parameters_,
                  workspace_.data(),
                  {},
                  block,
                  this->seed_,
                  0,
                  state_.data() + clock_size};
    for (std::size_t k = 0; k < places_.size(); ++k) made.inputs[k] = places_[k];
    return made;
  }
  Signal<T> input(std::size_t k) const {
    Signal<T> const& ring = values_[inputs_.size() - 1 - k];
    return ring.data ? ring : Signal<T>{places_[k], inputs_[k].size(), &clock_, most_};
  }
  /// The state holds the time, as bits, the states of layers, and the rings.
  void start() { std::memcpy(&clock_.now, state_.data(), sizeof clock_.now); }
  void stop() { std::memcpy(state_.data(), &clock_.now, sizeof clock_.now); }
  /// Makes the rings, for values of which layers read the past.
  void make_values() {
    values_.resize(plan_.windows.size());
    Index size = clock_size + plan_.state;
    std::vector<Index> places(values_.size());
    auto const features = [&](std::size_t v) {
      if (v < inputs_.size()) return inputs_[inputs_.size() - 1 - v].size();
      Index columns = 0;
      program_.for_each_group([&](auto g) {
        if (static_cast<std::size_t>(Index{g}) + inputs_.size() == v) columns = program_.columns(g);
      });
      return columns;
    };
    for (std::size_t v = 0; v < values_.size(); ++v) {
      if (plan_.windows[v] == 0) continue;
      SignalRing const ring{plan_.windows[v], most_};
      places[v] = size + most_;
      values_[v] = {nullptr, features(v), &clock_, ring.pitch(), ring.size() - 1};
      size += values_[v].features * ring.pitch();
    }
    state_.reserve(size);
    for (std::size_t v = 0; v < values_.size(); ++v) {
      if (plan_.windows[v] == 0) continue;
      values_[v].data = state_.data() + places[v];
      rings_.push_back(values_[v]);
    }
  }
  /// Moves on by a block. The values of the block that are in the last `most` places of a ring are copied to before its
  /// beginning, and those beyond its end to its beginning.
  void advance() {
    for (Signal<T> const& ring : rings_) {
      Index const size = ring.mask + 1, place = ring.place(), end = place + clock_.steps;
      if (end <= size - most_) continue;
      for (Index c = 0; c < ring.features; ++c) {
        T* const row = ring.data + c * ring.pitch;
        std::copy(row + std::max(place, size - most_), row + end, row + std::max(place, size - most_) - size);
      }
    }
    clock_.now += clock_.steps;
  }
  /// Transposes steps into a signal, and a signal into steps.
  template <class Y>
  void bring(T const* from, Y const& to, Index features) const {
    for (Index c = 0; c < features; ++c) {
      T* const row = to.row(c);
      if (features == 1) {
        std::memcpy(row, from, static_cast<std::size_t>(clock_.steps) * sizeof(T));
      } else {
        for (Index t = 0; t < clock_.steps; ++t) row[t] = from[t * features + c];
      }
    }
  }
  template <class X>
  void fetch(X const& from, T* to, Index features) const {
    for (Index c = 0; c < features; ++c) {
      T const* const row = from.row(c);
      if (features == 1) {
        std::memcpy(to, row, static_cast<std::size_t>(clock_.steps) * sizeof(T));
      } else {
        for (Index t = 0; t < clock_.steps; ++t) to[t * features + c] = row[t];
      }
    }
  }
  Index most_;
  StepClock clock_;
  std::vector<Signal<T>> values_;  // those in rings; the others have no data
  std::vector<Signal<T>> rings_;   // of these
  HeapMemory<T> row_, workspace_, row_values_;
  std::vector<T*> places_;  // of the inputs
  std::array<T*, static_cast<std::size_t>(Program::inputs_capacity)> row_inputs_{};
};

}  // namespace coldpress
