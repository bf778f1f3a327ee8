// The mean image that Caffe and Mocha subtract from samples, as they store it.
#pragma once

#include <coldpress/core/error.hpp>
#include <coldpress/core/finite.hpp>
#include <coldpress/data/npy.hpp>

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace coldpress::convert {

/// The mean of shape {channels, height, width}, or {1, channels, height, width} as for a batch, whose values `read`
/// writes. Throws FormatError for another shape or more than 2^28 values, and DataError for a value that is not finite.
inline data::NpyArray mean_of(std::string const& name, std::vector<Index> shape,
                              std::function<void(std::span<float>)> const& read) {
  std::string const shown = "'" + name + "' ";
  if (shape.size() == 4 && shape[0] == 1) shape.erase(shape.begin());
  if (shape.empty() || shape.size() > 3)
    throw FormatError{shown + "has " + std::to_string(shape.size()) +
                      " extents, expected channels, height and width of one image"};
  constexpr Index most = Index{1} << 28;
  Index size = 1;
  for (Index const extent : shape) {
    if (extent > most / size) throw FormatError{shown + "has more than 2^28 values"};
    size *= extent;
  }
  data::NpyArray mean{std::move(shape), std::vector<float>(static_cast<std::size_t>(size))};
  read(mean.values);
  if (Index const bad = first_not_finite<float>(mean.values); bad >= 0) {
    throw DataError{shown + "has value " + std::to_string(bad) +
                    " that is infinite, NaN or beyond the range of a float"};
  }
  return mean;
}

}  // namespace coldpress::convert
