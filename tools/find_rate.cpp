// coldpress find-rate: Smith's range test, which finds a learning rate for a run before it begins.

#include "commands.hpp"
#include "run.hpp"

#include <coldpress/data/chart.hpp>
#include <coldpress/data/prefetcher.hpp>
#include <coldpress/train/score.hpp>
#include <coldpress/train/statistics.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace coldpress::command {
namespace {

struct FindRateOptions {
  RunOptions run;
  double from = 1e-7, to = 10;
  Index steps = 100;
  std::string report;
  Computing computing;
  data::ReadOptions reading;
};

/// An update of the test: its rate, the mean loss before it, and the mean of all losses so far, of which each counts
/// less than the next.
struct Point {
  double rate, loss, smooth;
};

/// The points of one test, whose rates grow by a constant factor, and how far they got.
class RangeTest {
 public:
  explicit RangeTest(FindRateOptions const& options) : options_(options) {}
  double next_rate() const {
    double const part = static_cast<double>(points_.size()) / static_cast<double>(options_.steps - 1);
    return options_.from * std::pow(options_.to / options_.from, part);
  }
  bool done() const { return diverges_ || static_cast<Index>(points_.size()) == options_.steps; }
  void add(double loss) {
    constexpr double memory = 0.9;
    sum_ = memory * sum_ + (1 - memory) * loss;
    points_.push_back({next_rate(), loss, sum_ / (1 - std::pow(memory, static_cast<double>(points_.size() + 1)))});
    auto const size = [](Point const& point) { return std::abs(point.smooth); };
    if (points_.back().smooth < points_[lowest_].smooth) lowest_ = points_.size() - 1;
    Point const& best = points_[lowest_];
    if (points_.back().smooth - best.smooth > 3 * std::max(size(best), size(points_[0])))
      diverges_ = points_.back().rate;
  }
  void end() { diverges_ = next_rate(); }

  std::vector<Point> const& points() const { return points_; }
  /// The rate from which the loss explodes.
  std::optional<double> diverges() const { return diverges_; }
  /// Whether the mean of as many losses as a line is fitted to falls below that of the first ones by more than four
  /// standard errors. What is no line in three losses in a row is taken for noise.
  bool falls_clearly() const {
    std::size_t const size = points_.size(), together = std::min(2 * side() + 1, size / 2);
    if (together == 0) return false;
    auto const mean_from = [&](std::size_t begin) {
      double sum = 0;
      for (std::size_t i = begin; i < begin + together; ++i) sum += points_[i].loss;
      return sum / static_cast<double>(together);
    };
    double const first = mean_from(0);
    double least = first;
    std::size_t end = together;
    for (std::size_t begin = together; begin + together <= size; ++begin)
      if (double const mean = mean_from(begin); mean < least) least = mean, end = begin + together;
    double squares = 0;
    for (std::size_t i = 2; i < end; ++i) {
      double const bend = points_[i - 2].loss - 2 * points_[i - 1].loss + points_[i].loss;
      squares += bend * bend / 6;  // whose expectation is the variance of a loss
    }
    double const variance = squares / static_cast<double>(std::max<std::size_t>(end, 3) - 2);
    return first - least > 4 * std::sqrt(2 * variance / static_cast<double>(together));
  }
  /// The rate at which the loss falls fastest as the rate grows by a factor: the middle of the steepest of the lines
  /// that fit the losses of a fifth of the test. None if no such line falls before the smoothed loss is lowest.
  std::optional<double> steepest() const {
    std::size_t const size = points_.size(), side = this->side();
    // The mean of the first few losses says more about them than about their rates.
    std::size_t lowest = std::min<std::size_t>(10, size - 1);
    for (std::size_t i = lowest; i < size; ++i) lowest = points_[i].smooth < points_[lowest].smooth ? i : lowest;
    std::optional<double> found;
    double least = 0;
    for (std::size_t middle = side; middle + side < size && middle <= lowest; ++middle) {
      double slope = 0;  // times a constant
      for (std::size_t away = 1; away <= side; ++away)
        slope += static_cast<double>(away) * (points_[middle + away].loss - points_[middle - away].loss);
      if (slope < least) least = slope, found = points_[middle].rate;
    }
    return found;
  }

 private:
  /// The losses on each side of the middle of a line.
  std::size_t side() const { return std::max<std::size_t>(1, static_cast<std::size_t>(options_.steps) / 10); }

