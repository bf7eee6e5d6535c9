#pragma once
#include <string>

namespace trainrt::rundir {

// Functions for programs that open another run than the one that their config names. The process that supervises the ranks
// reads the opened run from the file ".opened-NAME" next to the directory of the config's run. The file contains the name
// of the opened run if this run is in the same folder, otherwise the path of the run directory.

/// Records `run_dir` as the run that the program has opened. Does nothing if the ranks are not supervised (environment
/// variable TRAINRT_OPENED not set). Called on rank 0.
void record_opened_run(const std::string& run_dir);

/// Returns the path of the file ".opened-NAME" that records the opened run: the value of the environment variable
/// TRAINRT_OPENED of the ranks.
std::string opened_run_file(const std::string& run_dir_of_config);
/// Returns the directory of the run that the ranks have opened last; `run_dir_of_config` if they have opened no other run.
std::string opened_run(const std::string& run_dir_of_config);
/// Returns whether the ranks have opened a run, which may be that of the config, since the file ".opened-NAME" was removed.
bool has_opened_run(const std::string& run_dir_of_config);
/// Removes the file ".opened-NAME" that records the opened run. Called after that run has finished.
void forget_opened_run(const std::string& run_dir_of_config);

}  // namespace trainrt::rundir
