// What the environment says of the launcher, with or without MPI.
#include <coldpress/distributed/mpi.hpp>

#include <algorithm>
#include <cstdlib>

namespace coldpress::distributed {

int launched_ranks() {
  // Open MPI's mpirun; mpiexec and srun with PMI; srun with PMIx or without MPI. A mpirun in a job of Slurm counts
  // first.
  for (char const* const name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    if (char const* const text = std::getenv(name)) return std::clamp(std::atoi(text), 1, 1 << 24);
  }
  return 1;
}

}  // namespace coldpress::distributed
