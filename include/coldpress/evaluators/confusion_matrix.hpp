// How often a classifier takes which class for which; Juice's ConfusionMatrix.
#pragma once

#include <coldpress/core/finite.hpp>
#include <coldpress/core/layer.hpp>
#include <coldpress/evaluators/window.hpp>

#include <algorithm>
#include <cstdio>
#include <span>
#include <vector>

namespace coldpress {

inline constexpr Index no_class = -1;

/// The class that scores say: the highest, of equal ones the first; no_class where there is a NaN.
inline Index class_of(std::span<float const> scores) {
  if (std::any_of(scores.begin(), scores.end(), [](float score) { return score != score; })) return no_class;
  return std::max_element(scores.begin(), scores.end()) - scores.begin();
}

class ConfusionMatrix {
 public:
  struct Sample {
    Index predicted, actual;  // predicted may be no_class
    bool correct() const { return predicted == actual; }
  };
  struct Accuracy {
    Index correct, samples;
    /// The part that is right; NaN of no samples.
    double value() const { return static_cast<double>(correct) / static_cast<double>(samples); }
  };

  /// Throws ShapeError where there is no class.
  explicit ConfusionMatrix(Index num_classes) : classes_(num_classes) {
    if (num_classes < 1) refuse("confusion_matrix: num_classes must be at least 1, is ", num_classes);
  }
  /// The last so many samples count; all where it is not set.
  void set_capacity(std::optional<Index> capacity) { window_.set_capacity(capacity); }

  /// The classes of a network's outputs, {batch, num_classes}. Throws ShapeError for a part of a sample.
  std::vector<Index> get_predictions(std::span<float const> outputs) const {
    auto const width = static_cast<std::size_t>(classes_);
    if (outputs.size() % width != 0)
      refuse("confusion_matrix: got ", outputs.size(), " outputs, expected a multiple of ", classes_, ", the classes");
    std::vector<Index> predictions;
    for (std::size_t i = 0; i < outputs.size(); i += width) predictions.push_back(class_of(outputs.subspan(i, width)));
    return predictions;
  }
  /// Targets are whole numbers of any type, in any contiguous range: those of a Dataset, and of a solver, are floats.
  /// Throws ShapeError where there are not as many of both, and DataError for a number that is no class; then none is
  /// added.
  template <class Targets>
  void add_samples(std::span<Index const> predictions, Targets const& targets) {
    std::span const actual{targets};
    if (predictions.size() != actual.size())
      refuse("confusion_matrix: got ", actual.size(), " targets for ", predictions.size(), " predictions");
    for (std::size_t i = 0; i < actual.size(); ++i) {
      check(is_label(actual[i], classes_), "target", i, actual[i]);
      check(predictions[i] == no_class || is_label(predictions[i], classes_), "prediction", i, predictions[i]);
    }
    for (std::size_t i = 0; i < actual.size(); ++i) window_.add({predictions[i], static_cast<Index>(actual[i])});
  }

  std::deque<Sample> const& samples() const { return window_.samples(); }
  /// Samples of class `actual` that were taken for `predicted`.
  Index count(Index actual, Index predicted) const {
    return std::count_if(samples().begin(), samples().end(),
                         [&](Sample s) { return s.actual == actual && s.predicted == predicted; });
  }
  Accuracy accuracy() const {
    auto const right = std::count_if(samples().begin(), samples().end(), [](Sample s) { return s.correct(); });
    return {right, static_cast<Index>(samples().size())};
  }

 private:
  template <class Number>
  void check(bool is_class, char const* what, std::size_t i, Number number) const {
    if (!is_class)
      throw DataError{sentence_of("confusion_matrix: ", what, " ", i, " is ",
                                  detail::number_text(static_cast<double>(number)),
                                  "; expected a whole number from 0 to ", classes_ - 1, " (counted from 0)")};
  }
  Index classes_;
  Window<Sample> window_;
};

/// "9/10 = 90.00%"
inline std::string to_string(ConfusionMatrix::Accuracy const& accuracy) {
  char percent[32];
  std::snprintf(percent, sizeof percent, "%.2f%%", 100 * accuracy.value());
  return std::to_string(accuracy.correct) + "/" + std::to_string(accuracy.samples) + " = " + percent;
}

}  // namespace coldpress
