#pragma once
#include "core/environment.hpp"

namespace trainrt::launch {

/// Returns false if PMI_FD names a descriptor that is not an open socket or pipe of this process: another launcher's
/// variables were inherited, and PMI_RANK is not this process's. True without PMI_FD.
bool has_pmi_socket(const Environment& environment);

}  // namespace trainrt::launch
