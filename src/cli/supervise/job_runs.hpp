#pragma once
#include <string>
#include <vector>

namespace trainrt::cli {

/// The run directories of a Slurm job, those of the newest attempts first: by the job's number in the records of their
/// newest attempts. They are looked for in the folders of `storages` (or these are run directories), or without any in the
/// job's working directory as Slurm tells it and in the current one, three folders deep. UsageError that says which folders
/// were looked at if there is none, or if `job` is no number of a job ("4711", or "4711_3" of an array).
std::vector<std::string> runs_of_job(const std::string& job, const std::vector<std::string>& storages);

}  // namespace trainrt::cli
