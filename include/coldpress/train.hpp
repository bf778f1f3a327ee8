// Training around a solver: minibatches, callbacks, validation, snapshots, statistics. Link coldpress::train.
#pragma once

#include <coldpress/train/score.hpp>
#include <coldpress/train/snapshot.hpp>
#include <coldpress/train/statistics.hpp>
#include <coldpress/train/trainer.hpp>
#include <coldpress/train/validation.hpp>
