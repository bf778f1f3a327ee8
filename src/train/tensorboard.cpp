// Collects scalars, histograms of weights and pictures, and appends their events to a file per run.
#include <coldpress/train/tensorboard.hpp>

#include "append.hpp"
#include "events.hpp"
#include "picture.hpp"

#include <coldpress/data/atomic_file.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>

namespace coldpress::train {
namespace {

double now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

/// TensorBoard reads the files of a folder in the order of their names.
std::string new_file(std::string const& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) refuse(directory, "cannot create the folder", error.value());
  for (unsigned number = 0;; ++number) {
    char name[64];
    std::snprintf(name, sizeof name, "events.out.tfevents.%010.0f.%04u.coldpress", std::floor(now()), number);
    std::string const path = (std::filesystem::path{directory} / name).string();
    Descriptor const file{
        uninterrupted([&] { return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666); })};
    if (file) return path;
    if (errno != EEXIST) refuse(path, "cannot create", errno);
  }
}

}  // namespace

TensorBoard::TensorBoard(std::string directory, TensorBoardOptions options)
    : directory_(std::move(directory)), options_(options) {
  if (directory_.empty()) throw ConfigError{"TensorBoard needs a folder"};
  if (options_.picture_count < 0)
    throw ConfigError{"TensorBoard cannot show " + std::to_string(options_.picture_count) + " pictures"};
}

void TensorBoard::begin(Trainer& trainer) {
  bool const continues = !file_.empty() && trainer.iteration() >= iteration_;
  if (options_.histograms && (!continues || names_.empty())) {
    names_.clear();
    for (auto const& weight : trainer.solver().model().weights) names_.push_back(weight.name);
    trainer.solver().read_weights(before_);
  }
  if (!continues) start_file(trainer);
}

void TensorBoard::start_file(Trainer& trainer) {
  std::vector<Series> const& all = trainer.statistics().all();
  std::vector<std::size_t> written = written_;
  bool const fresh = written.empty();
  written.resize(all.size());
  std::uint64_t const now_at = trainer.iteration();
  std::uint64_t first = now_at + (now_at > 0);  // the first step of which nothing may be in files
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (written[i] < all[i].iterations.size()) first = std::min(first, all[i].iterations[written[i]]);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto const from = std::ranges::lower_bound(all[i].iterations, first) - all[i].iterations.begin();
    written[i] = std::min(written[i], static_cast<std::size_t>(from));
  }
  std::string events = detail::version_event(now()) + detail::start_event(now(), first);
  if (fresh) {
    std::string const table = trainer.solver().description().table();
    events += detail::text_event(now(), 0, "network", "```\n" + table + "```\n");
    events += pictures();
  }
  std::string path = new_file(directory_);
  try {
    detail::append(path, events);
  } catch (...) {
    std::remove(path.c_str());
    throw;
  }
  file_ = std::move(path);
  written_ = std::move(written);
  iteration_ = now_at;
}

std::string TensorBoard::pictures() const {
  data::Source const* const source = options_.pictures;
  if (!source || detail::channels_of(source->sample_shape()) == 0) return {};
  Shape const& shape = source->sample_shape();
  auto const values = static_cast<std::size_t>(shape.size());
  data::Batches batches{data::in_order(*source), std::max<Index>(1, std::min(options_.picture_count, source->size()))};
  auto const batch = batches.next();
  std::string events;
  for (Index n = 0; n < std::min(options_.picture_count, batch.size); ++n) {
    events += detail::picture_event(now(), 0, "samples/" + std::to_string(n), shape,
                                    batch.samples.subspan(static_cast<std::size_t>(n) * values, values));
  }
  return events;
}

std::string TensorBoard::scalars(Trainer const& trainer, std::vector<std::size_t>& written) const {
  std::vector<Series> const& all = trainer.statistics().all();
  written.resize(all.size());
  std::string events;
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t& k = written[i]; k < all[i].iterations.size(); ++k)
      events += detail::scalar_event(now(), all[i].iterations[k], all[i].name, all[i].values[k]);
  }
  return events;
}

std::string TensorBoard::histograms(Trainer& trainer) {
  std::string events;
  trainer.solver().read_weights(weights_);
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    events += detail::histogram_event(now(), trainer.iteration(), "weights/" + names_[i], weights_[i]);
    changes_.resize(weights_[i].size());
    for (std::size_t k = 0; k < weights_[i].size(); ++k) changes_[k] = weights_[i][k] - before_[i][k];
    events += detail::histogram_event(now(), trainer.iteration(), "updates/" + names_[i], changes_);
  }
  data::Batches::Batch const& batch = trainer.batch();
  if (!options_.gradients || !trainer.solver().gradients(batch.samples, batch.targets, gradients_)) return events;
  for (std::size_t i = 0; i < gradients_.size(); ++i) {
    if (!gradients_[i].empty())
      events += detail::histogram_event(now(), trainer.iteration(), "gradients/" + names_[i], gradients_[i]);
  }
  return events;
}

void TensorBoard::operator()(Trainer& trainer) {
  std::vector<std::size_t> written = written_;
  std::string events = scalars(trainer, written);
  // The end may come in the same step as the last call.
  bool const changed = options_.histograms && trainer.iteration() > iteration_;
  if (changed) events += histograms(trainer);
  if (!detail::append(file_, events)) {  // the file was removed
    start_file(trainer);
    return (*this)(trainer);
  }
  if (changed) before_.swap(weights_);
  iteration_ = trainer.iteration();
  written_ = std::move(written);
}

State TensorBoard::state() const {
  return {.numbers = std::vector<double>(written_.begin(), written_.end()), .tensors = {}};
}

void TensorBoard::restore(State const& state) {
  written_.clear();
  for (double const count : state.numbers) written_.push_back(static_cast<std::size_t>(count_in(name, count)));
  file_.clear();
}

}  // namespace coldpress::train
