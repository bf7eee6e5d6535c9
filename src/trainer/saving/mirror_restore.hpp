#pragma once
#include <trainrt/communicator.hpp>

#include "config/run_spec.hpp"

namespace trainrt::trainer {

/// If the run directory does not exist, and the mirror has this run with a usable checkpoint, restores the run directory
/// with the records and the newest usable checkpoint (fetch_newest()). Rank 0 does the work. Collective; throws AgreedError
/// if the mirror cannot be read.
void restore_from_mirror(const config::RunSpec& spec, Communicator& communicator);

}  // namespace trainrt::trainer
