#pragma once
#include <string_view>

namespace trainrt {

/// Marks the start of phase `name`, so that tests can kill this process there. Does nothing unless a variable is set:
/// TRAINRT_PHASE_FILE=FILE writes the name to FILE; TRAINRT_STOP_AT=NAME[:N] stops this process (SIGSTOP) when it enters
/// phase NAME for the N-th time (default 1).
void fault_point(std::string_view name);

}  // namespace trainrt
