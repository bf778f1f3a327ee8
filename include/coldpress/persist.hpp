// Files: networks, training configs and checkpoints in Cap'n Proto's format. Link coldpress::persist.
#pragma once

#include <coldpress/persist/checkpoint.hpp>
#include <coldpress/persist/model.hpp>
#include <coldpress/persist/network.hpp>
#include <coldpress/persist/training.hpp>
