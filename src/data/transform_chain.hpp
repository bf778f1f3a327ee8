// A list of transforms, made ready for samples of one shape.
#pragma once

#include <coldpress/data/transform.hpp>

#include <algorithm>
#include <optional>
#include <span>

namespace coldpress::data {

/// Runs `action`, whose errors are about the transform with this number.
template <class Action>
decltype(auto) in_transform(std::size_t place, Transform const& transform, Action&& action) {
  return with_context(action, [&](Error& error) {
    std::visit(
        [&](auto const& one) { error.in_field("transforms[" + std::to_string(place) + "] " + std::string{one.name}); },
        transform);
  });
}

/// A sample and its target while they are transformed. Either is empty where it is not wanted.
struct Row {
  std::vector<float> sample, target;
  std::vector<float> spare;  // memory for what replaces one of them
};

/// Throws UnsupportedError for a transform of samples if these are made of several arrays.
void check_arrays(Transforms const& transforms, Source const& source);

class TransformChain {
 public:
  /// Throws ConfigError and ShapeError, which name the transform, if one of them does not fit. A part at the beginning
  /// of the list may be given, too.
  TransformChain(Transforms transforms, Shape sample, Shape target);

  Shape const& sample_shape() const { return stages_.back().sample; }  // of what comes out
  Shape const& target_shape() const { return stages_.back().target; }
  bool empty() const { return transforms_.empty(); }
  bool mixes() const;
  /// Makes room for all that a row will hold.
  void reserve(Row& row) const;

  /// What evaluation sees of the sample with this number.
  void evaluate(Row& row, Index number) const;
  /// What training sees of samples at successive positions. If some are mixed, `others` has memory for as many.
  void train(std::span<Row> rows, std::uint64_t seed, SampleStream::Position first, std::span<Row> others) const;

 private:
  struct Stage {
    Shape sample, target;  // before the transform with the same number; the last stage is behind all of them
  };
  void apply(std::size_t place, Row& row, Index number, std::optional<RandomStream> draws) const;

  Transforms transforms_;
  std::vector<Stage> stages_;
};

}  // namespace coldpress::data
