#pragma once
#include <string>
#include <vector>

#include "program/environments/environment.hpp"

namespace trainrt::program {

/// Adds folders of this node to those that Apptainer and Singularity show in a container, under the same paths:
/// APPTAINER_BINDPATH and SINGULARITY_BINDPATH, lists with commas
/// (https://apptainer.org/docs/user/latest/bind_paths_and_mounts.html). What the user has set stays in front. Left out are
/// "", paths with a comma or a colon, which those lists cannot hold, and what is shown by default: $HOME, /tmp, /var/tmp.
/// Pure.
void show_in_containers(const std::vector<std::string>& folders, Variables& variables);

}  // namespace trainrt::program
