// The dynamic API: networks from configs and files, with the names of Juice. Link coldpress::dynamic.
#pragma once

// Files also need coldpress::persist.

#include <coldpress/dynamic/layer.hpp>
#include <coldpress/dynamic/network.hpp>
#include <coldpress/dynamic/solver.hpp>
#include <coldpress/dynamic/stream.hpp>
