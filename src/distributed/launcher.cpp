// What the environment says of the launcher, with or without MPI.
#include <coldpress/distributed/mpi.hpp>

#include <algorithm>
#include <cstdlib>

namespace coldpress::distributed {

int launched_ranks() {
  auto const number = [](char const* name) {
    char const* const text = std::getenv(name);
    return text ? std::clamp(std::atoi(text), 1, 1 << 24) : 1;
  };
  // Open MPI's mpirun; MPICH's, Intel's and srun's with PMI; srun's with PMIx, whose number of tasks is SLURM's.
  return std::max({number("OMPI_COMM_WORLD_SIZE"), number("PMI_SIZE"),
                   std::getenv("PMIX_RANK") ? number("SLURM_STEP_NUM_TASKS") : 1});
}

}  // namespace coldpress::distributed