  FindRateOptions const& options_;
  std::vector<Point> points_;
  double sum_ = 0;
  std::size_t lowest_ = 0;
  std::optional<double> diverges_;
};

/// The mean loss of the minibatches of one update. Throws DivergenceError if one is not finite.
double step(dynamic::Solver& solver, train::InputArrays& arrays, data::Prefetcher& batches, double rate) {
  std::visit([&](auto& optimizer) { optimizer.learning_rate = static_cast<float>(rate); }, solver.options().optimizer);
  train::Mean loss;
  do {
    auto const batch = batches.next();
    auto const inputs = arrays.of(batch.samples, batch.targets);
    float const mean =
        solver.config().objective ? solver.train_minibatch(inputs, batch.targets) : solver.train_minibatch(inputs);
    loss.add(static_cast<double>(mean), batch.size);
  } while (solver.progress().waiting > 0);
  return loss.value();
}

/// Prints the test as a table of about twenty lines, and what it tells.
void print(RangeTest const& test, double most) {
  auto const& points = test.points();
  std::printf("%12s %12s %12s\n", "rate", "loss", "smoothed");
  std::size_t const every = std::max<std::size_t>(1, (points.size() + 10) / 20);
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (i % every == 0 || i + 1 == points.size())
      std::printf("%12.3g %12.6g %12.6g\n", points[i].rate, points[i].loss, points[i].smooth);
  }
  auto const diverges = test.diverges(), steepest = test.steepest();
  if (diverges) {
    std::printf("The loss diverges at a rate of %.3g.\n", *diverges);
  } else {
    std::printf("The loss does not diverge up to a rate of %.3g.\n", most);
  }
  if (!steepest) {
    std::printf(
        "The loss does not fall before, so no rate is suggested; more --steps or a larger --batch show more.\n");
    return;
  }
  if (!test.falls_clearly()) {
    std::printf(
        "It falls no further than it varies from update to update, so no rate is suggested; more --steps or a larger "
        "--batch show more.\n");
    return;
  }
  std::printf("It falls fastest at a rate of %.3g.\n", *steepest);
  std::printf("Suggested: baseLr = %.2g\n", diverges ? std::min(*steepest, *diverges / 10) : *steepest);
}

void write_curve(std::string const& file, RangeTest const& test) {
  data::Curve loss{"loss"}, smooth{"smoothed"};
  for (Point const& point : test.points()) {
    for (auto const& [curve, value] : {std::pair{&loss, point.loss}, {&smooth, point.smooth}})
      curve->x.push_back(std::log10(point.rate)), curve->y.push_back(value);
  }
  data::write_svg(file, {{"Loss by learning rate", "power of 10 of the rate", "", {loss, smooth}}});
}

void find_rate(FindRateOptions const& options) {
  if (!(options.from < options.to)) throw CLI::ValidationError("--from", "must be below --to");
  Files files;
  files.reads("--config", options.run.config);
  files.reads("--resume", options.run.resume);
  files.reads("--weights", options.run.weights);
  files.reads_data("--data", options.run.data);
  if (!options.report.empty()) files.writes("--report", options.report);
  files.check_writable();
  persist::Checkpoint run = read_run(options.run, files);
  RunData const data = open_data(run, options.reading);
  dynamic::Solver solver = make_solver(options.run, options.computing, run, *data.prepared);
  train::check_fits(solver.network(), run.loss, *data.prepared, run.data);
  solver.options().lr_policy = policy::Fixed{};
  data::Batches order{data::augmented(data::shuffled(data.training(), run.seed), run.model.transforms, run.seed),
                      run.batch};
  order.seek({run.epoch, static_cast<Index>(run.position)});
  data::Prefetcher batches{std::move(order), 4};
  train::InputArrays arrays{train::network_inputs(solver.network(), train::inputs_for(run.loss.has_value()))};
  RangeTest test{options};
  while (!test.done()) {
    try {
      test.add(step(solver, arrays, batches, test.next_rate()));
    } catch (DivergenceError const&) {
      if (test.points().empty()) throw;
      test.end();
    }
  }
  print(test, options.to);
  if (!options.report.empty()) write_curve(options.report, test);
}

}  // namespace

void add_find_rate(CLI::App& app) {
  auto const options = std::make_shared<FindRateOptions>();
  auto* const command = app.add_subcommand(
      "find-rate",
      "Suggests a learning rate: trains a copy of a run with a growing rate, and writes nothing but the report");
  add_run(*command, options->run);
  auto const positive = [] { return between(std::numeric_limits<float>::min(), std::numeric_limits<float>::max()); };
  command->add_option("--from", options->from, "The first rate")
      ->type_name("RATE")
      ->check(positive())
      ->capture_default_str();
  command->add_option("--to", options->to, "The last rate, unless the loss diverges before")
      ->type_name("RATE")
      ->check(positive())
      ->capture_default_str();
  command->add_option("--steps", options->steps, "The number of updates from the first rate to the last")
      ->type_name(number)
      ->check(CLI::Range(Index{3}, most).description(""))
      ->capture_default_str();
  command->add_option("--report", options->report, "SVG file for the loss by the rate")->type_name(file);
  add_reading(*command, options->reading);
  add_computing(*command, options->computing, false);
  command->callback([options] { find_rate(*options); });
}

}  // namespace coldpress::command
