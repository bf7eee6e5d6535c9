#pragma once
#include <string_view>

namespace trainrt {

/// Marks the start of the program's phase `name`, so that tests can stop or kill this process at that point. Does nothing
/// unless one of these environment variables is set:
/// - TRAINRT_PHASE_FILE=FILE: writes the phase's name to FILE.
/// - TRAINRT_STOP_AT=NAME[:N]: stops this process (SIGSTOP) when it enters phase NAME for the N-th time (default 1).
void fault_point(std::string_view name);

}  // namespace trainrt
