#pragma once
#include <string>

#include "config/run_spec.hpp"

namespace trainrt::cli {

/// Returns, for a run with scaling.on_resize = same_bits, a description of how its workers would share the CPUs of this
/// Slurm job or, outside a job, of this machine, and of the memory that they have used so far. Returns "" for other runs,
/// and if the number of workers is unknown. Throws UsageError if the job has too few CPUs or too little memory.
std::string workers_text(const config::RunSpec& spec);

}  // namespace trainrt::cli
