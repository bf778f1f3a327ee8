// Appends rows of statistics to a table, which is written anew when a column is added.
#include <coldpress/train/csv_log.hpp>

#include "append.hpp"
#include "numbers.hpp"

#include <coldpress/data/atomic_file.hpp>

#include <algorithm>

namespace coldpress::train {
namespace {

std::string quoted(std::string const& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (char const c : text) out.append(c == '"' ? 2 : 1, c);
  return out + '"';
}

/// Where the values after an iteration begin.
std::size_t after(Series const& series, std::uint64_t iteration) {
  return static_cast<std::size_t>(std::ranges::upper_bound(series.iterations, iteration) - series.iterations.begin());
}
std::size_t count_until(Statistics const& statistics, std::uint64_t iteration) {
  std::size_t count = 0;
  for (Series const& series : statistics.all()) count += after(series, iteration);
  return count;
}

}  // namespace

CsvLog::CsvLog(std::string path) : path_(std::move(path)) {
  if (path_.empty()) throw ConfigError{"a CSV log needs a path"};
}

void CsvLog::begin(Trainer& trainer) {
  check_writable(path_);
  complete_ = false;
  if (resumed_) earlier_ = (calls_.empty() ? 0 : calls_.back().seconds) - trainer.seconds();
  resumed_ = false;
}

void CsvLog::operator()(Trainer& trainer) {
  if (!calls_.empty() && calls_.back().iteration == trainer.iteration()) calls_.pop_back();
  calls_.push_back({trainer.iteration(), earlier_ + trainer.seconds()});
  Statistics const& statistics = trainer.statistics();
  std::size_t const columns = statistics.all().size();
  bool const grows = complete_ && !trainer.ended() && columns == columns_ && count_until(statistics, last_) == count_;
  complete_ = false;  // unless all of it is written
  if (!grows || !detail::append(path_, rows(trainer, last_))) {
    std::string text = "iteration,epoch,seconds";
    for (Series const& series : statistics.all()) text.append(",").append(quoted(series.name));
    text.append("\n").append(rows(trainer, 0));
    write_atomically(path_, std::as_bytes(std::span{text}));
  }
  complete_ = true;
  columns_ = columns;
  for (Series const& series : statistics.all()) {
    if (!series.iterations.empty()) last_ = std::max(last_, series.iterations.back());
  }
  count_ = count_until(statistics, last_);
}

std::string CsvLog::rows(Trainer const& trainer, std::uint64_t from) const {
  std::vector<Series> const& all = trainer.statistics().all();
  std::vector<std::size_t> next;
  for (Series const& series : all) next.push_back(after(series, from));
  std::string text;
  for (auto call = calls_.begin();;) {
    std::uint64_t iteration = UINT64_MAX;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (next[i] < all[i].iterations.size()) iteration = std::min(iteration, all[i].iterations[next[i]]);
    if (iteration == UINT64_MAX) return text;
    while (call != calls_.end() && call->iteration < iteration) ++call;
    text.append(std::to_string(iteration)).append(",").append(detail::exact(trainer.epochs_done_at(iteration)));
    text.append(",").append(call == calls_.end() ? "" : detail::fixed(call->seconds, 3));
    for (std::size_t i = 0; i < all.size(); ++i) {
      bool const has = next[i] < all[i].iterations.size() && all[i].iterations[next[i]] == iteration;
      text.append(",").append(has ? detail::exact(all[i].values[next[i]++]) : "");
    }
    text += '\n';
  }
}

State CsvLog::state() const {
  State state;
  for (auto const& [iteration, seconds] : calls_) {
    state.numbers.push_back(static_cast<double>(iteration));
    state.numbers.push_back(seconds);
  }
  return state;
}

void CsvLog::restore(State const& state) {
  check_state(name, state, state.numbers.size() / 2 * 2);
  calls_.clear();
  for (std::size_t i = 0; i < state.numbers.size(); i += 2)
    calls_.push_back({static_cast<std::uint64_t>(count_in(name, state.numbers[i])), state.numbers[i + 1]});
  resumed_ = true;
}

}  // namespace coldpress::train
