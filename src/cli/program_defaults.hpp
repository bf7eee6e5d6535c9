#pragma once
#include <string>
#include <vector>

#include "core/environment.hpp"
#include "core/options.hpp"

namespace trainrt::cli {

/// What makes a config needless for a program: if run.name or run.storage_path is not given, they are set.
///
/// The name is STEM-JOB-HASH in a Slurm job, so that a requeue of the job continues the run, another job is a new run, and
/// steps of one job with other arguments are apart: JOB is "12", or "8_3" for a task of an array, HASH is made of all
/// words. Outside Slurm it is STEM-DATE, and rank 0's counts. STEM is the script's name, else the program's. The folder is
/// `runs` where the job was submitted from, or in the current one. Returns whether the name was made here.
bool add_program_defaults(Options& options, const std::vector<std::string>& command, const Environment& environment);

/// "train-12-1f2e3d4c", of this job or this moment.
std::string name_of_run(const std::vector<std::string>& command, const Environment& environment);

}  // namespace trainrt::cli
