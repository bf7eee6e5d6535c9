#pragma once
#include <string>

#include "config/run_spec.hpp"

namespace trainrt::tune {

/// The trials of a sweep are mirrored to MIRROR/SWEEP/TRIAL, `spec` being that of the sweep: its name is the sweep's. The
/// sweep's config lies beside them, so that nobody takes the trials of another sweep of that name for his own.
/// The text of its file `name` that is there; "" if there is none, or no mirror. Throws Error if the store cannot be asked.
std::string config_in_mirror(const config::RunSpec& spec, const std::string& name);

/// Puts the file `name` of the sweep's directory there, if it is not there as it is.
void put_config_into_mirror(const config::RunSpec& spec, const std::string& name);

}  // namespace trainrt::tune
