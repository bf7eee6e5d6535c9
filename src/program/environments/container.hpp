#pragma once
#include <string>
#include <vector>

#include "core/process/child_environment.hpp"

namespace trainrt::program {

/// Makes folders of this node visible in containers of Apptainer and Singularity, under the same paths, by adding them to
/// APPTAINER_BINDPATH and SINGULARITY_BINDPATH (https://apptainer.org/docs/user/latest/bind_paths_and_mounts.html). The
/// user's entries come first. Skips empty paths, paths with a comma or colon, which the lists cannot contain, and folders
/// in $HOME, /tmp and /var/tmp, which containers show by default. Pure.
void show_in_containers(const std::vector<std::string>& folders, Variables& variables);

}  // namespace trainrt::program
