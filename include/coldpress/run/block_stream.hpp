// A sequence that goes through a network in blocks of steps, written once for network types and for configs.
#pragma once

#include <coldpress/core/memory.hpp>
#include <coldpress/run/execute.hpp>
#include <coldpress/run/stream.hpp>

#include <cstring>

namespace coldpress {

/// The number of steps that are computed at once. More would need more cache; fewer would cost more calls.
inline constexpr Index steps_at_once = 64;

namespace detail {
/// What the heads of a program carry from block to block.
struct BlockStates {
  std::vector<Index> offsets;  // by group
  std::vector<Index> places;   // the values that are places in rings
  Index size = 0;              // in values
  Index past = 0;              // the number of earlier steps on which an output depends; endless_past: on all
  bool by_steps = false;       // whether any group is computed step by step
};
template <class Backend, class Program>
BlockStates block_states(Program const& program, Index most) {
  auto const groups = static_cast<std::size_t>(program.plan().groups);
  BlockStates states;
  states.offsets.resize(groups);
  std::vector<Index> past(groups);
  program.for_each_group([&](auto group) {
    auto const g = static_cast<std::size_t>(Index{group});
    states.by_steps = states.by_steps || program.group(group).positioned;
    program.for_each_edge(group, [&](auto k) {
      Index const from = Index{program.input(group, k)};
      if (from >= 0) past[g] = std::max(past[g], past[static_cast<std::size_t>(from)]);
    });
    program.head(
        group,
        [&](auto const& layer) {
          using L = std::remove_cvref_t<decltype(layer)>;
          constexpr bool signals = has_signals<Backend> && LayerTraits<L>::signals;
          auto const in = program.head_inputs(group);
          states.by_steps = states.by_steps || !signals;
          states.offsets[g] = states.size;
          Index const size = signals ? block_state_of(layer, in, most) : state_of(layer, in);
          if (signals && has_ring<L> && size > 0) states.places.push_back(states.size);
          states.size += (size + 15) / 16 * 16;
          past[g] = std::min(past[g] + past_of(layer, in), endless_past);
        },
        [] {});
    states.past = std::max(states.past, past[g]);
  });
  return states;
}
}  // namespace detail

/// The passes of a program, and all memory of one stream. The program and the parameters must stay where they are.
template <class Program, class Backend>
class BlockStream : public StreamPasses<typename Backend::Scalar> {
 public:
  using T = typename Backend::Scalar;

  /// `scratch` is what the program's layers need in addition, in values.
  BlockStream(Program const& program, Backend backend, T const* parameters, std::uint64_t seed,
              std::span<Shape const> inputs, std::span<Shape const> outputs, Index scratch, Index most)
      : program_(program),
        backend_(backend),
        parameters_(parameters),
        seed_(seed),
        inputs_(inputs.begin(), inputs.end()),
        outputs_(outputs.begin(), outputs.end()),
        most_((std::clamp<Index>(most, 1, steps_at_once) + 15) / 16 * 16),
        silence_(program.plan().workspace * most_),
        states_(detail::block_states<Backend>(program, most_)),
        state_(states_.size),
        row_(program.plan().workspace) {
    Index rows = 0;
    values_ = silence_;
    for (Shape const& in : inputs_) inputs_at_.push_back(values_), values_ += in.size() * most_, rows += in.size();
    workspace_.reserve(values_ + scratch);
    row_values_.reserve(rows);
    for (Index at = 0; Shape const& in : inputs_) row_inputs_.push_back(row_values_.data() + at), at += in.size();
    if constexpr (requires { backend_.scratch; }) backend_.scratch = workspace_.data() + values_;
    for (std::size_t k = 0; k < outputs_.size(); ++k) outputs_at_.push_back(output_at(run(), static_cast<int>(k)));
    if constexpr (has_tape) {
      if (!states_.by_steps) record();
    }
  }
  BlockStream(BlockStream const&) = delete;
  BlockStream& operator=(BlockStream const&) = delete;

  std::span<Shape const> inputs() const override { return inputs_; }
  std::span<Shape const> outputs() const override { return outputs_; }
  std::span<T> state() override { return {state_.data(), static_cast<std::size_t>(states_.size)}; }
  Index past() const override { return states_.past; }

