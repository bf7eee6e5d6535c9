#include "launch/expected_size.hpp"

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "launch/shell_step.hpp"

namespace trainrt::launch {

std::optional<ExpectedSize> expected_size(const Environment& environment) {
  std::optional<ExpectedSize> largest;
  for (const auto* variable : {"PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    const auto size = environment.number(variable);
    if (size && (!largest || *size > largest->size)) largest = ExpectedSize{*size, variable};
  }
  return largest;
}

bool is_in_step(const Environment& environment) {
  if (is_shell_step(environment)) return false;
  return environment.has("SLURM_STEP_NUM_TASKS") || environment.has("PMI_SIZE") || environment.has("PMIX_NAMESPACE") ||
         environment.has("OMPI_COMM_WORLD_SIZE");
}

bool is_rank_of_several(const Environment& environment) {
  if (!is_in_step(environment)) return false;
  const auto expected = expected_size(environment);
  return !expected || expected->size > 1;
}

bool is_shell_of_parallel_job(const Environment& environment) {
  return !is_in_step(environment) && environment.has("SLURM_JOB_ID") && environment.number("SLURM_NTASKS").value_or(1) > 1;
}

void require_expected_size(const Environment& environment, int size, const std::string& launcher) {
  const auto expected = expected_size(environment);
  if (!expected || expected->size <= size) return;
  const bool slurm = environment.has("SLURM_JOB_ID");
  throw UsageError(fmt::format(
      "{}={} requests {} ranks, but launcher '{}' connected only {} rank{}: each process would train alone. {}",
      expected->variable, expected->size, expected->size, launcher, size, size == 1 ? "" : "s",
      slurm ? "Start it with `srun --mpi=pmix`, or export SLURM_MPI_TYPE=pmix; `srun --mpi=list` lists the available types."
            : "Start it with the mpiexec of MPICH (Debian: mpiexec.mpich) or Intel MPI, or with trainrt -n N."));
}

void require_expected_size_of_mpi(const Environment& environment, int size) {
  const auto expected = expected_size(environment);
  if (!expected || expected->size <= size) return;
  const char* advice = "Start the program with the mpiexec of the MPI that it was built with (Debian: mpiexec.mpich).";
  if (environment.has("PMIX_NAMESPACE"))
    advice =
        "This MPI does not support PMIx: call trainrt::prepare_mpi() before MPI_Init, or start the program with `srun "
        "--mpi=pmi2`.";
  else if (environment.has("SLURM_JOB_ID"))
    advice =
        "Start the program with `srun --mpi=pmi2`, or with `srun --mpi=pmix` and trainrt::prepare_mpi() before MPI_Init.";
  throw UsageError(
      fmt::format("{}={} requests {} ranks, but MPI_COMM_WORLD has only {} rank{}: "
                  "each process would compute alone, and all would save into the same directory. "
                  "{} A process that is meant to run alone must use self_communicator()",
                  expected->variable, expected->size, expected->size, size, size == 1 ? "" : "s", advice));
}

}  // namespace trainrt::launch
