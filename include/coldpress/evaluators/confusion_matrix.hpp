// Counts how often a classifier predicts each class for samples of each class, like Juice's ConfusionMatrix.
#pragma once

#include <coldpress/core/finite.hpp>
#include <coldpress/core/layer.hpp>
#include <coldpress/evaluators/window.hpp>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace coldpress {

inline constexpr Index no_class = -1;

/// The class with the highest score, the first of equal ones; no_class if a score is NaN.
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
    /// The fraction of correct predictions; NaN without samples.
    double value() const { return static_cast<double>(correct) / static_cast<double>(samples); }
  };

  /// Throws ShapeError if num_classes is less than 1.
  explicit ConfusionMatrix(Index num_classes) : classes_(num_classes) {
    if (num_classes < 1) refuse("confusion_matrix: num_classes must be at least 1, is ", num_classes);
  }
  /// Only the last `capacity` samples count, or all of them if it is not set.
  void set_capacity(std::optional<Index> capacity) { window_.set_capacity(capacity); }

  /// The classes of a network's outputs {batch, num_classes}. Throws ShapeError if the outputs are not whole samples.
  [[nodiscard]] std::vector<Index> get_predictions(std::span<float const> outputs) const {
    auto const width = static_cast<std::size_t>(classes_);
    if (outputs.size() % width != 0)
      refuse("confusion_matrix: got ", outputs.size(), " outputs, expected a multiple of ", classes_, ", the classes");
    std::vector<Index> predictions;
    for (std::size_t i = 0; i < outputs.size(); i += width) predictions.push_back(class_of(outputs.subspan(i, width)));
    return predictions;
  }
  /// Targets are whole numbers of any type in any contiguous range, such as the floats of a Dataset. Throws ShapeError
  /// unless there are as many predictions as targets, and DataError for a number that is not a class; then no sample is
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
  /// The number of samples of class `actual` for which `predicted` was predicted.
  Index count(Index actual, Index predicted) const {
    return std::count_if(samples().begin(), samples().end(),
                         [&](Sample s) { return s.actual == actual && s.predicted == predicted; });
  }
  [[nodiscard]] Accuracy accuracy() const {
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

/// An accuracy as text, for example "9/10 = 90.00%", or "no samples".
inline std::string to_string(ConfusionMatrix::Accuracy const& accuracy) {
  if (accuracy.samples == 0) return "no samples";
  char percent[32];
  std::snprintf(percent, sizeof percent, "%.2f%%", 100 * accuracy.value());
  return std::to_string(accuracy.correct) + "/" + std::to_string(accuracy.samples) + " = " + percent;
}

}  // namespace coldpress
