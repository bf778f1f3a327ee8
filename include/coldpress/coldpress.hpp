// Everything that static networks need: layers, networks as types, and training.
#pragma once

// It includes no third-party header except a few small ones of Boost.Hana.

// This is first, so that a compiler's error about a shape begins with a short path.
#include <coldpress/core/shape.hpp>

#include <coldpress/layers.hpp>
#include <coldpress/optim/optimizers.hpp>
#include <coldpress/typed/blocks.hpp>
#include <coldpress/typed/network.hpp>
#include <coldpress/typed/solver.hpp>
