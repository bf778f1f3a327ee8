// Passes of inference that are taken down, each with its memory and for the samples of one call.
#pragma once

#include <coldpress/kernels/tape.hpp>

#include <coldpress/dynamic/executable.hpp>

#include <array>
#include <optional>

namespace coldpress::dynamic {

struct Recording {
  cpu::HeapTape tape;
  Index batch = 0;  // 0: none yet
  float const *memory = nullptr, *state = nullptr;
  std::array<std::size_t, max_network_inputs> sizes{};
  std::vector<Values> outputs;

  bool fits(std::span<Values const> inputs) const {
    bool fits = batch > 0 && inputs.size() <= sizes.size();
    for (std::size_t k = 0; fits && k < inputs.size(); ++k) fits = inputs[k].size() == sizes[k];
    return fits;
  }
};

/// Those of the last few sizes of a minibatch, and of a stream.
class Recorder {
 public:
  Recording& stream() { return stream_; }
  Recording const& stream() const { return stream_; }
  Recording& of(std::span<Values const> inputs) {
    for (Recording& recording : forward_) {
      if (recording.fits(inputs)) return recording;
    }
    return forward_[oldest_++ % forward_.size()];
  }
  /// Takes a pass down that computes in `memory`: make(run) makes its calls, and end(run) says where its outputs are.
  template <class Run, class Make, class End>
  void record(Recording& recording, Run run, float const* memory, std::span<Values const> inputs, Make make, End end) {
    recording.batch = 0;  // until all is down
    run.backend.tape = &recording.tape;
    for (std::size_t k = 0; k < inputs.size(); ++k) run.inputs[k] = cpu::Tape::stand_in(k);
    do {
      recording.tape.start(inputs);
      make(run);
    } while (recording.tape.grow());
    std::span<Values const> const outputs = end(run);
    recording.outputs.assign(outputs.begin(), outputs.end());
    for (Recording& other : forward_) {  // nothing is allocated for other sizes of a minibatch later
      other.outputs.reserve(outputs.size());
      if (other.batch == 0) other.tape.reserve(recording.tape.size());
    }
    // Now it is down, and nothing that may find no memory comes after it.
    recording.batch = run.batch, recording.memory = memory, recording.state = run.state;
    for (std::size_t k = 0; k < inputs.size(); ++k) recording.sizes[k] = inputs[k].size();
  }
  /// Room for tapes of these sizes, on which nothing is left; without a size the stream's stays as it is.
  void reserve(std::size_t size, std::optional<std::size_t> stream_size, std::size_t outputs) {
    for (Recording& recording : forward_) recording.batch = 0, recording.tape.reserve(size);
    if (!stream_size) return;
    stream_.batch = 0, stream_.tape.reserve(*stream_size), stream_.outputs.reserve(outputs);
  }

 private:
  std::array<Recording, 4> forward_;
  std::size_t oldest_ = 0;  // of these
  Recording stream_;
};

}  // namespace coldpress::dynamic
