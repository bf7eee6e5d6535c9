#pragma once
#include <string>

#include "config/run_spec.hpp"
#include "view/summary/run_summary.hpp"

namespace trainrt::cli {

/// Returns, for a run with scaling.on_resize = same_bits, a description of how its workers would share the CPUs of this
/// Slurm job or, outside a job, of this machine, and of the memory that they have used so far. Returns "" for other runs,
/// and if the number of workers is unknown. Throws UsageError if the job has too few CPUs or too little memory.
std::string workers_text(const config::RunSpec& spec);

/// Returns, for a run with a known number of workers, this number, whether it is fixed, and the CPUs of the newest attempt:
/// "8 in every attempt (scaling.on_resize = same_bits); attempt 3: 8 workers on 2 CPUs of 1 node (4 workers per CPU)".
/// Otherwise returns "".
std::string workers_text(const view::RunSummary& run);

}  // namespace trainrt::cli
