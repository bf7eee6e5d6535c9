#pragma once
#include <string>
#include <vector>

#include "core/environment.hpp"

namespace trainrt::config {

/// The environment variable by which ranks get a name that was made up before they were started.
inline constexpr const char* made_up_name_variable = "TRAINRT_MADE_UP_NAME";

/// The name of a run that nobody has given one. STEM-JOB-HASH in a Slurm job, so that a requeue of the job continues the
/// run, another job is a new run, and steps of one job with other arguments are apart: JOB is "12", or "8_3" for a task of
/// an array, HASH is made of all words of the command, of `words`, and of the environment variables ($NAME, ${NAME}) that
/// these and `texts` refer to; without those that differ between ranks or attempts of one run. Outside Slurm it is
/// STEM-DATE, and the ranks must take rank 0's. STEM is that of the path `source`.
/// `words`: other words of the command line that distinguish runs; `texts`: values of the config file.
std::string made_up_name(const std::string& source, const std::vector<std::string>& command, const Environment& environment,
                         const std::vector<std::string>& words = {}, const std::vector<std::string>& texts = {});

}  // namespace trainrt::config
