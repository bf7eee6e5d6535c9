#pragma once
#include <trainrt/communicator.hpp>

#include "config/run_spec.hpp"

namespace trainrt::trainer {

/// Restores a missing run directory from the mirror: copies the records and the newest usable checkpoint (see
/// fetch_newest()). Does nothing if the run directory has content or the mirror has no run. Throws Error if the mirror
/// cannot be read, or another process creates the run directory in the meantime.
void restore_run_from_mirror(const config::RunSpec& spec);

/// Calls restore_run_from_mirror() on rank 0, if the run has a mirror. Collective. Throws AgreedError if it throws.
void restore_from_mirror(const config::RunSpec& spec, Communicator& communicator);

}  // namespace trainrt::trainer
