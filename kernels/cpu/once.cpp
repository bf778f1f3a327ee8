// The functions that are compiled once (COLDPRESS_ONCE) for all sources that link the ready-made kernels.
#define COLDPRESS_COMPILES_ONCE
#include <coldpress/core/finite.hpp>
#include <coldpress/optim/policy.hpp>
#include <coldpress/run/labels.hpp>
#include <coldpress/run/samples.hpp>
