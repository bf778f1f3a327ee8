// A disk that is full in the middle of a training.
#include <coldpress/coldpress.hpp>
#include <coldpress/train.hpp>

#include "data/files.hpp"
#include "train/task.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

/// How many bytes still fit on the disk; below 0: any number.
long room = -1;

/// How many of `size` bytes fit; -1 with errno if none do. As on a real disk, a write may end in the middle.
long fitting(int file, std::size_t size) {
  struct stat status;
  if (room < 0 || ::fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) return static_cast<long>(size);
  if (room == 0 && size > 0) return errno = ENOSPC, -1;
  long const fits = std::min(room, static_cast<long>(size));
  room -= fits;
  return fits;
}

}  // namespace

// They take the places of libc's in this program.
extern "C" ssize_t write(int file, void const* bytes, std::size_t size) {
  long const fits = fitting(file, size);
  return fits < 0 ? -1 : ::syscall(SYS_write, file, bytes, fits);
}
extern "C" ssize_t pwrite(int file, void const* bytes, std::size_t size, off_t offset) {
  long const fits = fitting(file, size);
  return fits < 0 ? -1 : ::syscall(SYS_pwrite64, file, bytes, fits, offset);
}

namespace coldpress::train {
namespace {

TrainerOptions const options{.epochs = 3, .batch = 16, .record_every = 2};
constexpr std::uint64_t last_step = 21;

/// The states after each step, as a run without failures has them.
std::vector<persist::Model> models_of_steps(Task const& data) {
  Typed net;
  Trainer trainer{*net.solver, *data.training, options};
  std::vector<persist::Model> models{trainer.model()};
  trainer.every(steps(1), [&](Trainer& of) { models.push_back(of.model()); });
  trainer.run();
  return models;
}

/// Trains with what `add` adds, on disks with more and more room, until one suffices. Each time the run must end with
/// an error that names a file whose path begins with `path`, the last snapshot must load, and the run must go on and
/// end as if nothing had happened once there is room. Then check() is called.
void fill_disk(std::string const& path, std::string const& snapshot, auto add, auto check) {
  Task const data = task(100);
  auto const models = models_of_steps(data);
  int failed = 0;
  for (long size = 0;; size = size * 5 / 4 + 17) {
    INFO("a disk with room for " << size << " bytes");
    std::filesystem::remove_all(path);
    std::filesystem::remove(snapshot);
    Typed net;
    Trainer trainer{*net.solver, *data.training, options};
    add(trainer);
    Snapshot const& saved = trainer.every(steps(3), Snapshot{snapshot});
    room = size;
    std::string error, file;
    try {
      trainer.run();
    } catch (FileError const& thrown) {
      error = thrown.what(), file = thrown.file();
    }
    room = -1;
    bool const is_full = !error.empty();
    if (is_full) {
      ++failed;
      INFO(error);
      CHECK(contains(error, std::strerror(ENOSPC)));
      CHECK((file.starts_with(path) || file == snapshot));
      CHECK(trainer.model() == models[trainer.iteration()]);
      if (!saved.last().empty()) {
        auto const checkpoint = persist::read_checkpoint(saved.last());
        CHECK(checkpoint.model.weights == models[checkpoint.iteration].weights);
        CHECK(checkpoint.iteration + 3 >= trainer.iteration());
      }
      trainer.run();
    }
    CHECK(trainer.iteration() == last_step);
    CHECK(trainer.model() == models.back());
    CHECK(persist::read_checkpoint(snapshot).model.weights == models.back().weights);
    check();
    if (!is_full) break;
  }
  CHECK(failed > 5);
}

/// The lines of a CSV log without the seconds, which differ from run to run.
std::vector<std::string> rows_of(std::string const& path) {
  std::vector<std::string> rows;
  std::istringstream text{content(path)};
  for (std::string line; std::getline(text, line);) {
    auto const second = line.find(',', line.find(',') + 1), third = line.find(',', second + 1);
    rows.push_back(line.erase(second, third - second));
  }
  return rows;
}

TEST_CASE("a CSV log on a full disk ends the run, and has all rows once there is room") {
  TemporaryFolder const folder;
  Task const data = task(100);
  Typed net;
  Trainer trainer{*net.solver, *data.training, options};
  trainer.every(steps(1), CsvLog{folder / "expected.csv"});
  trainer.run();
  auto const expected = rows_of(folder / "expected.csv");
  CHECK(expected.size() > 10);
  fill_disk(
      folder / "log.csv", folder / "snapshot", [&](Trainer& of) { of.every(steps(1), CsvLog{folder / "log.csv"}); },
      [&] { CHECK(rows_of(folder / "log.csv") == expected); });
}

/// The number of whole records in an event file, of which each has its length in front of it; -1 if one is incomplete.
int records_of(std::string const& path) {
  std::string const bytes = content(path);
  int records = 0;
  for (std::size_t at = 0; at < bytes.size(); ++records) {
    std::uint64_t size = 0;
    if (bytes.size() - at < sizeof size) return -1;
    std::memcpy(&size, bytes.data() + at, sizeof size);
    if (size > bytes.size() - at || bytes.size() - at - size < 16) return -1;
    at += size + 16;
  }
  return records;
}

TEST_CASE("event files on a full disk end the run, and stay whole") {
  TemporaryFolder const folder;
  std::string const events = folder / "events";
  std::optional<int> expected;
  auto const all_records = [&] {
    int records = 0;
    for (auto const& entry : std::filesystem::directory_iterator{events}) {
      int const found = records_of(entry.path().string());
      CHECK(found > 0);
      records += found;
    }
    return records;
  };
  {
    Task const data = task(100);
    Typed net;
    Trainer trainer{*net.solver, *data.training, options};
    trainer.every(steps(2), TensorBoard{events});
    trainer.run();
    expected = all_records();
    CHECK(*expected > 50);
  }
  // A call that failed is not made again: the histograms of weights, updates and gradients of its step, twelve
  // records, are missing.
  fill_disk(
      events, folder / "snapshot", [&](Trainer& of) { of.every(steps(2), TensorBoard{events}); },
      [&] {
        int const missing = *expected - all_records();
        CHECK((missing == 0 || missing == 12));
      });
}

TEST_CASE("a report on a full disk ends the run, and the old one stays") {
  TemporaryFolder const folder;
  std::string const path = folder / "report.html";
  fill_disk(
      path, folder / "snapshot",
      [&](Trainer& of) {
        of.every(epochs(1), HtmlReport{path, {.layer_times = false}});
      },
      [&] { CHECK(content(path).ends_with("</html>\n")); });
}

TEST_CASE("a best network that did not fit on the disk is not taken for one that was written") {
  TemporaryFolder const folder;
  std::string const path = folder / "best";
  Task const data = task(100);
  Typed net;
  Trainer trainer{*net.solver, *data.training, options};
  std::vector<persist::Model> models;
  trainer.every(epochs(1), [&](Trainer& of) {
    double const values[] = {3, 1, 2};
    of.statistics().add("own", of.iteration(), values[models.size()]);
    models.push_back(of.model());
    room = models.size() == 2 ? 10 : -1;
  });
  trainer.every(epochs(1), SaveBest{path, {.name = "own"}});
  CHECK(contains(message<FileError>([&] { trainer.run(); }), path));
  room = -1;
  CHECK(persist::read_model(path).weights == models[0].weights);
  trainer.run();
  REQUIRE(models.size() == 3);
  CHECK(persist::read_model(path).weights == models[2].weights);  // 2 is better than 3, which is what was there
}

}  // namespace
}  // namespace coldpress::train
