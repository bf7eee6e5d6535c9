#pragma once
#include <trainrt/communicator.hpp>

#include "config/run_spec.hpp"

namespace trainrt::trainer {

/// If there is no run directory, and checkpoint.mirror has a copy of this run with a checkpoint that is complete: brings
/// its records and the newest checkpoint that is whole, by its digests, and puts them in the place of the run directory.
/// Collective; rank 0 does it. All throw the same if the store cannot be asked.
void restore_from_mirror(const config::RunSpec& spec, Communicator& communicator);

}  // namespace trainrt::trainer
