// The training of a network from a config, or from a checkpoint on.
#pragma once

#include "options.hpp"
#include "run.hpp"

#include <coldpress/distributed/peer_error.hpp>
#include <coldpress/train.hpp>

#include <cstdint>
#include <string>

namespace coldpress::command {

/// The files that a run writes; empty: none.
struct Outputs {
  std::string save, checkpoint, best, report, log, html, tensorboard;
};

struct TrainOptions {
  RunOptions run;
  std::string test;
  Outputs outputs;
  bool keeps_best = false;  // on any rank, while only rank 0 has outputs
  bool live = false;
  train::When checkpoint_when{.epochs = 1};
  std::uint64_t steps = 0;
  Index prefetch = 4;
  double rank_timeout = static_cast<double>(distributed::usual_limit.count());
  Computing computing;
  data::ReadOptions reading;
};

/// Trains, alone or as one of several processes, saves what the options say, and says how it went. Throws what reading,
/// training and writing throw.
void train_run(TrainOptions const& options);

}  // namespace coldpress::command
