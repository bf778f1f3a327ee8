// A sequence that goes through a network in blocks of steps, written once for network types and for configs.
#pragma once

#include <coldpress/core/memory.hpp>
#include <coldpress/run/execute.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

namespace coldpress {

namespace detail {
/// The number of steps that are computed at once. More would need more cache; fewer would cost more calls.
inline constexpr Index steps_at_once = 64;

/// What the heads of a program carry from block to block.
struct BlockStates {
  std::vector<Index> offsets;  // by group
  Index size = 0;              // in values
  Index past = 0;              // the number of earlier steps on which an output depends; endless_past: on all
  bool by_steps = false;       // whether any group is computed step by step
};
template <class Backend, class Program>
BlockStates block_states(Program const& program, Index most) {
  auto const groups = static_cast<std::size_t>(program.plan().groups);
  BlockStates states{std::vector<Index>(groups)};
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
          states.size += (size + 15) / 16 * 16;
          past[g] = std::min(past[g] + past_of(layer, in), endless_past);
        },
        [] {});
    states.past = std::max(states.past, past[g]);
  });
  return states;
}
}  // namespace detail

/// The passes of one stream, and all of its memory. Each input and output has `features` values per step. `Program`
/// must be prepared, and both it and the parameters must stay where they are.
template <class Program, class Backend>
class BlockStream {
 public:
  using T = typename Backend::Scalar;
  struct Sizes {
    std::vector<Index> inputs, outputs;  // values per step
    Index scratch = 0;
  };

  BlockStream(Program const& program, Backend backend, T const* parameters, std::uint64_t seed, Sizes sizes, Index most)
      : program_(program),
        backend_(backend),
        parameters_(parameters),
        seed_(seed),
        sizes_(std::move(sizes)),
        most_((std::min(most, detail::steps_at_once) + 15) / 16 * 16),
        states_(detail::block_states<Backend>(program, most_)),
        state_(states_.size),
        row_(program.plan().workspace) {
    Index values = program.plan().workspace * most_, rows = 0;
    for (Index const features : sizes_.inputs) inputs_at_.push_back(values), values += features * most_, rows += features;
    workspace_.reserve(values + sizes_.scratch);
    row_inputs_memory_.reserve(rows);
    for (Index at = 0; Index const features : sizes_.inputs)
      row_inputs_.push_back(row_inputs_memory_.data() + at), at += features;
    if constexpr (requires { backend_.scratch; }) backend_.scratch = workspace_.data() + values;
    if constexpr (has_tape) {
      if (!states_.by_steps) record();
    }
  }
  BlockStream(BlockStream const&) = delete;
  BlockStream& operator=(BlockStream const&) = delete;

  /// Computes the next steps: as many as the spans have, step after step.
  void process(Index steps, std::span<std::span<T const> const> inputs, std::span<std::span<T> const> outputs) {
    for (Index first = 0; first < steps; first += steps_) {
      steps_ = std::min(most_, steps - first);
      for (std::size_t k = 0; k < inputs.size(); ++k)
        bring(inputs[k].data() + first * sizes_.inputs[k], workspace_.data() + inputs_at_[k], sizes_.inputs[k]);
      play();
      for (std::size_t k = 0; k < outputs.size(); ++k)
        fetch(static_cast<int>(k), outputs[k].data() + first * sizes_.outputs[k], sizes_.outputs[k]);
    }
  }
  /// Computes `count` steps of zeros.
  void process_silence(Index count) {
    freestanding::fill_n(workspace_.data() + inputs_at_[0], workspace_.size() - sizes_.scratch - inputs_at_[0], T{});
    for (; count > 0; count -= steps_) steps_ = std::min(most_, count), play();
  }
  /// Starts a new sequence and gives it silence, until this has no more effect or for `limit` steps. Returns the number
  /// of steps.
  Index warm_up(Index limit) {
    reset();
    if (states_.past < endless_past) {
      process_silence(std::min(states_.past, limit));
      return std::min(states_.past, limit);
    }
    std::vector<T> before(static_cast<std::size_t>(states_.size));
    Index steps = 0;
    // A ring's contents stand still when all that went into it does, but its place does not: whole rings are compared.
    Index const period = most_;
    while (steps < limit) {
      std::copy_n(state_.data(), states_.size, before.data());
      process_silence(period), steps += period;
      if (is_still(before.data())) break;
    }
    return steps;
  }
  void reset() { freestanding::fill_n(state_.data(), states_.size, T{}); }
  std::span<T const> state() const { return {state_.data(), static_cast<std::size_t>(states_.size)}; }
  std::span<T> state() { return {state_.data(), static_cast<std::size_t>(states_.size)}; }
  Index past() const { return states_.past; }

 private:
  static constexpr bool has_tape = requires(Backend backend) { backend.tape; };
  using BlockRun = Run<Program, Backend, StepBlock<T>, T*>;

  BlockRun run() {
    StepBlock<T> const block{&steps_, most_, states_.offsets.data(), row_.data(), row_inputs_.data()};
    BlockRun made{program_, backend_, parameters_, workspace_.data(), {}, block, seed_, 0, state_.data()};
    for (std::size_t k = 0; k < inputs_at_.size(); ++k) made.inputs[k] = workspace_.data() + inputs_at_[k];
    return made;
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
  void fetch(int output, T* to, Index features) {
    T const* const from = output_of(output);
    if (features == 1) {
      std::memcpy(to, from, static_cast<std::size_t>(steps_) * sizeof(T));
      return;
    }
    for (Index t = 0; t < steps_; ++t) {
      for (Index c = 0; c < features; ++c) to[t * features + c] = from[c * most_ + t];
    }
  }
  T const* output_of(int k) {
    if (outputs_.empty()) {
      auto const all = run();
      for (std::size_t i = 0; i < sizes_.outputs.size(); ++i)
        outputs_.push_back(output_address(all, static_cast<int>(i)));
    }
    return outputs_[static_cast<std::size_t>(k)];
  }
  static T const* output_address(BlockRun const& all, int k) {
    T const* address = nullptr;
    if constexpr (requires { all.value(all.program.output(k)); }) {
      address = all.value(all.program.output(k)).data;
    } else {
      [&]<int... i>(std::integer_sequence<int, i...>) {
        ((i == k ? void(address = all.value(all.program.output(std::integral_constant<int, i>{})).data) : void()), ...);
      }
      (std::make_integer_sequence<int, static_cast<int>(Program::Net::outputs.size())>{});
    }
    return address;
  }
  /// Whether nothing has changed but the places of rings, whose values are compared in their order in memory: silence
  /// that has gone all the way round has made them equal.
  bool is_still(T const* before) const {
    for (Index i = 0; i < states_.size; ++i) {
      if (i % 16 == 0) continue;
      if (std::memcmp(before + i, state_.data() + i, sizeof(T)) != 0) return false;
    }
    return true;
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
  Sizes sizes_;
  Index most_, steps_ = 0;
  detail::BlockStates states_;
  HeapMemory<T> state_, row_, workspace_, row_inputs_memory_;
  std::vector<Index> inputs_at_;
  std::vector<T*> row_inputs_;
  std::vector<T const*> outputs_;
  [[no_unique_address]] decltype(tape_of<Backend>()) tape_;
};

}  // namespace coldpress
