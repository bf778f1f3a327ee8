// coldpress data: explains how data is named, and shows what is in it.

#include "commands.hpp"
#include "input_arrays.hpp"
#include "options.hpp"
#include "picture.hpp"
#include "print.hpp"
#include "writable.hpp"

#include <coldpress/core/counted.hpp>
#include <coldpress/core/layer.hpp>
#include <coldpress/core/to_string.hpp>
#include <coldpress/data/batches.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>

namespace coldpress::command {
namespace {

/// How a user names data, in as many lines as there are formats and options.
std::string grammar() {
  std::string text =
      "Data is named FORMAT:FILES or FORMAT:FILES?OPTION=VALUE&OPTION=VALUE. Options begin at the last question mark; "
      "if the name of a file has one and there are no options, end the data with another. Where commas separate files, "
      "names or columns, one that has a comma (or &, or ?) itself is written in double quotes, in which a quote is "
      "doubled: ?ignore=\"price, net\",id\n";
  for (data::SpecHelp const& format : data::spec_help()) {
    text += "\n  " + format.spec + "\n      " + format.meaning + "\n";
    for (auto const& [option, meaning] : format.options) text += "      ?" + option + "=  " + meaning + "\n";
  }
  return text;
}

/// The range of values that are given in portions, and how many of them are not finite.
class Range {
 public:
  /// `first` is the number of the first sample, of which each has `size` values.
  void add(std::span<float const> values, Index first, Index size) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!std::isfinite(values[i])) {
        if (others_++ == 0) first_other_ = first + static_cast<Index>(i) / size;
        continue;
      }
      least_ = std::min(least_, values[i]), greatest_ = std::max(greatest_, values[i]);
      sum_ += static_cast<double>(values[i]), ++count_;
    }
  }
  std::string text() const {
    std::string text = count_ == 0 ? "no finite value"
                                   : "from " + to_string(least_) + " to " + to_string(greatest_) + ", mean " +
                                         to_string(static_cast<float>(sum_ / static_cast<double>(count_)));
    if (others_ > 0)
      text += "; " + counted(others_, "value") + (others_ == 1 ? " is" : " are") +
              " NaN or infinite, first in sample " + std::to_string(first_other_) + ", so it cannot be trained on";
    return text;
  }

 private:
  float least_ = std::numeric_limits<float>::infinity(), greatest_ = -least_;
  double sum_ = 0;
  Index count_ = 0, others_ = 0, first_other_ = 0;
};

/// The values in a form that can be drawn.
std::vector<float> drawable(std::span<float const> values) {
  std::vector<float> all{values.begin(), values.end()};
  std::ranges::replace_if(
      all, [](float value) { return !std::isfinite(value); }, 0.0f);
  return all;
}

/// How often each label occurs; empty if there are too many different ones, or a target is no label.
class Labels {
 public:
  void add(std::span<float const> targets) {
    for (float const target : targets) {
      if (!are_labels_) return;
      are_labels_ = is_label(target, data::most_classes);
      if (are_labels_) ++counts_[static_cast<Index>(target)];
      are_labels_ = are_labels_ && counts_.size() <= most;
    }
  }
  std::string text(std::vector<std::string> const& names) const {
    std::string text;
    if (!are_labels_) return text;
    for (auto const& [label, count] : counts_) {
      auto const number = static_cast<std::size_t>(label);
      text +=
          "  " + (number < names.size() ? names[number] : std::to_string(label)) + ": " + std::to_string(count) + "\n";
    }
    return text;
  }

 private:
  static constexpr std::size_t most = 100;
  bool are_labels_ = true;
  std::map<Index, Index> counts_;
};

std::string values(std::span<float const> all) {
  constexpr std::size_t shown = 8;
  std::string text;
  for (float const value : all.first(std::min(shown, all.size()))) text += " " + to_string(value);
  return text + (all.size() > shown ? " ..." : "");
}

struct Inspection {
  std::string spec, picture;  // the file of the picture is empty if it is not wanted
  Index first = 3;
  data::ReadOptions reading;
};

void inspect(Inspection const& options) {
  std::string const& spec = options.spec;
  if (!options.picture.empty()) {
    Files files;
    files.reads_data("SPEC", spec);
    files.writes("--picture", options.picture);
    files.check_writable();
  }
  data::ReadOptions reading = options.reading;
  reading.finite = false;  // they are counted
  auto const source = data::open_source(spec, reading);
  Shape const &sample = source->sample_shape(), &target = source->target_shape();
  Index const first = std::min(options.first, source->size());
  std::optional<ContactSheet> sheet;
  if (!options.picture.empty()) sheet.emplace(sample, std::max<Index>(first, 1));
  Range samples, targets;
  Labels labels;
  std::string beginning;
  data::Batches batches{data::in_order(*source), 256};
  for (auto const& batch : batches.epoch()) {
    samples.add(batch.samples, batch.position.offset, sample.size());
    targets.add(batch.targets, batch.position.offset, target.size());
    if (target.size() == 1) labels.add(batch.targets);
    for (Index i = 0; i < batch.size && batch.position.offset + i < first; ++i) {
      auto const row = [i](std::span<float const> rows, Shape const& shape) {
        return rows.subspan(static_cast<std::size_t>(i * shape.size()), static_cast<std::size_t>(shape.size()));
      };
      beginning += "  " + std::to_string(batch.position.offset + i) + ":" + values(row(batch.samples, sample)) +
                   (target.size() > 0 ? "  target" + values(row(batch.targets, target)) : "") + "\n";
      if (is_picture(sample)) beginning += text_picture(sample, drawable(row(batch.samples, sample)), "    ");
      if (sheet) sheet->add(drawable(row(batch.samples, sample)));
    }
  }
  show(spec + ": " + counted(source->size(), "sample"));
  show("samples of " + shape_text(*source) + ", " + samples.text());
  if (target.size() > 0) show("targets of " + to_string(target) + ", " + targets.text());
  show_skipped(*source);
  if (std::string const classes = labels.text(source->description().classes); target.size() == 1 && !classes.empty())
    show("classes, with the number of samples:\n" + classes);
  if (!beginning.empty()) show("the first samples:\n" + beginning);
  if (sheet) sheet->write(options.picture);
}

}  // namespace

void add_data(CLI::App& app) {
  auto* const command = app.add_subcommand("data", "Explains how data is named (coldpress data --help), and shows it");
  command->footer(grammar);
  command->require_subcommand(1);
  auto* const inspected = command->add_subcommand(
      "inspect", "Reads all of the data and shows shapes, counts, ranges, classes and the first samples");
  auto const options = std::make_shared<Inspection>();
  inspected->add_option("SPEC", options->spec, "The data")->type_name("")->required();
  inspected->add_option("--first", options->first, "Samples to show")
      ->type_name(number)
      ->check(CLI::Range(Index{0}, most).description(""))
      ->capture_default_str();
  inspected->add_option("--picture", options->picture, "Also writes these samples, which are pictures, as a PNG file")
      ->type_name(file);
  add_reading(*inspected, options->reading);
  inspected->callback([options] { inspect(*options); });
}

}  // namespace coldpress::command
