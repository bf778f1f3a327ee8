// A sequence, such as sound, that goes through a network from a config in blocks of any length.
#pragma once

#include <coldpress/dynamic/layer.hpp>
#include <coldpress/run/stream.hpp>

namespace coldpress::dynamic {

/// A stream of steps through a network, a sample of which is one step. The config of a network for whole sequences
/// makes one if Layer::from_config is given Shape{features}. The functions are those of BasicStream. Weights that are
/// written through tensors reach the network with Layer::send_weights(). The stream shares the network with the Layer,
/// which may move, be assigned another network or be destroyed: the stream keeps its own.
class Stream : public BasicStream<float> {
 public:
  /// Allocates all memory of the stream. A call may have more than `most` steps, which are then computed in parts. A
  /// stream that is made for single steps, 1, computes these in the least time. Throws ShapeError if a sample has
  /// several steps, or a layer needs the whole sequence at once, and UnsupportedError for a network type (which
  /// coldpress::Stream is for) and for a network on a GPU.
  explicit Stream(Layer const& network, Index most = steps_at_once);
};

}  // namespace coldpress::dynamic
