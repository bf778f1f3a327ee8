// Puts the page together: tiles, facts, curves, plan, layers and samples, with data measured on the way.
#include <coldpress/train/html_report.hpp>

#include "numbers.hpp"
#include "picture.hpp"
#include "report.hpp"

#include <coldpress/core/counted.hpp>
#include <coldpress/data/atomic_file.hpp>
#include <coldpress/evaluators/confusion_matrix.hpp>

#include <algorithm>
#include <cmath>

namespace coldpress::train {
namespace {

using detail::fixed, detail::grouped, detail::rounded, detail::shown;

std::string duration(double seconds) {
  auto const whole = static_cast<Index>(seconds);
  if (whole < 60) return fixed(seconds, 1) + "\u2009s";
  std::string const minutes = std::to_string(whole / 60 % 60), rest = std::to_string(whole % 60);
  auto const padded = [](std::string const& digits) { return (digits.size() < 2 ? "0" : "") + digits; };
  return whole < 3600 ? minutes + ":" + padded(rest) + "\u2009min"
                      : std::to_string(whole / 3600) + ":" + padded(minutes) + "\u2009h";
}

detail::Judgement judged(Trainer& trainer, data::Source const& source, Index most) {
  AnySolver& solver = trainer.solver();
  auto const seen = data::transformed(source, trainer.options().transforms);  // as the network sees them
  detail::Judgement result{.shape = seen->sample_shape(),
                           .labels = trainer.has_classes(seen->target_shape()),
                           .classes = source.description().classes,
                           .class_count = solver.output_shape().size()};
  auto const inputs = static_cast<std::size_t>(seen->sample_shape().size());
  auto const targets = static_cast<std::size_t>(seen->target_shape().size());
  auto const outputs = static_cast<std::size_t>(solver.output_shape().size());
  auto const before = [](detail::Judged const& a, detail::Judged const& b) { return a.loss > b.loss; };
  trainer.evaluate(source, [&](data::Batches::Batch const& batch, Values all) {
    std::vector<float> const kept(all.begin(), all.end());  // computing a loss may overwrite them
    for (std::size_t n = 0; n < static_cast<std::size_t>(batch.size); ++n) {
      Values const output = Values{kept}.subspan(n * outputs, outputs);
      Values const target = batch.targets.subspan(n * targets, targets);
      detail::Judged sample{.number = batch.position.offset + static_cast<Index>(n)};
      if (result.labels) {
        sample.actual = targets == 1 ? static_cast<Index>(target[0]) : class_of(target),
        sample.predicted = class_of(output);
        if (targets == 1 && !is_label(target[0], result.class_count)) continue;  // the loss ignores it
        result.pairs.emplace_back(sample.actual, sample.predicted);
      }
      auto const loss = most > 0 ? solver.loss(output, target) : std::nullopt;
      if (!loss) continue;
      sample.loss = std::isnan(*loss) ? std::numeric_limits<double>::infinity() : *loss;
      auto& worst = result.worst;
      if (static_cast<Index>(worst.size()) == most && !before(sample, worst.back())) continue;
      Values const values = batch.samples.subspan(n * inputs, inputs);
      sample.values.assign(values.begin(), values.end());
      worst.insert(std::ranges::upper_bound(worst, sample, before), std::move(sample));
      if (static_cast<Index>(worst.size()) > most) worst.pop_back();
    }
  });
  return result;
}

std::string tile(std::string const& value, std::string const& what) {
  return "<div class=\"card tile\"><b>" + value + "</b><span>" + what + "</span></div>\n";
}

/// The name of a statistic, which may break after each slash.
std::string breakable(std::string const& name) {
  std::string text = shown(name);
  for (auto at = text.find('/'); at != std::string::npos; at = text.find('/', at + 7)) text.insert(at + 1, "<wbr/>");
  return text;
}

/// The most important numbers, as tiles.
std::string tiles(Trainer const& trainer, Description const& description) {
  std::string out = "<div class=\"tiles\">\n";
  for (Series const& series : trainer.statistics().all()) {
    // The mean over an epoch says more than the last minibatches.
    bool const replaced = series.name == "training/loss" && trainer.statistics().find("training/loss_epoch");
    bool const loss = !replaced && (series.name.ends_with("/loss") || series.name.ends_with("/esr") ||
                                    series.name == "training/loss_epoch");
    bool const accuracy = series.name.ends_with("accuracy");
    if ((!loss && !accuracy) || series.values.empty()) continue;
    auto const [low, high] = std::ranges::minmax(series.values);
    std::string best;
    if (series.values.size() > 1 && !series.name.starts_with("training"))
      best = "<br/>best " + (loss ? rounded(low) : fixed(100 * high, 2) + "\u2009%");
    double const value = series.values.back();
    out += tile(loss ? rounded(value) : fixed(100 * value, 2) + "\u2009%", breakable(series.name) + best);
  }
  Index parameters = 0;
  for (LayerRow const& row : description.rows) parameters += row.parameters;
  return out + tile(grouped(parameters), "parameters") +
         tile(grouped(static_cast<Index>(trainer.iteration())), "steps") +
         tile(duration(trainer.seconds()), "spent in steps") + "</div>\n";
}

std::string facts(Trainer const& trainer) {
  TrainerOptions const& options = trainer.options();
  std::string out = "<dl>";
  auto const add = [&](char const* what, std::string const& value) {
    out.append("<dt>").append(what).append("</dt><dd>").append(value).append("</dd>\n");
  };
  add("epochs", rounded(trainer.epochs_done(), 6) + " of " + std::to_string(options.epochs));
  if (!trainer.stopped().empty()) add("stopped early", shown(trainer.stopped()));
  add("samples in a minibatch", std::to_string(options.batch));
  if (trainer.solver().accumulate() > 1) add("minibatches in an update", std::to_string(trainer.solver().accumulate()));
  add("seed of the order", std::to_string(options.seed));
  add("learning rate", rounded(static_cast<double>(trainer.solver().learning_rate()), 6));
  double const seconds = trainer.seconds();
  if (seconds > 0) add("waited for data", fixed(100 * trainer.seconds_waited() / seconds, 1) + "\u2009% of the time");
  return out + "</dl>\n";
}

std::string shown_lines(std::string const& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t const end = std::min(text.find('\n', at), text.size());
    out += shown(text.substr(at, end - at)) + "\n";
    at = end + 1;
  }
  return out;
}

/// Charts as a picture, in which no script can run.
std::string picture(std::vector<data::Chart> const& charts, std::string const& title) {
  return "<img class=\"charts\" alt=\"" + title + "\" src=\"data:image/svg+xml;base64," +
         detail::base64(data::svg(charts)) + "\"/>\n";
}

std::string section(std::string const& title, std::string const& content) {
  return "<h2>" + title + "</h2>\n<section class=\"card\">\n" + content + "</section>\n";
}

}  // namespace

