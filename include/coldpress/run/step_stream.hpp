// A sequence that goes through a network one step at a time, which takes the least time where blocks are single steps.
#pragma once

#include <coldpress/core/memory.hpp>
#include <coldpress/run/stream_plan.hpp>
#include <coldpress/run/tape_of.hpp>

#include <cstring>

namespace coldpress {

/// The passes of a program, and all memory of one stream. The program and the parameters must stay where they are.
template <class Program, class Backend>
class StepStream : public StreamPasses<typename Backend::Scalar> {
 public:
  using T = typename Backend::Scalar;

  /// `scratch` is what the program's layers need in addition, in values.
  StepStream(Program const& program, Backend backend, T const* parameters, std::uint64_t seed,
             std::span<Shape const> inputs, std::span<Shape const> outputs, Index scratch, detail::StreamPlan plan,
             Index)
      : program_(program),
        backend_(backend),
        parameters_(parameters),
        seed_(seed),
        inputs_(inputs.begin(), inputs.end()),
        outputs_(outputs.begin(), outputs.end()),
        plan_(std::move(plan)),
        state_(program.plan().state),
        workspace_(scratch + program.plan().workspace) {
    Index size = 0;
    for (Shape const& in : inputs_) size += in.size();
    given_.reserve(size);
    for (Index at = 0; Shape const& in : inputs_) places_.push_back(given_.data() + at), at += in.size();
    if constexpr (requires { backend_.scratch; }) backend_.scratch = workspace_.data();
    values_ = workspace_.data() + scratch;
    if (plan_.step_tapes) tape_.record([&](auto* tape) { forward_on(tape); });
  }
  StepStream(StepStream const&) = delete;
  StepStream& operator=(StepStream const&) = delete;

  std::span<Shape const> inputs() const override { return inputs_; }
  std::span<Shape const> outputs() const override { return outputs_; }
  std::span<T> state() override { return {state_.data(), static_cast<std::size_t>(state_.size())}; }
  Index past() const override { return plan_.past; }

  void process(Index steps, std::span<std::span<T const> const> inputs,
               std::span<std::span<T> const> outputs) override {
    for (Index t = 0; t < steps; ++t) {
      for (std::size_t k = 0; k < inputs.size(); ++k) {
        auto const size = static_cast<std::size_t>(inputs_[k].size());
        std::memcpy(places_[k], inputs[k].data() + static_cast<std::size_t>(t) * size, size * sizeof(T));
      }
      play();
      detail::for_each_output(run(), [&](std::size_t k, auto const& y) {
        auto const size = static_cast<std::size_t>(outputs_[k].size());
        std::memcpy(outputs[k].data() + static_cast<std::size_t>(t) * size, y.data, size * sizeof(T));
      });
    }
  }
  Index warm_up(Index limit) override {
    std::fill_n(given_.data(), given_.size(), T{});
    auto const silence = [&](Index count) {
      for (Index t = 0; t < count; ++t) play();
    };
    if (plan_.past == endless_past) {
      return detail::play_until_still<T>(plan_, limit, 64, silence,
                                         [&](auto const& endless) { return state_.data() + endless.in_step; });
    }
    silence(std::min(plan_.past, limit));
    return std::min(plan_.past, limit);
  }

 private:
  using Count = std::conditional_t<is_linked<Backend> || !compiles_variants<Backend>, Index, Fixed<1>>;
  using StepRun = Run<Program, Backend, Count, T*>;

  StepRun run() {
    StepRun made{program_, backend_, parameters_, values_, {}, {}, seed_, 0, state_.data()};
    if constexpr (std::is_same_v<Count, Index>) made.batch = 1;
    for (std::size_t k = 0; k < places_.size(); ++k) made.inputs[k] = places_[k];
    return made;
  }
  template <class Tape>
  void forward_on(Tape* tape) {
    auto made = run();
    made.backend.tape = tape;
    forward(made);
  }
  void play() {
    if (!tape_.play()) forward(run());
  }

  Program const& program_;
  Backend backend_;
  T const* parameters_;
  std::uint64_t seed_;
  std::vector<Shape> inputs_, outputs_;
  detail::StreamPlan plan_;
  HeapMemory<T> state_, workspace_, given_;
  T* values_ = nullptr;
  std::vector<T*> places_;
  [[no_unique_address]] TapeOf<Backend> tape_;
};

}  // namespace coldpress
