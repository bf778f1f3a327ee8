// Training around a solver: minibatches, callbacks, validation, snapshots, statistics, reports. Link coldpress::train.
#pragma once

#include <coldpress/train/csv_log.hpp>
#include <coldpress/train/html_report.hpp>
#include <coldpress/train/layer_times.hpp>
#include <coldpress/train/live_view.hpp>
#include <coldpress/train/score.hpp>
#include <coldpress/train/signal_error.hpp>
#include <coldpress/train/snapshot.hpp>
#include <coldpress/train/statistics.hpp>
#include <coldpress/train/summary.hpp>
#include <coldpress/train/tensorboard.hpp>
#include <coldpress/train/trainer.hpp>
#include <coldpress/train/validation.hpp>
