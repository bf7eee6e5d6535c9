#pragma once
#include "config/run_spec.hpp"

namespace trainrt::cli {

/// For program.has_trainer: this process becomes the program, which finds the other ranks as this one would have, and what
/// the config says in its environment (config/launch_settings.hpp). Ranks other than 0 get no standard input, unless it is
/// the program's script. Returns only by a UsageError: there is no such program.
[[noreturn]] void become_program(const config::RunSpec& spec, int rank);

}  // namespace trainrt::cli
