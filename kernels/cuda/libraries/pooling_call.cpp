// Describes a pooling to cuDNN, and says which ones it computes as coldpress does.
#include "pooling_call.hpp"

namespace coldpress::cuda {
bool has_library(PoolingGeometry const& geometry) {
  bool same = true;
  for (Axis const& axis : {geometry.depth, geometry.height, geometry.width})
    same = same && axis.out == (axis.in + 2 * axis.padding - axis.filter) / axis.stride + 1;
  return same;
}

PoolingCall::PoolingCall(PoolingTask const& task, std::shared_ptr<cudnnContext> cudnn)
    : sizes_{task.batch * task.x_pitch, 0, 0, task.batch * task.y_pitch}, cudnn_(std::move(cudnn)) {
  PoolingGeometry const& g = task.geometry;
  constexpr char const* action = "describing a pooling";
  Axis const axes[] = {g.depth, g.height, g.width};
  // Images have no axis of depth.
  int const first = g.depth.in == 1 && g.depth.filter == 1 && g.depth.padding == 0 ? 1 : 0, count = 3 - first;
  int windows[3], paddings[3], strides[3];
  for (int n = 0; n < count; ++n) {
    Axis const& axis = axes[first + n];
    windows[n] = int_of(axis.filter), paddings[n] = int_of(axis.padding), strides[n] = int_of(axis.stride);
  }
  cudnnPoolingMode_t const mode = g.mode == PoolingMode::max ? CUDNN_POOLING_MAX_DETERMINISTIC
                                  : g.count_padding          ? CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING
                                                             : CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING;
  check(cudnnSetPoolingNdDescriptor(pooling_.get(), mode, CUDNN_PROPAGATE_NAN, count, windows, paddings, strides),
        action, to_report);
  auto const describe = [&](auto const& tensor, Index pitch, Index Axis::*extent) {
    int extents[5] = {int_of(task.batch), int_of(g.planes)}, pitches[5];
    Index step = 1;
    for (int n = count - 1; n >= 0; --n) {
      extents[2 + n] = int_of(axes[first + n].*extent), pitches[2 + n] = int_of(step);
      step *= axes[first + n].*extent;
    }
    pitches[0] = int_of(pitch), pitches[1] = int_of(step);
    check(cudnnSetTensorNdDescriptor(tensor.get(), CUDNN_DATA_FLOAT, 2 + count, extents, pitches), action, to_report);
  };
  describe(x_, task.x_pitch, &Axis::in), describe(y_, task.y_pitch, &Axis::out);
}

void PoolingCall::put(void*, Operands const& operands) const { run(cudnnPoolingForward, operands); }
void PoolingCall::play(Operands const& operands) const { run(emulated_pooling, operands); }

void PoolingCall::run(decltype(&cudnnPoolingForward) forward, Operands const& operands) const {
  float const one = 1, zero = 0;
  check(forward(cudnn_.get(), pooling_.get(), &one, x_.get(), operands.x, &zero, y_.get(), operands.y),
        "executing a pooling", to_report);
}

}  // namespace coldpress::cuda
