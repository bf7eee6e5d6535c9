#pragma once
#include <trainrt/communicator.hpp>

#include "config/run_spec.hpp"

namespace trainrt::trainer {

/// Restores a missing run directory from the mirror: copies the records and the newest usable checkpoint (see
/// fetch_newest()). Does nothing if the run directory has content or the mirror has no run. Rank 0 copies. Collective.
/// Throws AgreedError if the mirror cannot be read.
void restore_from_mirror(const config::RunSpec& spec, Communicator& communicator);

}  // namespace trainrt::trainer
