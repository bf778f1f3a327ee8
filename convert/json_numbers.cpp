// Reads nested lists into one array, whose extents must be the expected ones.
#include "json_numbers.hpp"

#include <cmath>
#include <limits>
#include <utility>

namespace coldpress::convert::keras {
namespace {

using json::Json, json::Node;

/// Reads numbers in lists in lists.
class Numbers {
 public:
  Numbers(Node const& node, std::vector<Index> shape) : node_(node), array_{std::move(shape), {}} {}
  Array read() {
    append(node_.json(), 0);
    return std::move(array_);
  }

 private:
  void append(Json const& value, std::size_t axis) {
    if (axis == array_.shape.size()) {
      double const number = value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
      if (!(std::abs(number) <= static_cast<double>(std::numeric_limits<float>::max())))
        here(value).expected("a number within the range of a float");
      array_.values.push_back(static_cast<float>(number));
      return;
    }
    auto const extent = static_cast<std::size_t>(array_.shape[axis]);
    if (!value.is_array() || value.size() != extent)
      here(value).expected("a list of " + json::grouped(array_.shape[axis]));
    for (std::size_t i = 0; i < extent; ++i) {
      place_.push_back(i);
      append(value[i], axis + 1);
      place_.pop_back();
    }
  }
  Node here(Json const& value) const {
    std::string path = node_.path();
    for (std::size_t const i : place_) path += "[" + std::to_string(i) + "]";
    return {value, path};
  }

  Node const& node_;
  Array array_;
  std::vector<std::size_t> place_;
};

}  // namespace

Array numbers(Node const& node, std::vector<Index> shape) { return Numbers{node, std::move(shape)}.read(); }

}  // namespace coldpress::convert::keras
