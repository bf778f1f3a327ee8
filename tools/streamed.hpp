// A network that a signal is played through, which coldpress stream and coldpress bench have in common.
#pragma once

#include "options.hpp"

#include <coldpress/data/transform.hpp>
#include <coldpress/dynamic/stream.hpp>

#include <array>
#include <optional>

namespace coldpress::command {

struct StreamedModel {
  std::string model;
  double size = 1;  // of a .nam file with several networks
  Index block = 64;
};
/// Returns --size and --block, which minibatches do not have.
std::array<CLI::Option*, 2> add_streamed(CLI::App& command, StreamedModel& options);

/// A network whose samples are single steps, and what its file says: the sample rate that it was made for, if any, and
/// what is done to samples.
struct Streamed {
  dynamic::Layer network;
  std::optional<double> sample_rate;
  data::Transforms transforms;
  Index in() const { return network.input_shape().size(); }
  Index out() const { return network.output_shape().size(); }
};
/// Throws UnsupportedError, with what else to do, for a network that no signal can be played through.
Streamed open_streamed(StreamedModel const& options, dynamic::Backend const& backend);
/// A stream in the blocks of the options. Throws ShapeError, with what else to do, for a network that needs the whole
/// sequence at once.
dynamic::Stream stream_of(Streamed const& played, StreamedModel const& options);

}  // namespace coldpress::command
