// What streams in blocks and streams of single steps share.
#pragma once

#include <coldpress/core/memory.hpp>
#include <coldpress/run/stream_plan.hpp>
#include <coldpress/run/tape_of.hpp>

#include <cstring>

namespace coldpress {

/// A program of which a stream's passes are made, and what the stream needs besides. The program and the parameters
/// must stay where they are.
template <class Program, class Backend>
class ProgramStream : public StreamPasses<typename Backend::Scalar> {
 public:
  using T = typename Backend::Scalar;

  ProgramStream(ProgramStream const&) = delete;
  ProgramStream& operator=(ProgramStream const&) = delete;

  std::span<Shape const> inputs() const override { return inputs_; }
  std::span<Shape const> outputs() const override { return outputs_; }
  std::span<T> state() override { return {state_.data(), static_cast<std::size_t>(state_.size())}; }
  Index past() const override { return plan_.past; }

  Index warm_up(Index limit) override {
    if (plan_.past == endless_past) return play_until_still(limit);
    silence(std::min(plan_.past, limit));
    return std::min(plan_.past, limit);
  }

 protected:
  using Endless = typename detail::StreamPlan::Endless;

  ProgramStream(Program const& program, Backend backend, T const* parameters, std::uint64_t seed,
                std::span<Shape const> inputs, std::span<Shape const> outputs, detail::StreamPlan plan)
      : program_(program),
        backend_(backend),
        parameters_(parameters),
        seed_(seed),
        inputs_(inputs.begin(), inputs.end()),
        outputs_(outputs.begin(), outputs.end()),
        plan_(std::move(plan)) {}

  /// Computes steps of silence, any number.
  virtual void silence(Index steps) = 0;
  /// Where the values of a state that never forgets are.
  virtual T const* values_of(Endless const& endless) = 0;

  /// Lends memory to layers that need some.
  void lend(T* scratch) {
    if constexpr (requires { backend_.scratch; }) backend_.scratch = scratch;
  }
  /// Records the calls of a pass, where these can be repeated.
  template <class Run>
  void record(Run run) {
    if constexpr (requires { run.backend.tape; }) {
      tape_.record([&](auto* tape) {
        run.backend.tape = tape;
        forward(run);
      });
    }
  }
  template <class Run>
  void play(Run const& run) const {
    if (!tape_.play()) forward(run);
  }

  Program const& program_;
  Backend backend_;
  T const* parameters_;
  std::uint64_t seed_;
  std::vector<Shape> inputs_, outputs_;
  detail::StreamPlan plan_;
  HeapMemory<T> state_;

 private:
  /// Plays silence until what never forgets has been the same every 64 steps for as long as the rest remembers, or for
  /// `limit` steps. So a state that swings for ever, if only by a last bit, is still if its period divides 64. Returns
  /// the number of steps.
  Index play_until_still(Index limit) {
    std::vector<T> before;
    Index steps = 0, still = 0;
    while (steps < limit && still < plan_.reach + 64) {
      before.clear();
      for (Endless const& endless : plan_.endless)
        before.insert(before.end(), values_of(endless), values_of(endless) + endless.size);
      Index const count = std::min<Index>(64, limit - steps);
      silence(count), steps += count;
      bool same = true;
      auto was = before.begin();
      for (Endless const& endless : plan_.endless)
        same = same && std::equal(was, was + endless.size, values_of(endless)), was += endless.size;
      still = same ? still + count : 0;
    }
    return steps;
  }

  [[no_unique_address]] TapeOf<Backend> tape_;
};

}  // namespace coldpress
