// What the environment says of the launcher, with or without MPI.
#include <coldpress/distributed/mpi.hpp>

#include <algorithm>
#include <cstdlib>

namespace coldpress::distributed {
namespace {

/// What one launcher calls the number of processes, and the number of this one.
struct Launcher {
  char const *size, *rank;
};
// Open MPI's mpirun; mpiexec and srun with PMI; srun with PMIx or without MPI. A mpirun in a job of Slurm counts first.
constexpr Launcher launchers[] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                                  {"PMI_SIZE", "PMI_RANK"},
                                  {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}};

}  // namespace

int launched_ranks() {
  for (Launcher const& launcher : launchers) {
    if (char const* const text = std::getenv(launcher.size)) return std::clamp(std::atoi(text), 1, 1 << 24);
  }
  return 1;
}

int launched_rank() {
  for (Launcher const& launcher : launchers) {
    if (!std::getenv(launcher.size)) continue;
    char const* const text = std::getenv(launcher.rank);
    return text ? std::clamp(std::atoi(text), 0, launched_ranks() - 1) : 0;
  }
  return 0;
}

}  // namespace coldpress::distributed
