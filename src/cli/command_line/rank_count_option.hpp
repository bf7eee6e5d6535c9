#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line/arguments.hpp"

namespace trainrt::cli {

/// The option -n in the help of a command.
inline constexpr CommandOption rank_count_option{"-n", "N", "start N ranks on this machine, without srun or mpiexec"};

/// Removes the option `-n N` or `-nN` from `words` and returns N, the number of ranks to start; nullopt without such an
/// option. Words after `--` belong to a program and are ignored. Throws UsageError that shows `usage` if N is not a valid
/// number of ranks.
std::optional<int> take_rank_count_option(std::vector<std::string>& words, std::string_view usage);

}  // namespace trainrt::cli
