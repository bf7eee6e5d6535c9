#pragma once
#include <string_view>

namespace trainrt::cli {

// Words and options that users know from other tools, such as torchrun, Ray, git and Slurm.

/// Returns advice for a word that is a command of another tool: "status" gives "to show a run: trainrt result RUN_DIR".
/// Returns "" for other words. The advice begins in lower case.
std::string_view advice_for_word(std::string_view word);

/// Returns advice for an option of another tool, such as "--nproc_per_node" (with its dashes). Returns "" for other
/// options.
std::string_view advice_for_option(std::string_view option);

}  // namespace trainrt::cli
