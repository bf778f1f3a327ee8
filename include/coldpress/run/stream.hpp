// A sequence, such as sound, that goes through a network in blocks of any length: what all streams have.
#pragma once

#include <coldpress/core/layer_traits.hpp>
#include <coldpress/core/memory.hpp>
#include <coldpress/run/samples.hpp>

#include <algorithm>
#include <memory>
#include <vector>

namespace coldpress {

/// The number of steps that are computed at once. More would need more cache; fewer would cost more calls.
inline constexpr Index steps_at_once = 64;

/// The passes of one stream through a network, and its state.
template <class T>
class StreamPasses {
 public:
  virtual ~StreamPasses() = default;
  /// A stream of the same network that begins anew.
  virtual std::unique_ptr<StreamPasses> another() const = 0;
  /// The shapes of a step.
  virtual std::span<Shape const> inputs() const = 0;
  virtual std::span<Shape const> outputs() const = 0;
  virtual void process(Index steps, std::span<std::span<T const> const> inputs,
                       std::span<std::span<T> const> outputs) = 0;
  virtual Index warm_up(Index limit) = 0;
  virtual std::span<T> state() = 0;
  virtual Index past() const = 0;
};

/// The public interface of Stream and dynamic::Stream. Any number of streams may share a network. Its weights may
/// change between calls. A Stream borrows its network, which must neither move, nor be assigned to, nor be destroyed
/// before it. A copy of a stream continues from the same state.
///
/// The bits do not depend on how a sequence is cut into blocks. They are those of `step` and, from a new state and
/// where each layer treats the steps alike, those of `forward` over the whole sequence.
template <class T>
class BasicStream {
 public:
  BasicStream(BasicStream const& other) : passes_(other.passes().another()) { restore(other.state()); }
  BasicStream(BasicStream&&) noexcept = default;
  BasicStream& operator=(BasicStream other) noexcept {
    std::swap(passes_, other.passes_);
    return *this;
  }

  /// Computes the next steps, none or any number. x has the values of one step after another, and y receives the output
  /// of as many steps. y may begin where x does, or earlier, if it has no more values per step. It allocates nothing,
  /// takes no lock and makes no system call. Throws ShapeError if the sizes do not fit each other and the network, and
  /// if an output would be written over inputs that are still to be read, or over another output.
  void process(std::span<T const> x, std::span<T> y) { process(std::span{&x, 1}, std::span{&y, 1}); }
  /// The same for a network with several inputs or outputs.
  void process(std::span<std::span<T const> const> inputs, std::span<std::span<T> const> outputs) {
    auto const in = passes().inputs(), out = passes().outputs();
    if (inputs.size() != in.size() || outputs.size() != out.size())
      refuse("process: got ", inputs.size(), " inputs and ", outputs.size(), " outputs, the network has ", in.size(),
             " and ", out.size());
    Index const steps = static_cast<Index>(inputs[0].size()) / in[0].size();
    for (std::size_t k = 0; k < in.size(); ++k) check_values("process: an input", inputs[k].size(), steps, in[k]);
    for (std::size_t k = 0; k < out.size(); ++k) check_values("process: an output", outputs[k].size(), steps, out[k]);
    for (std::size_t i = 0; i < in.size(); ++i) {
      for (std::size_t o = 0; o < out.size(); ++o) {
        bool const in_place = outputs[o].data() <= inputs[i].data() && out[o].size() <= in[i].size();
        require(in_place || !overlap(inputs[i], outputs[o]),
                "process: an output would be written over inputs that are still to be read");
      }
    }
    for (std::size_t o = 1; o < out.size(); ++o) {
      for (std::size_t other = 0; other < o; ++other)
        require(!overlap(outputs[o], outputs[other]), "process: an output would be written over another");
    }
    passes().process(steps, inputs, outputs);
  }

  /// Makes the next step start a new sequence.
  void reset() {
    auto const values = passes().state();
    std::fill(values.begin(), values.end(), T{});
  }
  /// Starts a new sequence and gives it silence until that has no more effect: for past() steps, or, through a network
  /// that never forgets, until its state is what it was 64 steps before; but for no more than `limit` steps. Returns
  /// the number of steps.
  Index warm_up(Index limit = Index{1} << 20) {
    reset();
    return passes().warm_up(limit);
  }
  /// The number of earlier steps on which an output depends; endless_past if it depends on all.
  Index past() const { return passes().past(); }
  /// What the layers remember of the sequence, as a view of this stream's own memory: copy it to keep it. The copy fits
  /// every stream of the network that was made for as many steps; restore throws ShapeError for a state of another
  /// size, and for a view of this stream's own, which has not stayed as it was.
  std::span<T const> state() const { return passes().state(); }
  void restore(std::span<T const> state) {
    auto const to = passes().state();
    require(state.empty() || state.data() != to.data(), "restore: this is the stream's own state, not a copy of it");
    if (state.size() != to.size())
      refuse("restore: got a state of ", state.size(), " values, expected ", to.size(),
             ", as streams of this network that were made for as many steps have");
    std::copy(state.begin(), state.end(), to.begin());
  }

 protected:
  explicit BasicStream(std::unique_ptr<StreamPasses<T>> passes) : passes_(std::move(passes)) {}

 private:
  static bool overlap(std::span<T const> x, std::span<T const> y) {
    return is_among(x.data(), y.data(), static_cast<Index>(y.size())) ||
           is_among(y.data(), x.data(), static_cast<Index>(x.size()));
  }
  StreamPasses<T>& passes() const {
    require(passes_ != nullptr, "stream: has been moved from");
    return *passes_;
  }

  std::unique_ptr<StreamPasses<T>> passes_;
};

}  // namespace coldpress
