#pragma once
#include <optional>
#include <string>

namespace trainrt::rundir {

/// A program may open another run than the one that its config names. Who started the ranks and watches over them learns of
/// it by a file beside the directory of the config's run, ".opened-NAME", which holds the other's
/// name if it is in the same folder, which may be moved, else its path.

/// Rank 0 of ranks that are watched over (environment TRAINRT_OPENED): the run that is open now.
void tell_opened(const std::string& run_dir);

/// For who watches: what the ranks of the config's run are to have in their environment as TRAINRT_OPENED.
std::string opened_file(const std::string& run_dir_of_config);
/// The directory of the run that was opened last; the config's if no other was.
std::string opened_run(const std::string& run_dir_of_config);
/// It has finished.
void forget_opened(const std::string& run_dir_of_config);

}  // namespace trainrt::rundir
