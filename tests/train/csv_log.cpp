#include <coldpress/coldpress.hpp>
#include <coldpress/train.hpp>

#include "data/files.hpp"
#include "train/task.hpp"

#include <sstream>

#include <sys/stat.h>

namespace coldpress::train {
namespace {

using Rows = std::vector<std::vector<std::string>>;

Rows rows_of(std::string const& path) {
  Rows rows;
  std::istringstream lines{content(path)};
  for (std::string line; std::getline(lines, line);) {
    rows.emplace_back();
    std::istringstream fields{line + ","};
    for (std::string field; std::getline(fields, field, ',');) rows.back().push_back(field);
  }
  return rows;
}

/// Everything but the seconds, which differ from run to run.
Rows reproducible(std::string const& path) {
  Rows rows = rows_of(path);
  for (auto& row : rows) row.erase(row.begin() + 2);
  return rows;
}

constexpr TrainerOptions options{.epochs = 4, .batch = 16, .seed = 3, .record_every = 3};

void observe(Trainer& trainer, data::Source const& validation, std::string const& path) {
  trainer.every(epochs(1), CsvLog{path});  // before the validation of the same step, whose values it must not miss
  trainer.every(epochs(2), Validation{validation});
}

TEST_CASE("a CSV log has a row for each iteration with a statistic, and an empty field where there is none") {
  TemporaryFolder const folder;
  Task const data = task(100);  // 7 steps an epoch
  Typed net;
  Trainer trainer{*net.solver, *data.training, options};
  observe(trainer, *data.validation, folder / "log.csv");
  trainer.run();
  Rows const rows = rows_of(folder / "log.csv");
  CHECK(rows[0] == std::vector<std::string>{"iteration", "epoch", "seconds", "training/loss", "learning_rate",
                                            "training/loss_epoch", "validation/loss"});
  std::vector<std::string> iterations;
  std::size_t values = 0;
  double seconds = 0;
  for (std::size_t r = 1; r < rows.size(); ++r) {
    REQUIRE(rows[r].size() == rows[0].size());
    iterations.push_back(rows[r][0]);
    CHECK(std::stod(rows[r][2]) >= seconds);
    seconds = std::stod(rows[r][2]);
    for (std::size_t c = 3; c < rows[r].size(); ++c) {
      if (rows[r][c].empty()) continue;
      ++values;
      Series const& series = *trainer.statistics().find(rows[0][c]);
      auto const at = std::ranges::find(series.iterations, std::stoull(rows[r][0])) - series.iterations.begin();
      REQUIRE(at < std::ssize(series.values));
      CHECK(std::stod(rows[r][c]) == series.values[static_cast<std::size_t>(at)]);
    }
  }
  CHECK(iterations == std::vector<std::string>{"3", "6", "7", "9", "12", "14", "15", "18", "21", "24", "27", "28"});
  std::size_t expected = 0;
  for (Series const& series : trainer.statistics().all()) expected += series.values.size();
  CHECK(values == expected);
  // 3 steps of 16 samples in an epoch of 100; the end of an epoch; the last step but one.
  CHECK(rows[1][1] == "0.48");
  CHECK(rows[3][1] == "1");
  CHECK(rows[11][1] == "3.96");
  CHECK(rows[12][1] == "4");
}

TEST_CASE("after resume a CSV log is that of a run that was not interrupted, whatever became of the file") {
  TemporaryFolder const folder;
  Task const data = task(100);
  Typed plain;
  Trainer expected{*plain.solver, *data.training, options};
  observe(expected, *data.validation, folder / "expected.csv");
  expected.run();

  std::string const path = folder / "log.csv";
  Typed first;
  Trainer interrupted{*first.solver, *data.training, options};
  observe(interrupted, *data.validation, path);
  std::optional<persist::Checkpoint> checkpoint;
  interrupted.every(steps(16), [&](Trainer& of) { checkpoint = of.checkpoint(); });
  interrupted.every(steps(23), [&](Trainer& of) { of.stop("later than the checkpoint"); });
  interrupted.run();
  std::string const old = content(path);
  for (std::string const& found : {old, old.substr(0, old.size() - 20), std::string{"something else\n"}}) {
    (void)folder.put("log.csv", found);
    Typed second;
    Trainer resumed{*second.solver, *data.training, options};
    observe(resumed, *data.validation, path);
    REQUIRE(checkpoint);
    resumed.resume(*checkpoint);
    resumed.run();
    CHECK(reproducible(path) == reproducible(folder / "expected.csv"));
  }
}

TEST_CASE("rows are appended, and the file is replaced when a statistic begins or the file is gone") {
  TemporaryFolder const folder;
  Task const data = task(64);
  Typed net;
  Trainer trainer{*net.solver, *data.training, {.epochs = 1, .batch = 2, .record_every = 1}};
  std::string const path = folder / "log.csv";
  std::vector<std::uintmax_t> files;  // each replacement makes another file
  trainer.every(steps(5), [&](Trainer& of) {
    if (of.iteration() >= 15) of.statistics().add("a, \"quoted\" name", of.iteration(), 0.1);
    if (of.iteration() == 25) std::filesystem::remove(path);
  });
  trainer.every(steps(5), CsvLog{path});
  trainer.every(steps(1), [&](Trainer&) {
    struct stat status;
    files.push_back(::stat(path.c_str(), &status) == 0 ? status.st_ino : 0);
  });
  trainer.run();
  // A callback that does not save is called before the log.
  CHECK(files[6] == files[9]);
  CHECK(files[10] == files[14]);
  CHECK(files[5] == files[10]);
  CHECK(files[16] != files[14]);
  CHECK(files[20] == files[16]);
  CHECK(files[24] == 0);
  CHECK(files[26] != 0);
  CHECK(rows_of(path).size() == 33);
  CHECK(contains(content(path), "learning_rate,\"a, \"\"quoted\"\" name\""));
  CHECK(contains(content(path), ",0.1,\n"));
}

TEST_CASE("a CSV log that cannot be written ends the run, and the training is as it was") {
  TemporaryFolder const folder;
  Task const data = task(100);
  Typed plain, net;
  Trainer expected{*plain.solver, *data.training, options};
  expected.run();

  std::string const path = folder / "sub/log.csv";
  Trainer trainer{*net.solver, *data.training, options};
  trainer.every(epochs(1), CsvLog{path});
  CHECK(contains(message<FileError>([&] { trainer.run(); }), path));
  CHECK(trainer.iteration() == 0);
  std::filesystem::create_directory(folder / "sub");
  trainer.every(steps(10), [&](Trainer& of) {
    if (of.iteration() == 10) std::filesystem::remove_all(folder / "sub");
  });
  CHECK(contains(message<FileError>([&] { trainer.run(); }), path));
  CHECK(trainer.iteration() == 14);
  std::filesystem::create_directory(folder / "sub");
  trainer.run();
  CHECK(trainer.model() == expected.model());
  CHECK(rows_of(path).size() == 13);
  CHECK_THROWS_AS(CsvLog{""}, ConfigError);
}

struct Late {
  static constexpr bool saves = true;  // called after the log, which was added before
  void operator()(Trainer& of) { of.statistics().add("late", of.iteration(), 1); }
};

TEST_CASE("a value that comes after its row was written is in the file nevertheless") {
  TemporaryFolder const folder;
  Task const data = task(64);
  Typed net;
  Trainer trainer{*net.solver, *data.training, {.epochs = 1, .batch = 2, .record_every = 1}};
  std::string const path = folder / "log.csv";
  trainer.every(steps(1), CsvLog{path});
  trainer.every(steps(5), Late{});
  std::vector<std::string> found;
  trainer.every(steps(17), [&](Trainer&) {
    for (auto const& row : rows_of(path))
      if (row.back() == "1") found.push_back(row[0]);
  });
  trainer.run();
  CHECK(found == std::vector<std::string>{"5", "10", "15"});
}

TEST_CASE("a damaged state of a CSV log is refused") {
  CsvLog log{"log.csv"};
  CHECK_THROWS_AS(log.restore({.numbers = {1}}), FormatError);
  CHECK_THROWS_AS(log.restore({.numbers = {0.5, 1}}), FormatError);
}

}  // namespace
}  // namespace coldpress::train
