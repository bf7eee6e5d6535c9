#include "launch/expected_size.hpp"

#include <array>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "launch/shell_step.hpp"

namespace trainrt::launch {

std::optional<Promise> promised_ranks(const Environment& environment) {
  static constexpr std::array variables = {"PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"};
  std::optional<Promise> best;
  for (const auto* variable : variables) {
    const auto size = environment.number(variable);
    if (size && (!best || *size > best->size)) best = Promise{*size, variable};
  }
  return best;
}

bool is_in_step(const Environment& environment) {
  if (is_shell_step(environment)) return false;
  return environment.has("SLURM_STEP_NUM_TASKS") || environment.has("PMI_SIZE") || environment.has("PMIX_NAMESPACE") ||
         environment.has("OMPI_COMM_WORLD_SIZE");
}

bool is_rank_of_several(const Environment& environment) {
  if (!is_in_step(environment)) return false;
  const auto promise = promised_ranks(environment);
  return !promise || promise->size > 1;
}

bool is_shell_of_parallel_job(const Environment& environment) {
  return !is_in_step(environment) && environment.has("SLURM_JOB_ID") && environment.number("SLURM_NTASKS").value_or(1) > 1;
}

void check_promise(const Environment& environment, int formed, const std::string& launcher) {
  const auto promise = promised_ranks(environment);
  if (!promise || promise->size <= formed) return;
  const bool slurm = environment.has("SLURM_JOB_ID");
  throw UsageError(fmt::format(
      "{}={} promised {} ranks, but the launcher '{}' formed a world of {}: every process would train alone. {}",
      promise->variable, promise->size, promise->size, launcher, formed,
      slurm ? "Start it with `srun --mpi=pmix` (or export SLURM_MPI_TYPE=pmix; `srun --mpi=list` shows what there is)."
            : "Start it with mpiexec of the MPICH that trainrt is built with (Debian: mpiexec.mpich)."));
}

void check_promise_of_own_mpi(const Environment& environment, int formed) {
  const auto promise = promised_ranks(environment);
  if (!promise || promise->size <= formed) return;
  const char* advice = "Start it with mpiexec of the MPI that it is built with (Debian: mpiexec.mpich).";
  if (environment.has("PMIX_NAMESPACE"))
    advice =
        "This MPI does not speak PMIx: call trainrt::prepare_mpi() before MPI_Init, or start it with `srun --mpi=pmi2`.";
  else if (environment.has("SLURM_JOB_ID"))
    advice = "Start it with `srun --mpi=pmi2`, or with `srun --mpi=pmix` and trainrt::prepare_mpi() before MPI_Init.";
  throw UsageError(fmt::format(
      "{}={} promised {} ranks, but MPI formed a world of {}: every process would compute alone, and all would save into "
      "one place. {} A process that is meant to be alone takes self_communicator()",
      promise->variable, promise->size, promise->size, formed, advice));
}

}  // namespace trainrt::launch
