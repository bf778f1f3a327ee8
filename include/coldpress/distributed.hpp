// One training on several processes, with the bits of one (docs/distributed.md). Link coldpress::distributed.
#pragma once

#include <coldpress/distributed/in_process.hpp>
#include <coldpress/distributed/mpi.hpp>
#include <coldpress/distributed/start.hpp>
