// Everything a static user needs: layers, networks as types, training. No third-party header but Boost.Hana's small
// ones.
#pragma once

// First, so that a compiler's error about a shape begins with a short path.
#include <coldpress/core/shape.hpp>

#include <coldpress/graph/blocks.hpp>
#include <coldpress/graph/network.hpp>
#include <coldpress/layers.hpp>
#include <coldpress/optim/optimizers.hpp>
#include <coldpress/optim/solver.hpp>
