#pragma once
#include <string>

#include "core/files/guarded_tree.hpp"

namespace trainrt::rundir {

/// Guards the directory of run `name` in `storage_path` while the returned object lives: no symbolic link in it is
/// followed, except in artifacts/, which belongs to the train function.
///
/// The run directory itself may be a link, except for a trial of a sweep. For a trial `storage_path` is the sweep's
/// directory, which is guarded as well.
GuardedTree guarded_run(const std::string& storage_path, const std::string& name);

}  // namespace trainrt::rundir
