// Minibatches as xtensor arrays and expressions, and outputs as xtensor views. It needs xtensor.
#pragma once

#include <coldpress/backend/xtensor_headers.hpp>
#include <coldpress/typed/network.hpp>

#include <vector>

namespace coldpress {

/// Accepts any xtensor expression as a minibatch {batch, sample shape}, in row-major order. Values that already are in
/// memory in that order are used in place (arrays, adaptors, views of whole samples). Anything else is evaluated first,
/// and its values are converted.
template <class X, class T>
requires xt::is_xexpression<X>::value class SamplesOf<X, T> {
  std::vector<T> evaluated_;

 public:
  explicit SamplesOf(X const& x) {
    if constexpr (xt::has_data_interface<X>::value && std::is_same_v<typename X::value_type, T>) {
      if (is_row_major(x)) {
        values = {x.data() + x.data_offset(), x.size()};
        return;
      }
    }
    evaluated_.reserve(x.size());
    for (auto value = x.template begin<xt::layout_type::row_major>();
         value != x.template end<xt::layout_type::row_major>(); ++value) {
      evaluated_.push_back(static_cast<T>(*value));
    }
    values = evaluated_;
  }
  SamplesOf(SamplesOf&&) = default;  // the evaluated values keep their address
  SamplesOf(SamplesOf const&) = delete;
  SamplesOf& operator=(SamplesOf const&) = delete;

  std::span<T const> values;
  /// Whether the values outlive this object.
  bool borrowed() const { return evaluated_.empty(); }

 private:
  static bool is_row_major(X const& x) {
    std::ptrdiff_t expected = 1;
    for (std::size_t axis = x.dimension(); axis-- > 0;) {
      auto const extent = static_cast<std::ptrdiff_t>(x.shape()[axis]);
      if (extent != 1 && x.strides()[axis] != expected) return false;
      expected *= extent;
    }
    return true;
  }
};

/// Samples as an xtensor view of shape {batch, sample shape}: as_xtensor<Net::output_shape>(net.forward(x)). The view
/// is valid as long as the samples are.
template <Shape shape, class T>
auto as_xtensor(Samples<T> samples) {
  require(static_cast<Index>(samples.size()) == samples.batch * shape.size(),
          "as_xtensor: the shape must have as many values as a sample");
  std::array<std::size_t, static_cast<std::size_t>(shape.rank()) + 1> extents{static_cast<std::size_t>(samples.batch)};
  for (int axis = 0; axis < shape.rank(); ++axis)
    extents[static_cast<std::size_t>(axis) + 1] = static_cast<std::size_t>(shape[axis]);
  return xt::adapt(samples.data(), samples.size(), xt::no_ownership(), extents);
}

/// The same for a shape that is known only at run time. The rank must be a constant: as_xtensor<3>(samples, shape).
template <int rank, class T>
auto as_xtensor(Samples<T> samples, Shape const& shape) {
  require(shape.rank() == rank, "as_xtensor: the shape must have the rank that was asked for");
  require(static_cast<Index>(samples.size()) == samples.batch * shape.size(),
          "as_xtensor: the shape must have as many values as a sample");
  std::array<std::size_t, rank + 1> extents{static_cast<std::size_t>(samples.batch)};
  for (int axis = 0; axis < rank; ++axis)
    extents[static_cast<std::size_t>(axis) + 1] = static_cast<std::size_t>(shape[axis]);
  return xt::adapt(samples.data(), samples.size(), xt::no_ownership(), extents);
}

}  // namespace coldpress
