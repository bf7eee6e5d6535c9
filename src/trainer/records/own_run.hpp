#pragma once
#include <string>

#include <trainrt/communicator.hpp>

#include "config/run_spec.hpp"

namespace trainrt::trainer {

/// Throws rundir::ForeignRun if the run directory belongs to another user that is not trusted (rundir/storage/trust.hpp).
/// Also checks the run's folder in a mirror on a file system. Writes nothing. Must be called before files in these folders
/// are restored or written. Not collective.
void require_own_run(const config::RunSpec& spec);

/// Calls require_own_run() on rank 0. Collective; throws AgreedError.
void require_own_run(const config::RunSpec& spec, Communicator& communicator);

/// Throws rundir::ForeignRun like require_own_run(), for a directory whose record file is named `record`, such as the
/// directory of a sweep.
void require_own(const config::RunSpec& spec, const std::string& record);

}  // namespace trainrt::trainer
