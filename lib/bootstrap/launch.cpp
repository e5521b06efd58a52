// SPDX-License-Identifier: Apache-2.0
// What the environment says about the launcher.
#include <cstdlib>

#include <fmt/format.h>

#include <chorale/bootstrap/pmix.hpp>
#include <chorale/core/error.hpp>

#include "environment.hpp"

namespace chorale::bootstrap {
namespace {

/// WORLD_SIZE if scripts, torchrun or a Kubernetes job have set all that ranks need to meet; otherwise 0.
int ranks_of_script() {
  for (const char* variable : {"RANK", "MASTER_ADDR", "MASTER_PORT"})
    if (std::getenv(variable) == nullptr) return 0;
  return integer_of("WORLD_SIZE", 0);
}

}  // namespace

launch inspect_launch() {
  detail::require_same_layouts();
  launch l;
  l.pmix = std::getenv("PMIX_NAMESPACE") != nullptr && std::getenv("PMIX_RANK") != nullptr;
  if (const int n = integer_of("OMPI_COMM_WORLD_SIZE", 0); n > 0) {
    l.launcher = "Open MPI mpirun";
    l.ranks = n;
  } else if (const int h = integer_of("PMI_SIZE", 0); h > 0) {
    l.launcher = "a PMI-1 launcher (MPICH hydra?)";
    l.ranks = h;
  } else if (std::getenv("SLURM_STEP_ID") != nullptr && std::getenv("SLURM_PROCID") != nullptr) {
    l.launcher = "Slurm srun";
    const int tasks = integer_of("SLURM_STEP_NUM_TASKS", 0);
    l.ranks = tasks > 0 ? tasks : 1;
  } else if (const int all = ranks_of_script(); all > 1 && !l.pmix) {
    l.launcher = "RANK and WORLD_SIZE";
    l.ranks = all;
    l.explanation = fmt::format(
        "RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT say that this is one of {} processes: set "
        "CHORALE_BOOTSTRAP=tcp, and they are one job; or unset them, for a program of its own",
        all);
    return l;
  } else if (l.pmix) {
    l.launcher = "a PMIx launcher";
    l.ranks = 0;
  } else {
    l.launcher = "none";
  }
  if (l.pmix) {
    l.explanation = fmt::format("started by {} with a PMIx server", l.launcher);
  } else if (l.launcher == "none") {
    l.explanation =
        "not started by a launcher: a singleton of one rank; for more start it with 'mpirun -n N' "
        "(Open MPI), 'prterun -n N' or 'srun --mpi=pmix -n N'";
  } else {
    l.explanation = fmt::format(
        "started by {} as one of {} processes, but without a PMIx server; start it with 'mpirun.openmpi -n "
        "N', 'prterun -n N' or 'srun --mpi=pmix -n N'",
        l.launcher, l.ranks);
  }
  return l;
}

}  // namespace chorale::bootstrap
