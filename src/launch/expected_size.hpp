#pragma once
#include <optional>
#include <string>

#include "core/environment.hpp"

namespace trainrt::launch {

/// The number of ranks that the launcher (srun, mpiexec ...) was asked to start, and the environment variable that holds
/// the number.
struct ExpectedSize {
  int size;
  std::string variable;
};

/// Returns the requested number of ranks: the largest value of PMI_SIZE, OMPI_COMM_WORLD_SIZE and SLURM_STEP_NUM_TASKS;
/// nullopt if these variables are not set. SLURM_NTASKS is not used, because it is also set in the batch shell of a job.
std::optional<ExpectedSize> expected_size(const Environment& environment);

/// Returns whether this process is a rank that srun or mpiexec started, or a descendant of such a rank. False in an
/// interactive shell that is itself a Slurm job step (launch/shell_step.hpp).
bool is_in_step(const Environment& environment);

/// Returns whether this process belongs to a job step of several ranks, or of an unknown number of ranks. If false, the
/// process may start ranks of its own.
bool is_rank_of_several(const Environment& environment);

/// Returns whether this process runs in the batch shell or salloc shell of a Slurm job with several tasks, outside any job
/// step.
bool is_shell_of_parallel_job(const Environment& environment);

/// Throws UsageError if the environment requests more ranks than `size`, the number of ranks that launcher plug-in
/// `launcher` connected. Each rank would then train alone.
void require_expected_size(const Environment& environment, int size, const std::string& launcher);

/// Throws UsageError if the environment requests more ranks than `size`, the size of MPI_COMM_WORLD in a program that
/// started MPI itself. Each rank would then compute alone.
void require_expected_size_of_mpi(const Environment& environment, int size);

}  // namespace trainrt::launch
