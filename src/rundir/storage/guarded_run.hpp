#pragma once
#include <string>

#include "core/files/guarded_tree.hpp"

namespace trainrt::rundir {

/// Guards the directory of the run `name` in `storage_path` while the returned object lives: no symbolic link in it is
/// followed, except in artifacts/, which belongs to the train function. The run directory itself may be a link. That of a
/// trial may not: the sweep has made it, so the sweep's directory, which is `storage_path` then, is guarded.
GuardedTree guarded_run(const std::string& storage_path, const std::string& name);

}  // namespace trainrt::rundir
