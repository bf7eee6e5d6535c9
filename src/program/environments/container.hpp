#pragma once
#include <string>
#include <vector>

#include "core/process/child_environment.hpp"

namespace trainrt::program {

/// Makes folders of this node visible in containers of Apptainer and Singularity, under their paths on the node. For
/// this, the function appends the folders to APPTAINER_BINDPATH and SINGULARITY_BINDPATH in `variables`, after the
/// user's entries (https://apptainer.org/docs/user/latest/bind_paths_and_mounts.html). It skips empty paths, paths with
/// a comma or colon, which these lists cannot contain, and folders in $HOME, /tmp and /var/tmp, which containers show
/// by default. Pure function.
void show_in_containers(const std::vector<std::string>& folders, Variables& variables);

}  // namespace trainrt::program
