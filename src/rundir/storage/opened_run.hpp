#pragma once
#include <string>

namespace trainrt::rundir {

// A program may open another run than the one that its config names. The process that supervises the ranks reads the open
// run from the file ".opened-NAME" next to the directory of the config's run. The file contains the name of the open run if
// it is in the same folder, otherwise its path.

/// Records `run_dir` as the run that is open. Does nothing if the ranks are not supervised (no TRAINRT_OPENED in the
/// environment). Rank 0 calls it.
void record_opened_run(const std::string& run_dir);

/// Returns the path of that file, for the environment variable TRAINRT_OPENED of the ranks.
std::string opened_run_file(const std::string& run_dir_of_config);
/// Returns the directory of the run that was opened last; the config's run if the ranks have opened no other.
std::string opened_run(const std::string& run_dir_of_config);
/// Removes the file, after the opened run has finished.
void forget_opened_run(const std::string& run_dir_of_config);

}  // namespace trainrt::rundir