HtmlReport::HtmlReport(std::string path, HtmlReportOptions options)
    : path_(std::move(path)), options_(std::move(options)) {
  if (path_.empty()) throw ConfigError{"a report needs a path"};
  if (options_.worst < 0) throw ConfigError{"a report cannot show " + std::to_string(options_.worst) + " samples"};
}

void HtmlReport::begin(Trainer& trainer) {
  check_writable(path_);
  if (!before_.empty() && trainer.iteration() >= iteration_) return;
  trainer.solver().read_weights(before_);
  iteration_ = trainer.iteration();
  norms_.clear();
}

void HtmlReport::measure(AnySolver const& solver) {
  if (solver.iteration() == iteration_) return;  // the end comes in the same step as the last call
  solver.read_weights(weights_);
  norms_.assign(weights_.size(), {});
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    for (std::size_t k = 0; k < weights_[i].size(); ++k) {
      auto const weight = static_cast<double>(weights_[i][k]), change = weight - static_cast<double>(before_[i][k]);
      norms_[i].weight += weight * weight, norms_[i].change += change * change;
    }
  }
  before_.swap(weights_);
  steps_ = solver.iteration() - iteration_;
  iteration_ = solver.iteration();
}

void HtmlReport::operator()(Trainer& trainer) {
  measure(trainer.solver());
  Description const description = trainer.solver().description();
  if (options_.layer_times && times_.empty() && trainer.solver().on_host())
    times_ = group_times(description, trainer.solver().model().config, trainer.options().batch);

  // The weights are in the order of the layers, each as many values as its row says.
  std::vector<std::optional<detail::LayerNorms>> norms(description.rows.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < description.rows.size(); ++i) {
    detail::LayerNorms sums{};
    auto left = static_cast<std::size_t>(description.rows[i].parameters);
    bool const any = left > 0 && !norms_.empty();
    for (; left > 0 && next < norms_.size() && before_[next].size() <= left; ++next) {
      left -= before_[next].size();
      sums.weights += norms_[next].weight, sums.change += norms_[next].change;
    }
    if (any && left == 0) norms[i] = {std::sqrt(sums.weights), std::sqrt(sums.change)};
  }

  std::string const title = shown(options_.title);
  std::string page =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src "
      "'unsafe-inline'; script-src 'unsafe-inline'\"/>\n<title>" +
      title + "</title>\n<style>" + detail::report_style + "</style>\n</head>\n<body>\n<main>\n<h1>" + title +
      "</h1>\n<p class=\"lead\">" + (trainer.ended() ? "After " : "In training, after ") +
      rounded(trainer.epochs_done(), 4) + " of " + counted(trainer.options().epochs, "epoch") + "</p>\n";
  page += tiles(trainer, description);
  page +=
      "<h2>Curves</h2>\n<div class=\"charts\" id=\"charts\"></div>\n<noscript><p class=\"note\">The curves need "
      "JavaScript.</p></noscript>\n";
  for (auto const& [name, charts] : options_.charts) {
    auto const drawn = charts();
    if (!drawn.empty()) page += section(shown(name), picture(drawn, shown(name)));
  }
  if (options_.validation) {
    detail::Judgement const judgement = judged(trainer, *options_.validation, options_.worst);
    if (judgement.labels) page += section("Which classes are confused", detail::confusion(judgement));
    if (!judgement.worst.empty()) page += section("Samples with the highest loss", detail::worst_samples(judgement));
  }
  page += section(
      "Layers", detail::layer_table(
                    description,
                    {.norms = std::move(norms), .steps = steps_, .times = times_, .samples = trainer.options().batch}));
  page += section("Plan for inference", detail::plan_drawing(description));
  page += section("Run", facts(trainer));
  if (!options_.configuration.empty())
    page += section("Configuration", "<pre>" + shown_lines(options_.configuration) + "</pre>\n");
  page += "<footer>Written by coldpress.</footer>\n</main>\n<script type=\"application/json\" id=\"curves\">" +
          detail::curves_json(trainer.statistics().all()) + "</script>\n<script>" + detail::report_script +
          "</script>\n</body>\n</html>\n";
  write_atomically(path_, std::as_bytes(std::span{page}));
}

}  // namespace coldpress::train
