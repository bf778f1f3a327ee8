// Writes a checkpoint at each call and removes the oldest, or writes the network when its metric is the best yet.
#include <coldpress/train/snapshot.hpp>

#include <cstdio>

namespace coldpress::train {
namespace {

void replace(std::string& text, std::string_view what, std::uint64_t with) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at))
    text.replace(at, what.size(), std::to_string(with));
}

}  // namespace

Snapshot::Snapshot(std::string path, Index keep) : path_(std::move(path)), keep_(keep) {
  if (path_.empty()) throw ConfigError{"a snapshot needs a path"};
  if (keep < 0) throw ConfigError{"a snapshot cannot keep " + std::to_string(keep) + " files"};
}

void Snapshot::operator()(Trainer& trainer) {
  if (written_ == trainer.iteration()) return;
  std::string file = path_;
  persist::Checkpoint checkpoint = trainer.checkpoint();
  if (complete) complete(checkpoint);
  replace(file, "{iteration}", checkpoint.iteration);
  replace(file, "{epoch}", checkpoint.epoch);
  persist::write_checkpoint(file, checkpoint);
  last_ = file;
  written_ = checkpoint.iteration;
  if (keep_ == 0 || (!files_.empty() && files_.back() == file)) return;
  files_.push_back(std::move(file));
  for (; static_cast<Index>(files_.size()) > keep_; files_.pop_front()) std::remove(files_.front().c_str());
}

SaveBest::SaveBest(std::string path, Metric metric) : path_(std::move(path)), best_(std::move(metric), 0) {
  if (path_.empty()) throw ConfigError{"the best network needs a path"};
}

void SaveBest::operator()(Trainer& trainer) {
  Best seen = best_;  // a network that could not be written is not the best one
  if (seen.look(trainer) == Best::Found::better) {
    write(path_, trainer.model());
  }
  best_ = std::move(seen);
}

State SaveBest::state() const {
  State state;
  best_.save(state);
  return state;
}

void SaveBest::restore(State const& state) {
  check_state(name, state, Best::numbers);
  best_.restore(name, state.numbers);
}

}  // namespace coldpress::train
