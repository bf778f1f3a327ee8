// Recorded inference passes, each for one workspace and one batch size.
#pragma once

#include <coldpress/kernels/heap_tape.hpp>

#include <coldpress/dynamic/executable.hpp>

#include <array>
#include <optional>

namespace coldpress::dynamic {

struct Recording {
  cpu::HeapTape tape;
  Index batch = 0;  // 0: nothing is recorded
  float const *memory = nullptr, *state = nullptr;
  std::array<std::size_t, max_network_inputs> sizes{};
  std::vector<Values> outputs;

  bool fits(std::span<Values const> inputs) const {
    bool fits = batch > 0 && inputs.size() <= sizes.size();
    for (std::size_t k = 0; fits && k < inputs.size(); ++k) fits = inputs[k].size() == sizes[k];
    return fits;
  }
};

/// The recordings of the last few batch sizes, and that of a stream.
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
  /// Records a pass that computes in `memory`: make(run) makes its calls, and end(run) returns its outputs.
  template <class Run, class Make, class End>
  void record(Recording& recording, Run run, float const* memory, std::span<Values const> inputs, Make make, End end) {
    recording.batch = 0;  // until everything is recorded
    run.backend.tape = &recording.tape;
    for (std::size_t k = 0; k < inputs.size(); ++k) run.inputs[k] = cpu::HeapTape::stand_in(k);
    do {
      recording.tape.start(inputs);
      make(run);
    } while (recording.tape.grow());
    std::span<Values const> const outputs = end(run);
    recording.outputs.assign(outputs.begin(), outputs.end());
    for (Recording& other : forward_) {  // so that other batch sizes allocate nothing later
      other.outputs.reserve(outputs.size());
      if (other.batch == 0) other.tape.reserve(recording.tape.size());
    }
    // The recording is complete. Nothing after this can run out of memory.
    recording.batch = run.batch, recording.memory = memory, recording.state = run.state;
    for (std::size_t k = 0; k < inputs.size(); ++k) recording.sizes[k] = inputs[k].size();
  }
  /// Reserves tapes of these sizes and clears them. Without a size, the stream's tape is left as it is.
  void reserve(std::size_t size, std::optional<std::size_t> stream_size, std::size_t outputs) {
    for (Recording& recording : forward_) recording.batch = 0, recording.tape.reserve(size);
    if (!stream_size) return;
    stream_.batch = 0, stream_.tape.reserve(*stream_size), stream_.outputs.reserve(outputs);
  }

 private:
  std::array<Recording, 4> forward_;
  std::size_t oldest_ = 0;  // the index of the oldest of these
  Recording stream_;
};

}  // namespace coldpress::dynamic
