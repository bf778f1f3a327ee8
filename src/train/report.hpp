// The parts of an HTML report. Each is balanced HTML, in which all text that comes from data is escaped.
#pragma once

#include <coldpress/train/layer_times.hpp>
#include <coldpress/train/statistics.hpp>
#include <coldpress/typed/describe.hpp>

#include <string>
#include <vector>

namespace coldpress::train::detail {

/// The style sheet, and the script that draws the curves.
extern char const* const report_style;
extern char const* const report_script;

/// Text from data, made visible and escaped.
std::string shown(std::string_view text);
/// 1234567 as "1 234 567", with thin spaces.
std::string grouped(Index number);

/// The curves as JSON, for an element <script>.
std::string curves_json(std::vector<Series> const& all);

struct LayerNorms {
  double weights, change;
};
struct LayerFacts {
  std::vector<std::optional<LayerNorms>> norms = {};  // one per row, or none
  std::uint64_t steps = 0;                            // that made the last change of the weights
  std::vector<std::optional<GroupTime>> times = {};   // one per group; if there are none, no times are shown
  Index samples = 0;                                  // in the minibatch that was timed
};
std::string layer_table(Description const& description, LayerFacts const& facts);
/// The layers from top to bottom, and beside them where in memory each value is and how long it stays.
std::string plan_drawing(Description const& description);

/// A sample and what the network makes of it.
struct Judged {
  Index number = 0;  // in its data set
  double loss = 0;
  Index actual = 0, predicted = 0;  // classes
  std::vector<float> values = {};
};
/// What a network does with a data set.
struct Judgement {
  Shape shape = {};
  bool labels = false;
  std::vector<std::string> classes = {};  // the names, if there are any
  Index class_count = 0;
  std::vector<std::pair<Index, Index>> pairs = {};  // actual and predicted class of each sample
  std::vector<Judged> worst = {};                   // the highest loss first
  std::string name_of(Index label) const;
};
/// Up to 40 classes as a table; and the pairs that are confused most often.
std::string confusion(Judgement const& judgement);
std::string worst_samples(Judgement const& judgement);

}  // namespace coldpress::train::detail
