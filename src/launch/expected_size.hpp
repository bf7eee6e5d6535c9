#pragma once
#include <optional>
#include <string>

#include "core/environment.hpp"

namespace trainrt::launch {

/// The number of ranks that the launch requested, and the environment variable that holds it.
struct ExpectedSize {
  int size;
  std::string variable;
};

/// Returns the largest of PMI_SIZE, OMPI_COMM_WORLD_SIZE and SLURM_STEP_NUM_TASKS; nullopt if they are not set.
/// SLURM_NTASKS is not used, because the batch shell of a job has it, too.
std::optional<ExpectedSize> expected_size(const Environment& environment);

/// Returns whether this process is a rank that srun or mpiexec started, or a descendant of one. False in a shell that is
/// itself a Slurm step (launch/shell_step.hpp).
bool is_in_step(const Environment& environment);

/// Returns whether this process belongs to a step of several ranks, or of an unknown number of ranks. If it is false,
/// the process may start ranks of its own.
bool is_rank_of_several(const Environment& environment);

/// Returns whether this process runs in the batch shell or salloc shell of a job with several tasks, outside any step.
bool is_shell_of_parallel_job(const Environment& environment);

/// Throws UsageError if the launch requested more ranks than `size`, the size of the World that `launcher` created.
void require_expected_size(const Environment& environment, int size, const std::string& launcher);

/// Throws UsageError if the launch requested more ranks than `size`, the size of MPI_COMM_WORLD in a program that started
/// MPI itself.
void require_expected_size_of_mpi(const Environment& environment, int size);

}  // namespace trainrt::launch
