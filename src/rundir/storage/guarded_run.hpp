#pragma once
#include <string>

#include "core/files/guarded_tree.hpp"

namespace trainrt::rundir {

/// Guards the run directory `storage_path`/`name` while the returned object lives: symbolic links in the directory are not
/// followed. Exception: links in artifacts/ are followed, because this folder belongs to the train function.
///
/// The run directory itself may be a link, unless the run is a trial of a sweep. For a trial, `storage_path` is the sweep's
/// directory, which is guarded as well.
GuardedTree guarded_run(const std::string& storage_path, const std::string& name);

}  // namespace trainrt::rundir
