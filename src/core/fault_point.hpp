#pragma once
#include <string_view>

namespace trainrt {

/// Names the phase that this process enters, for tests that kill it there. Costs a comparison while neither variable is
/// set: TRAINRT_PHASE_FILE=FILE  the file's content is the last phase entered (of the rank that has the variable);
/// TRAINRT_STOP_AT=NAME[:N] the process stops itself (SIGSTOP) on entering NAME, for the N-th time (default 1).
void fault_point(std::string_view name);

}  // namespace trainrt
