#include "cli/start/prepare_srun.hpp"

#include <cstdlib>
#include <string>

#include "batch/restart_decision.hpp"

namespace trainrt::cli {

void prepare_srun(const Environment& environment) {
  setenv("SLURM_EXIT_ERROR", std::to_string(batch::exit_of_srun).c_str(), 1);
  setenv("SLURM_MPI_TYPE", "pmix", 0);
  if (const auto cpus = environment.text("SLURM_CPUS_PER_TASK"))
    setenv("SRUN_CPUS_PER_TASK", cpus->c_str(), 0);  // srun does not take it from the job since Slurm 22.05
}

}  // namespace trainrt::cli
