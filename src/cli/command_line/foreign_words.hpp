#pragma once
#include <string_view>

namespace trainrt::cli {

// Words and options that users know from other tools, such as torchrun, Ray, git and Slurm.

/// Returns advice for a word that other tools have as a command: "status" gives "to show a run: trainrt result RUN_DIR". ""
/// for other words. The advice begins in lower case.
std::string_view advice_for_word(std::string_view word);

/// Returns advice for an option, with its dashes, that other tools have: "--nproc_per_node". "" for other options.
std::string_view advice_for_option(std::string_view option);

}  // namespace trainrt::cli
