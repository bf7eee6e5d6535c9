#pragma once
#include <string>

#include "config/run_spec.hpp"

namespace trainrt::tune {

// Trials of a sweep are mirrored to MIRROR/SWEEP/TRIAL. The sweep's config is stored in MIRROR/SWEEP, so that trials of
// another sweep of the same name are not taken for its own. `spec` is the run specification of the sweep.

/// Returns the text of file `name` of the sweep in the mirror; "" if it or the mirror does not exist. Throws Error if the
/// store cannot be reached.
std::string config_in_mirror(const config::RunSpec& spec, const std::string& name);

/// Copies file `name` of the sweep's directory to the mirror unless it is there already.
void put_config_into_mirror(const config::RunSpec& spec, const std::string& name);

}  // namespace trainrt::tune
