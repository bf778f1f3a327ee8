// A sequence that goes through a network one step at a time, which takes the least time where blocks are single steps.
#pragma once

#include <coldpress/run/program_stream.hpp>

namespace coldpress {

/// The passes of a program, and all memory of one stream.
template <class Program, class Backend>
class StepStream : public ProgramStream<Program, Backend> {
  using Base = ProgramStream<Program, Backend>;
  using Base::program_, Base::inputs_, Base::outputs_, Base::plan_, Base::state_;
  using typename Base::Endless;

 public:
  using typename Base::T;

  /// `scratch` is what the program's layers need in addition, in values.
  StepStream(Program const& program, Backend backend, T const* parameters, std::uint64_t seed,
             std::span<Shape const> inputs, std::span<Shape const> outputs, Index scratch, detail::StreamPlan plan,
             Index)
      : Base(program, backend, parameters, seed, inputs, outputs, std::move(plan)),
        workspace_(scratch + program.plan().workspace) {
    state_.reserve(program.plan().state);
    Index size = 0;
    for (Shape const& in : inputs_) size += in.size();
    given_.reserve(size);
    for (Index at = 0; Shape const& in : inputs_) places_.push_back(given_.data() + at), at += in.size();
    this->lend(workspace_.data());
    values_ = workspace_.data() + scratch;
    if (plan_.step_tapes) this->record(run());
  }

  void process(Index steps, std::span<std::span<T const> const> inputs,
               std::span<std::span<T> const> outputs) override {
    auto const made = run();
    for (Index t = 0; t < steps; ++t) {
      for (std::size_t k = 0; k < inputs.size(); ++k) {
        auto const size = static_cast<std::size_t>(inputs_[k].size());
        std::memcpy(places_[k], inputs[k].data() + static_cast<std::size_t>(t) * size, size * sizeof(T));
      }
      this->play(made);
      detail::for_each_output(made, [&](std::size_t k, auto const& y) {
        auto const size = static_cast<std::size_t>(outputs_[k].size());
        std::memcpy(outputs[k].data() + static_cast<std::size_t>(t) * size, y.data, size * sizeof(T));
      });
    }
  }

 private:
  using Count = std::conditional_t<has_numbered_groups<Program> || !compiles_variants<Backend>, Index, Fixed<1>>;
  using StepRun = Run<Program, Backend, Count, T*>;

  void silence(Index steps) override {
    std::fill_n(given_.data(), given_.size(), T{});
    auto const made = run();
    for (Index t = 0; t < steps; ++t) this->play(made);
  }
  T const* values_of(Endless const& endless) override { return state_.data() + endless.in_step; }
  StepRun run() {
    StepRun made{program_, this->backend_, this->parameters_, values_, {}, {}, this->seed_, 0, state_.data()};
    if constexpr (std::is_same_v<Count, Index>) made.batch = 1;
    for (std::size_t k = 0; k < places_.size(); ++k) made.inputs[k] = places_[k];
    return made;
  }

  HeapMemory<T> workspace_, given_;
  T* values_ = nullptr;
  std::vector<T*> places_;
};

}  // namespace coldpress
