#pragma once
#include <optional>
#include <string>

#include "core/environment.hpp"

namespace trainrt::launch {

/// How many ranks the launch promised, and which variable said so.
struct Promise {
  int size;
  std::string variable;
};

/// The largest of PMI_SIZE, OMPI_COMM_WORLD_SIZE and SLURM_STEP_NUM_TASKS; never SLURM_NTASKS, which the batch shell of a
/// job has too.
std::optional<Promise> promised_ranks(const Environment& environment);

/// True in a process that srun or mpiexec has started as one of a step's ranks, or that such a process has started; not in
/// a shell that is a step (launch/shell_step.hpp).
bool is_in_step(const Environment& environment);

/// True in a process of a step of several ranks, or of a number that is not known. The only task of a step may start ranks
/// of its own.
bool is_rank_of_several(const Environment& environment);

/// True in the batch shell (or the salloc shell) of a job of several tasks, outside any srun step.
bool is_shell_of_parallel_job(const Environment& environment);

/// Throws UsageError if fewer ranks formed than were promised.
void check_promise(const Environment& environment, int formed, const std::string& launcher);

/// The same for a program that has started MPI itself.
void check_promise_of_own_mpi(const Environment& environment, int formed);

}  // namespace trainrt::launch
