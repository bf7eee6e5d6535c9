#pragma once
#include <string>

#include <trainrt/communicator.hpp>

#include "config/run_spec.hpp"

namespace trainrt::trainer {

/// Throws rundir::ForeignRun if the run directory, or the run's folder in a mirror on a file system, belongs to another
/// user who is not trusted (rundir/storage/trust.hpp). Writes nothing. Must be called before anything is restored or
/// written there. Not collective.
void require_own_run(const config::RunSpec& spec);

/// Calls require_own_run() on rank 0. Collective; throws AgreedError.
void require_own_run(const config::RunSpec& spec, Communicator& communicator);

/// Throws rundir::ForeignRun as require_own_run() does, for a directory with the record file `record`, such as that of a
/// sweep.
void require_own(const config::RunSpec& spec, const std::string& record);

}  // namespace trainrt::trainer
