// The same values in another shape.
#include "onnx_constants.hpp"

#include <algorithm>
#include <array>

namespace coldpress::convert::onnx {
namespace {

/// The axes of a value with its values in another shape, for a number of samples that is written as a number there.
class Reshaped {
 public:
  Reshaped(std::vector<Axis> const& from, std::vector<Int> to, Index samples)
      : from_(from), to_(std::move(to)), samples_(samples) {
    if (to_.size() > Shape::max_rank + 1) refuse("it makes a value with more than 9 axes");
    bool after = false;
    for (Axis const& axis : from) {
      before_ *= axis.samples || !after ? axis.before : 1;
      if (axis.samples)
        after = true, after_ = axis.after;
      else if (after)
        after_ *= axis.extent();
    }
    has_samples_ = after;
    if (!after) after_ = 1;
  }
  std::vector<Axis> axes() {
    bool const symbolic = std::ranges::any_of(to_, &Int::samples);
    bool const open = std::ranges::any_of(to_, [](Int extent) { return !extent.samples && extent.factor == -1; });
    if (open) fill_open(!symbolic && has_samples_ && samples_ == 0);
    Index values = 1;
    for (Int const extent : to_) {
      if (extent.factor < 1 || values > max_values / extent.factor) misfit();
      values *= extent.factor;
    }
    bool const counted = std::ranges::any_of(to_, &Int::samples);
    if (values != before_ * after_ * (has_samples_ && !counted ? std::max<Index>(1, samples_) : 1)) misfit();
    std::vector<Axis> all;
    for (Int const extent : to_) all.push_back({extent.factor, 1, extent.samples});
    if (has_samples_) place_samples(all, counted);
    return all;
  }

 private:
  [[noreturn]] void misfit() const {
    std::string text;
    for (Int const extent : to_)
      text +=
          (text.empty() ? "" : ", ") + std::string{extent.samples ? "samples * " : ""} + std::to_string(extent.factor);
    refuse("the values of " + described(from_) + " cannot have the shape [" + text + "]");
  }
  /// Computes the extent that is -1, which counts samples if no other one does.
  void fill_open(bool counts_samples) {
    Index others = 1;
    bool symbolic = false;
    Int* open = nullptr;
    for (Int& extent : to_) {
      if (!extent.samples && extent.factor == -1) {
        if (open) refuse("two extents of the shape are left open");
        open = &extent;
      } else {
        if (extent.factor < 1 || others > max_values / extent.factor) misfit();
        others *= extent.factor;
        symbolic = symbolic || extent.samples;
      }
    }
    Index const values =
        before_ * after_ * (has_samples_ && !symbolic && !counts_samples ? std::max<Index>(1, samples_) : 1);
    if (values % others != 0) misfit();
    *open = {values / others, counts_samples};
  }
  /// Finds the axis that has the samples: the one that is said to, or else the first one before which there are as many
  /// values as before. The last axis is the last choice, because most operators compute along it: [5, samples, 32] as
  /// [5, 32] is [5 * samples, 32].
  void place_samples(std::vector<Axis>& all, bool counted) const {
    Index const samples = counted ? 1 : std::max<Index>(1, samples_);
    auto const take = [&](Axis& axis, Index outer) {
      Index const before = before_ / outer;
      axis = {before, axis.before / samples / before, true};
    };
    for (bool const exactly : {true, false}) {
      Index outer = 1;
      for (Axis& axis : all) {
        bool const possible = before_ % outer == 0 && axis.before % (before_ / outer * samples) == 0;
        bool const joins_last = &axis == &all.back() && outer > 1 && axis.before > samples;
        bool const fits = counted ? axis.samples : !exactly || (outer == before_ && !joins_last);
        if (possible && fits) return take(axis, outer);
        outer *= axis.before;
        if (outer > before_) break;
      }
    }
    misfit();
  }

  std::vector<Axis> const& from_;
  std::vector<Int> to_;
  Index samples_;  // 0: not known
  Index before_ = 1, after_ = 1;
  bool has_samples_ = false;
};

void reshape(Call& call) {
  Value const x = call.value(0);
  auto to = call.ints(1, "shape");
  if (call.integer("allowzero", 0) == 0) {
    for (std::size_t a = 0; a < to.size(); ++a) {
      if (to[a] != Int{}) continue;
      if (a >= x.axes.size()) refuse("its shape copies an axis that the input does not have");
      to[a] = {x.axes[a].extent(), x.axes[a].samples};
    }
  }
  call.set(viewed(call.network, x, Reshaped{x.axes, to, call.network.samples()}.axes()));
}
Tensor fold_reshape(Call const& call) {
  Tensor const& x = call.constant(0, "its input");
  std::vector<Index> shape;
  Index known = 1, open = -1;
  for (Int const extent : call.ints(1, "shape")) {
    if (extent.samples) refuse("it gives a constant a shape with the number of samples");
    Index value = extent.factor;
    if (value == 0 && call.integer("allowzero", 0) == 0) {
      if (shape.size() >= x.shape.size()) refuse("its shape copies an axis that the input does not have");
      value = x.shape[shape.size()];
    }
    if (value < -1 || (value > 0 && known > max_values / value)) refuse("its shape is impossible");
    if (value == -1) open = static_cast<Index>(shape.size());
    if (value != -1) known *= value;
    shape.push_back(value);
  }
  if (open >= 0) shape[static_cast<std::size_t>(open)] = known == 0 ? 0 : x.size() / known;
  if (size_of(shape) != x.size()) refuse("its shape has another number of values");
  return shaped(x, shape);
}

void flatten(Call& call) {
  Value const x = call.value(0);
  Index const given = call.integer("axis", 1);
  int const axis = given == x.rank() ? x.rank() : axis_in(given, x.rank());
  Axis parts[2];
  for (int a = 0; a < x.rank(); ++a) {
    Axis& part = parts[a >= axis];
    (part.samples ? part.after : part.before) *= x.axis(a).samples ? x.axis(a).before : x.extent(a);
    if (x.axis(a).samples) part.samples = true, part.after *= x.axis(a).after;
  }
  call.set(viewed(call.network, x, {parts[0], parts[1]}));
}

}  // namespace

std::span<Operator const> reshape_operators() {
  static constexpr std::array rows{
      Operator{"Reshape", reshape, fold_reshape, "`reshape`; the samples stay together"},
      Operator{"Flatten", flatten, nullptr, "`reshape`"},
  };
  return rows;
}

}  // namespace coldpress::convert::onnx
