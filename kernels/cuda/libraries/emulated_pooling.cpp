// Computes what cudnnPoolingForward computes, by plain loops in double precision. It reads only cuDNN's descriptors.
#include <array>

#include "pooling_call.hpp"

namespace coldpress::cuda {
namespace {

/// A tensor {samples, planes, depth, height, width} as its descriptor describes it; for images the depth is 1.
struct Asked {
  std::array<int, 5> extents{}, strides{};
  bool understood = false;

  explicit Asked(cudnnTensorDescriptor_t tensor) {
    cudnnDataType_t type{};
    int axes = 0;
    understood =
        cudnnGetTensorNdDescriptor(tensor, 5, &type, &axes, extents.data(), strides.data()) == CUDNN_STATUS_SUCCESS &&
        type == CUDNN_DATA_FLOAT && (axes == 4 || axes == 5);
    if (axes == 4)
      extents = {extents[0], extents[1], 1, extents[2], extents[3]},
      strides = {strides[0], strides[1], 0, strides[2], strides[3]};
  }
  Index offset(std::array<int, 5> const& at) const {
    Index offset = 0;
    for (std::size_t n = 0; n < 5; ++n) offset += Index{at[n]} * strides[n];
    return offset;
  }
};

}  // namespace

cudnnStatus_t emulated_pooling(cudnnHandle_t, cudnnPoolingDescriptor_t pooling, void const* alpha,
                               cudnnTensorDescriptor_t of_x, void const* x, void const* beta,
                               cudnnTensorDescriptor_t of_y, void* y) {
  cudnnPoolingMode_t mode{};
  cudnnNanPropagation_t nan{};
  int axes = 0;
  std::array<int, 3> window{}, padding{}, stride{};
  if (cudnnGetPoolingNdDescriptor(pooling, 3, &mode, &nan, &axes, window.data(), padding.data(), stride.data()) !=
      CUDNN_STATUS_SUCCESS)
    return CUDNN_STATUS_BAD_PARAM;
  if (axes == 2)
    window = {1, window[0], window[1]}, padding = {0, padding[0], padding[1]}, stride = {1, stride[0], stride[1]};
  Asked const in{of_x}, out{of_y};
  if (!in.understood || !out.understood || nan != CUDNN_PROPAGATE_NAN || *static_cast<float const*>(alpha) != 1 ||
      *static_cast<float const*>(beta) != 0)
    return CUDNN_STATUS_NOT_SUPPORTED;
  for (std::size_t n = 0; n < 5; ++n) {
    bool const same = n < 2
                          ? in.extents[n] == out.extents[n]
                          : out.extents[n] == (in.extents[n] + 2 * padding[n - 2] - window[n - 2]) / stride[n - 2] + 1;
    if (!same) return CUDNN_STATUS_BAD_PARAM;
  }
  bool const max = mode == CUDNN_POOLING_MAX || mode == CUDNN_POOLING_MAX_DETERMINISTIC;
  auto const each = [](std::array<int, 3> const& extents, auto f) {
    for (int d = 0; d < extents[0]; ++d)
      for (int h = 0; h < extents[1]; ++h)
        for (int w = 0; w < extents[2]; ++w) f(std::array{d, h, w});
  };
  for (int n = 0; n < out.extents[0]; ++n) {
    for (int plane = 0; plane < out.extents[1]; ++plane) {
      each({out.extents[2], out.extents[3], out.extents[4]}, [&](std::array<int, 3> const& o) {
        double value = 0;
        int count = 0;
        each(window, [&](std::array<int, 3> const& tap) {
          std::array<int, 5> at{n, plane};
          bool inside = true;
          for (std::size_t axis = 0; axis < 3; ++axis) {
            at[2 + axis] = o[axis] * stride[axis] + tap[axis] - padding[axis];
            inside = inside && at[2 + axis] >= 0 && at[2 + axis] < in.extents[2 + axis];
          }
          if (!inside) return;
          auto const v = static_cast<double>(static_cast<float const*>(x)[in.offset(at)]);
          value = !max ? value + v : count == 0 || v > value || v != v ? v : value;
          ++count;
        });
        if (mode == CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING) value /= window[0] * window[1] * window[2];
        if (mode == CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING) value /= count;
        static_cast<float*>(y)[out.offset({n, plane, o[0], o[1], o[2]})] = static_cast<float>(value);
      });
    }
  }
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace coldpress::cuda
