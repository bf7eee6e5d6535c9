#pragma once
#include <string>

#include "core/files/guarded_tree.hpp"

namespace trainrt::rundir {

/// Guards the run directory `storage_path`/`name` while the returned object lives: no symbolic link in the directory is
/// followed, except in artifacts/, which belongs to the train function.
///
/// The run directory itself may be a link, unless the run is a trial of a sweep. For a trial, `storage_path` is the sweep's
/// directory, which is guarded as well.
GuardedTree guarded_run(const std::string& storage_path, const std::string& name);

}  // namespace trainrt::rundir
