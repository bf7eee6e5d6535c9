#pragma once
#include <string>

#include "config/run_spec.hpp"
#include "view/summary/run_summary.hpp"

namespace trainrt::cli {

/// For a run with scaling.on_resize = same_bits, returns a description of two things: how its workers would share the
/// CPUs of this Slurm job (outside a job, of this machine), and how much memory they have used so far. Returns "" for
/// other runs, and if the number of workers is unknown. Throws UsageError if the job has too few CPUs or too little
/// memory.
std::string workers_text(const config::RunSpec& spec);

/// Returns the number of workers of a run, whether the number is fixed, and the CPUs of the newest attempt: "8 in every
/// attempt (scaling.on_resize = same_bits); attempt 3: 8 workers on 2 CPUs of 1 node (4 workers per CPU)". Returns ""
/// if the number is unknown.
std::string workers_text(const view::RunSummary& run);

}  // namespace trainrt::cli
