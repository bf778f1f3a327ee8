// The dynamic API: networks from configs and files, with Juice's names. Link coldpress::dynamic; files need
// coldpress::persist.
#pragma once

#include <coldpress/dynamic/layer.hpp>
#include <coldpress/dynamic/network.hpp>
#include <coldpress/dynamic/solver.hpp>
