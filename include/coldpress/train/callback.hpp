// What a trainer calls between steps, and when.
#pragma once

#include <coldpress/persist/checkpoint.hpp>

#include <concepts>
#include <memory>
#include <string>

namespace coldpress::train {

class Trainer;
using persist::State;

/// When a callback is due. Seconds are those of a clock (TrainerOptions::clock), so they are not the same when a run is
/// repeated.
struct When {
  std::uint64_t steps = 0, epochs = 0;
  double seconds = 0;
  bool end = false;
};
/// Each throws ConfigError unless n is positive.
When steps(std::int64_t n);
When epochs(std::int64_t n);
When seconds(double n);
/// When the training ends without an error.
inline When end() { return {.end = true}; }

/// A function, or an object that can be called. An object may also have
///   name              by which its state is found in a checkpoint
///   state(), restore  what a checkpoint keeps of it (State)
///   reports = true    then it is called after the others, so that it sees their statistics
///   saves = true      then it is called after all of these at a step, so that it sees their states, and before them
///                     when the training ends, so that it sees what the training has reached
///   at_end = true     then it is also called when the training ends
///   reads_batch = true  if it reads samples or targets of Trainer::batch(), of which a rank has only a part otherwise
///   reads_state = true  if it makes a checkpoint: where ranks divide the optimizer's state (shard_optimizer), the
///                     trainer gathers it on rank 0 before
///   on_all_ranks = true  if it asks all ranks for something, so that each must have it
///   begin(trainer)    which is called when a run begins, before its first step
template <class C>
concept Callback = std::invocable<C&, Trainer&> && std::move_constructible<C>;
template <class C>
concept CallbackWithState = std::copyable<C> && requires(C& callback, C const& constant, State const& state) {
  { constant.state() } -> std::convertible_to<State>;
  callback.restore(state);
  {std::string{constant.name}};
};

/// For restore: throws FormatError unless the state has this many numbers.
void check_state(std::string_view name, State const& state, std::size_t numbers);
/// A number of a state that counts something. Throws FormatError if it is not a whole number from 0 on.
Index count_in(std::string_view name, double number);

namespace detail {
/// The order of callbacks at a step. At the end, those that save come first.
enum class Turn { usual, reports, saves };

class AnyCallback {
 public:
  struct Needs {
    bool batch, state, all_ranks;
  };
  AnyCallback(When due, std::string its_name, Turn its_turn, Needs needs)
      : when(due),
        name(std::move(its_name)),
        turn(its_turn),
        reads_batch(needs.batch),
        reads_state(needs.state),
        on_all_ranks(needs.all_ranks) {}
  virtual ~AnyCallback() = default;
  virtual void begin(Trainer& trainer) = 0;
  virtual void call(Trainer& trainer) = 0;
  virtual bool has_state() const = 0;
  virtual State state() const = 0;
  /// Restores a copy, which becomes the callback with accept(): then nothing is changed if one of several fails. Null:
  /// there is no state.
  virtual void prepare(State const* state) = 0;
  virtual void accept() = 0;

  When when;
  std::string name;
  Turn turn;
  bool reads_batch, reads_state, on_all_ranks;
  double last = 0;  // when it was due by the clock
};

template <Callback C>
class CallbackOf final : public AnyCallback {
 public:
  CallbackOf(When due, C given) : AnyCallback(due, name_of(given), turn_of(), needs()), callback(std::move(given)) {
    if constexpr (requires { C::at_end; }) when.end |= C::at_end;
  }
  void begin([[maybe_unused]] Trainer& trainer) override {
    if constexpr (requires { callback.begin(trainer); }) callback.begin(trainer);
  }
  void call(Trainer& trainer) override { callback(trainer); }
  bool has_state() const override { return CallbackWithState<C>; }
  State state() const override {
    if constexpr (CallbackWithState<C>) {
      return callback.state();
    } else {
      return {};
    }
  }
  void prepare([[maybe_unused]] State const* state) override {
    prepared_.reset();
    if constexpr (CallbackWithState<C>) {
      if (!state) return;
      auto copy = std::make_unique<C>(callback);
      copy->restore(*state);
      prepared_ = std::move(copy);
    }
  }
  void accept() override {
    if constexpr (CallbackWithState<C>) {
      if (prepared_) callback = std::move(*prepared_), prepared_.reset();
    }
  }
  C callback;

 private:
  static std::string name_of(C const& callback) {
    if constexpr (requires { std::string{callback.name}; }) {
      return std::string{callback.name};
    } else {
      return {};
    }
  }
  static constexpr Needs needs() {
    constexpr bool batch = requires { requires C::reads_batch; };
    constexpr bool state = requires { requires C::reads_state; };
    constexpr bool all_ranks = requires { requires C::on_all_ranks; };
    return {batch, state, all_ranks};
  }
  static constexpr Turn turn_of() {
    if constexpr (requires { requires C::saves; }) {
      return Turn::saves;
    } else if constexpr (requires { requires C::reports; }) {
      return Turn::reports;
    } else {
      return Turn::usual;
    }
  }
  static_assert(
      CallbackWithState<C> || !requires(C & c, State const& s) { c.restore(s); },
      "a callback with restore(state) also needs a name, a state() const that returns a State, and to be copyable");
  std::unique_ptr<C> prepared_;
};

}  // namespace detail

}  // namespace coldpress::train
