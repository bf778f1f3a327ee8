// Starts a stream with the current weights, and links what computes its blocks.
#include <coldpress/dynamic/stream.hpp>

namespace coldpress::dynamic {

Stream::Stream(Layer const& network, Index most)
    : BasicStream([&] {
        link_streams();
        network.send_weights();
        return network.executable().stream_passes(most);
      }()) {}

}  // namespace coldpress::dynamic
