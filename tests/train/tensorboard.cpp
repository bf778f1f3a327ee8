#include <coldpress/coldpress.hpp>
#include <coldpress/train.hpp>

#include "train/run_python.hpp"
#include "train/task.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

namespace coldpress::train {
namespace {

constexpr TrainerOptions options{.epochs = 4, .batch = 16, .seed = 3, .record_every = 2};

/// What TensorBoard reads; nothing, said aloud, without it.
std::optional<std::vector<std::string>> read_back(std::string const& arguments) {
  auto lines = lines_of_script("read_events.py", arguments);
  if (!lines) WARN("skipped: there is no python3 with tensorboard");
  return lines;
}

/// The scalars as tag, step and value.
using Scalars = std::set<std::tuple<std::string, std::uint64_t, float>>;
Scalars scalars_of(std::vector<std::string> const& lines) {
  Scalars found;
  for (std::string const& line : lines) {
    std::istringstream words{line};
    std::string kind, tag, value;
    std::uint64_t step = 0;
    words >> kind >> tag >> step >> value;
    if (kind == "scalar") CHECK(found.emplace(tag, step, std::stof(value)).second);
  }
  return found;
}
Scalars scalars_of(Statistics const& statistics) {
  Scalars found;
  for (Series const& series : statistics.all())
    for (std::size_t i = 0; i < series.values.size(); ++i)
      found.emplace(series.name, series.iterations[i], static_cast<float>(series.values[i]));
  return found;
}

data::Dataset pictures() {
  data::Dataset dataset{.sample_shape = {1, 5, 4}, .target_shape = {1}};
  for (Index i = 0; i < 3 * 20; ++i) dataset.samples.push_back(static_cast<float>(i % 20) / 19.0f);
  dataset.targets = {0, 1, 2};
  return dataset;
}

TEST_CASE("an event file begins as TensorFlow's do") {
  // The length of the version's event, 24, and its masked checksum, as in every file that TensorFlow writes.
  TemporaryFolder const folder;
  Task const data = task(100);
  Typed net;
  Trainer trainer{*net.solver, *data.training, options};
  TensorBoard const& board = trainer.every(epochs(1), TensorBoard{folder / "run"});
  trainer.run();
  std::string const bytes = content(board.file());
  CHECK(bytes.substr(0, 12) == unhex("1800000000000000a37f4b22"));
  CHECK(bytes.substr(12 + 9, 15) == unhex("1a0d") + "brain.Event:2");
}

TEST_CASE("TensorBoard reads every scalar, histogram, picture and text") {
  TemporaryFolder const folder;
  Task const data = task(100);  // 7 steps an epoch
  auto const shown = data::own(pictures());
  Typed net;
  Trainer trainer{*net.solver, *data.training, options};
  TensorBoard const& board = trainer.every(
      epochs(2), TensorBoard{folder / "run", {.pictures = shown.get(), .picture_count = 2}});  // before the validation
  trainer.every(epochs(1), Validation{*data.validation});
  trainer.every(epochs(2), [](Trainer& of) { of.statistics().add("odd", of.iteration(), -1e-3); });
  trainer.run();
  auto const lines = read_back("'" + folder / "run" + "'");
  if (!lines) return;
  CHECK(scalars_of(*lines) == scalars_of(trainer.statistics()));

  auto const beginning = [&](std::string const& words) {
    return std::ranges::count_if(*lines, [&](std::string const& line) { return line.starts_with(words); });
  };
  CHECK(beginning("histogram ") == 2 * 3 * 4);  // two calls; weights, updates and gradients; four tensors
  // The sums of all values of the histograms, by tag and step.
  std::map<std::pair<std::string, std::uint64_t>, double> sums;
  for (std::string const& line : *lines) {
    std::istringstream words{line};
    std::string kind, tag;
    std::uint64_t step = 0;
    double count = 0, its_sum = 0;
    words >> kind >> tag >> step >> count >> its_sum;
    if (kind == "histogram") sums[{tag, step}] = its_sum;
  }
  for (auto const& weight : trainer.model().weights) {
    double const change = sums[{"weights/" + weight.name, 28}] - sums[{"weights/" + weight.name, 14}];
    CHECK(change != 0);
    CHECK(sums[{"updates/" + weight.name, 28}] == Approx(change).margin(1e-5));  // since the call before
    double sum = 0;
    for (float const value : weight.values) sum += static_cast<double>(value);
    auto const [least, greatest] = std::ranges::minmax(weight.values);
    bool found = false;
    for (std::string const& line : *lines) {
      std::istringstream words{line};
      std::string kind, tag;
      double step = 0, count = 0, its_sum = 0, in_buckets = 0, low = 0, high = 0;
      words >> kind >> tag >> step >> count >> its_sum >> in_buckets >> low >> high;
      if (kind != "histogram" || tag != "weights/" + weight.name || step != 28) continue;
      found = true;
      CHECK(count == static_cast<double>(weight.values.size()));
      CHECK(in_buckets == count);
      CHECK(its_sum == Approx(sum));
      CHECK(low == static_cast<double>(least));
      CHECK(high == static_cast<double>(greatest));
    }
    CHECK(found);
    CHECK(beginning("histogram updates/" + weight.name + " 28 " + std::to_string(weight.values.size())) == 1);
  }
  CHECK(beginning("image samples/") == 2);
  CHECK(beginning("image samples/1 0 4 5 89504e470d0a1a0a") == 1);
  CHECK(beginning("text network") == 1);
  CHECK(std::ranges::any_of(*lines, [](auto const& line) {
    return line.starts_with("text network") && contains(line, "\\nlinear1") && contains(line, "parameters");
  }));

  auto const records = read_back("--records '" + board.file() + "'");
  CHECK(records->back() == "rest 0");
}

TEST_CASE("a file that is cut off is readable up to there") {
  TemporaryFolder const folder;
  Task const data = task(100);
  Typed net;
  Trainer trainer{*net.solver, *data.training, options};
  TensorBoard const& board = trainer.every(epochs(1), TensorBoard{folder / "run", {.histograms = false}});
  trainer.run();
  std::string const bytes = content(board.file());
  std::filesystem::resize_file(board.file(), bytes.size() - 30);  // in the last event but one
  auto const lines = read_back("'" + folder / "run" + "'");
  if (!lines) return;
  Scalars const all = scalars_of(trainer.statistics()), found = scalars_of(*lines);
  CHECK(std::ranges::includes(all, found));
  CHECK(found.size() + 2 >= all.size());
  CHECK(found.size() < all.size());
}

TEST_CASE("after resume TensorBoard shows the run as if it had not been interrupted") {
  TemporaryFolder const folder;
  Task const data = task(100);
  auto const observe = [&](Trainer& trainer, std::string const& run) -> TensorBoard const& {
    trainer.every(epochs(1), Validation{*data.validation});
    return trainer.every(steps(5), TensorBoard{folder / run});
  };
  Typed plain, first, second;
  Trainer expected{*plain.solver, *data.training, options};
  observe(expected, "expected");
  expected.run();

  std::optional<persist::Checkpoint> checkpoint;
  Trainer interrupted{*first.solver, *data.training, options};
  TensorBoard const& old = observe(interrupted, "run");
  interrupted.every(steps(17), [&](Trainer& of) { checkpoint = of.checkpoint(); });  // 15 is the last that is written
  interrupted.every(steps(23), [&](Trainer& of) { of.stop("later than the checkpoint"); });
  interrupted.run();
  Trainer resumed{*second.solver, *data.training, options};
  TensorBoard const& now = observe(resumed, "run");
  REQUIRE(checkpoint);
  resumed.resume(*checkpoint);
  resumed.run();
  CHECK(now.file() != old.file());
  CHECK(now.file() > old.file());

  auto const lines = read_back("'" + folder / "run" + "'"), whole = read_back("'" + folder / "expected" + "'");
  if (!lines || !whole) return;
  CHECK(scalars_of(*lines) == scalars_of(expected.statistics()));
  auto const histograms = [](auto const& all) {
    std::vector<std::string> found;
    for (std::string const& line : all)
      if (line.starts_with("histogram weights/")) found.push_back(line);
    return found;
  };
  CHECK(histograms(*lines) == histograms(*whole));
}

TEST_CASE("event files that cannot be written end the run, and the training is as it was") {
  TemporaryFolder const folder;
  Task const data = task(100);
  Typed plain, net;
  Trainer expected{*plain.solver, *data.training, options};
  expected.run();
  std::string const path = folder / "file";
  (void)folder.put("file", "not a folder");
  Trainer trainer{*net.solver, *data.training, options};
  trainer.every(epochs(1), TensorBoard{path});
  CHECK(contains(message<FileError>([&] { trainer.run(); }), path));
  CHECK(trainer.iteration() == 0);
  std::filesystem::remove(path);
  trainer.every(steps(10), [&](Trainer& of) {
    if (of.iteration() == 20) std::filesystem::remove_all(path), (void)folder.put("file", "again");
  });
  CHECK(contains(message<FileError>([&] { trainer.run(); }), path));
  CHECK(trainer.iteration() == 21);
  std::filesystem::remove(path);
  trainer.run();  // into a new file
  CHECK(trainer.model() == expected.model());
  CHECK(std::distance(std::filesystem::directory_iterator{path}, {}) == 1);
  CHECK_THROWS_AS(TensorBoard{"run"}.restore({.numbers = {-1}}), FormatError);
  CHECK_THROWS_AS(TensorBoard{""}, ConfigError);
  CHECK_THROWS_AS((TensorBoard{"x", {.picture_count = -1}}), ConfigError);
}

}  // namespace
}  // namespace coldpress::train