  void process(Index steps, std::span<std::span<T const> const> inputs,
               std::span<std::span<T> const> outputs) override {
    for (Index first = 0; first < steps; first += steps_) {
      steps_ = std::min(most_, steps - first);
      for (std::size_t k = 0; k < inputs.size(); ++k) {
        Index const features = inputs_[k].size();
        bring(inputs[k].data() + first * features, workspace_.data() + inputs_at_[k], features);
      }
      play();
      for (std::size_t k = 0; k < outputs.size(); ++k) {
        Index const features = outputs_[k].size();
        fetch(outputs_at_[k], outputs[k].data() + first * features, features);
      }
    }
  }
  Index warm_up(Index limit) override {
    freestanding::fill_n(workspace_.data() + silence_, values_ - silence_, T{});
    if (states_.past < endless_past) return silence(std::min(states_.past, limit));
    std::vector<T> before(static_cast<std::size_t>(states_.size));
    Index steps = 0;
    do {
      std::copy(state_.data(), state_.data() + states_.size, before.data());
      steps += silence(std::min(most_, limit - steps));
    } while (steps < limit && !is_still(before.data()));
    return steps;
  }

 private:
  static constexpr bool has_tape = requires(Backend backend) { backend.tape; };
  using BlockRun = Run<Program, Backend, StepBlock<T>, T*>;

  BlockRun run() {
    StepBlock<T> const block{&steps_, most_, states_.offsets.data(), row_.data(), row_inputs_.data()};
    BlockRun made{program_, backend_, parameters_, workspace_.data(), {}, block, seed_, 0, state_.data()};
    for (std::size_t k = 0; k < inputs_at_.size(); ++k) made.inputs[k] = workspace_.data() + inputs_at_[k];
    return made;
  }
  /// Computes steps of the inputs that are in the workspace; returns their number.
  Index silence(Index count) {
    for (Index left = count; left > 0; left -= steps_) steps_ = std::min(most_, left), play();
    return count;
  }
  void play() {
    if constexpr (has_tape) {
      if (!states_.by_steps) return tape_.tape.play();
    }
    forward(run());
  }
  /// Transposes steps into a signal, and a signal into steps.
  void bring(T const* from, T* to, Index features) const {
    if (features == 1) {
      std::memcpy(to, from, static_cast<std::size_t>(steps_) * sizeof(T));
      return;
    }
    for (Index t = 0; t < steps_; ++t) {
      for (Index c = 0; c < features; ++c) to[c * most_ + t] = from[t * features + c];
    }
  }
  void fetch(T const* from, T* to, Index features) const {
    if (features == 1) {
      std::memcpy(to, from, static_cast<std::size_t>(steps_) * sizeof(T));
      return;
    }
    for (Index t = 0; t < steps_; ++t) {
      for (Index c = 0; c < features; ++c) to[t * features + c] = from[c * most_ + t];
    }
  }
  static T const* output_at(BlockRun const& run, int k) {
    T const* address = nullptr;
    if constexpr (requires { run.value(run.program.output(k)); }) {
      address = run.value(run.program.output(k)).data;
    } else {
      [&]<int... i>(std::integer_sequence<int, i...>) {
        auto const one = [&](auto n) {
          if (n == k) address = run.value(run.program.output(n)).data;
        };
        (one(std::integral_constant<int, i>{}), ...);
      }
      (std::make_integer_sequence<int, static_cast<int>(Program::Net::outputs.size())>{});
    }
    return address;
  }
  /// Whether nothing has changed but the places of rings. The values of a ring stand still when silence has gone all the
  /// way round.
  bool is_still(T const* before) const {
    Index at = 0;
    for (Index const place : states_.places) {
      if (!std::equal(before + at, before + place, state_.data() + at)) return false;
      at = place + 1;
    }
    return std::equal(before + at, before + states_.size, state_.data() + at);
  }
  void record() {
    if constexpr (has_tape) {
      tape_.bytes.resize(256);
      for (;;) {
        tape_.tape.start({tape_.bytes.data(), tape_.bytes.size()});
        auto recorded = run();
        recorded.backend.tape = &tape_.tape;
        forward(recorded);
        if (tape_.tape.fits()) return;
        tape_.bytes.resize(tape_.tape.size());
      }
    }
  }
  struct Untaped {};
  template <class B>
  struct Taped {
    std::remove_pointer_t<decltype(B::tape)> tape;
    std::vector<std::byte> bytes;
  };
  template <class B>
  static auto tape_of() {
    if constexpr (has_tape) {
      return Taped<B>{};
    } else {
      return Untaped{};
    }
  }

  Program const& program_;
  Backend backend_;
  T const* parameters_;
  std::uint64_t seed_;
  std::vector<Shape> inputs_, outputs_;
  Index most_, silence_, values_ = 0, steps_ = 0;  // silence_: where the inputs begin; values_: where they end
  detail::BlockStates states_;
  HeapMemory<T> state_, row_, workspace_, row_values_;
  std::vector<Index> inputs_at_;
  std::vector<T*> row_inputs_;
  std::vector<T const*> outputs_at_;
  [[no_unique_address]] decltype(tape_of<Backend>()) tape_;
};

}  // namespace coldpress
