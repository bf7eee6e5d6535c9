#pragma once
#include <string>
#include <vector>

namespace trainrt::cli {

/// Returns the run directories of the Slurm job `job` ("4711", or "4711_3" for a task of a job array). The runs with
/// the newest attempts come first. A run belongs to the job if one of its newest attempts has recorded the job's id.
///
/// Searches `storages`, which are run directories or folders. If it is empty, searches the working directories of the
/// job and of this process, three levels deep. Throws UsageError that names the searched folders if there is no run, or
/// if `job` is not a job number.
std::vector<std::string> find_runs_of_job(const std::string& job, const std::vector<std::string>& storages);

}  // namespace trainrt::cli
