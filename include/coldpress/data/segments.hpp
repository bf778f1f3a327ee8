// Two signals, what goes into a device and what comes out of it, as samples of a training.
#pragma once

#include <coldpress/data/source.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace coldpress::data {

/// The input of a device and its output, recorded at the same time, one value per step each.
struct SignalPair {
  std::vector<float> input, output;
  Index sample_rate = 48000;  // steps per second
};
/// Reads both from sound files of one channel. Throws what read_sound throws, FormatError for more channels, and
/// MismatchError, with both numbers, if their sample rates differ.
SignalPair read_signals(std::string const& input, std::string const& output);

/// By how many steps the output comes after the input. It is negative if the output comes first, and nothing if neither
/// signal follows from the other. The impulse response of the linear system that maps one to the other is estimated
/// from the first 2^20 steps. The delay is where it first reaches a tenth of its peak, up to 32 steps before it. This
/// is rather too early than too late, because a model cannot answer to what it has not heard yet. Delays are looked for
/// up to `most` steps. Throws ShapeError unless both signals have as many steps as that, and at least 64.
std::optional<Index> find_delay(SignalPair const& signals, Index most);
/// The same for signals of the files `input` and `output`, of at most half a second. Throws DataError, which names
/// both, if there is none; `given` is the option that says a delay, as the error spells it.
Index delay_of(SignalPair const& signals, std::string const& input, std::string const& output,
               std::string const& given);

/// Cuts both so that their steps belong together; they are then of equal length. Throws ConfigError if the delay leaves
/// nothing.
void correct_delay(SignalPair& signals, Index delay);

struct SegmentOptions {
  Index length = 8192;  // steps of a sample's target
  Index run_in = 0;     // steps before them, for which there is no target: a network's receptive field less 1
};
/// The signals cut into as many samples as they have: inputs {run_in + length, 1} and targets {length, 1}. Targets do
/// not overlap, inputs do by the run-in. Throws ConfigError for numbers out of range, and if the shorter signal is too
/// short for one sample.
std::unique_ptr<Source> segments(SignalPair signals, SegmentOptions options);

/// Holds out the last `fraction` of the samples. `source` must outlive both parts. Throws ConfigError unless both have
/// at least one.
SourceSplit split_end(Source const& source, double fraction);

}  // namespace coldpress::data
