#pragma once
#include <string>
#include <vector>

#include "core/environment.hpp"

namespace trainrt::config {

struct RunKeys;

/// Name of the environment variable that passes a generated run name to ranks that are started later.
inline constexpr const char* run_name_variable = "TRAINRT_MADE_UP_NAME";

/// Generates the name of a run if the config does not set run.name.
/// - In a Slurm job the name is STEM-JOB-HASH. A requeue of the job therefore resumes the run, and another job starts a new
///   run. Job steps of one job with different arguments have different runs.
/// - Outside Slurm the name is STEM-DATE. It differs between ranks, so that all ranks must use rank 0's name.
///
/// STEM is the stem of the path `source`. JOB is the job's ID: "12", or "8_3" for a task of a job array. HASH depends on
/// `command` and on `words` (other words of the command line). It also depends on the values of the environment variables
/// ($NAME, ${NAME}) that occur in `command`, in `words` and in `texts` (values of the config), except for variables that
/// may differ between ranks or attempts of a run.
std::string generated_run_name(const std::string& source, const std::vector<std::string>& command,
                               const Environment& environment, const std::vector<std::string>& words = {},
                               const std::vector<std::string>& texts = {});

/// Returns the option that a command needs to continue the run with the generated name `name` (RunKeys::continue_with):
/// "--run.name=NAME (before --)". Pure function.
std::string name_option(const std::string& name);

/// Returns the word "again" for advice such as "run the same command again to continue". If the name of the run was
/// generated, the same command would start another run, and the result is "again with --run.name=NAME (before --)". Pure
/// function.
std::string again(const RunKeys& run);

}  // namespace trainrt::config
