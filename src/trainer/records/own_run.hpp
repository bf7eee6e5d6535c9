#pragma once
#include <string>

#include <trainrt/communicator.hpp>

#include "config/run_spec.hpp"

namespace trainrt::trainer {

/// Throws rundir::ForeignRun if the run directory of the config, or its copy in a folder that checkpoint.mirror names, is
/// another user's, who is not trusted (rundir/storage/trust.hpp). Nothing is written. One rank calls, before anything is
/// restored or written there.
void require_own_run(const config::RunSpec& spec);

/// The same, called by all ranks: rank 0 looks, and all throw the same.
void require_own_run(const config::RunSpec& spec, Communicator& communicator);

/// The same of a directory whose record has another name than run.json: a sweep's.
void require_own(const config::RunSpec& spec, const std::string& record);

}  // namespace trainrt::trainer
