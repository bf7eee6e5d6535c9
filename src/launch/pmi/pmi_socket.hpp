#pragma once
#include "core/environment.hpp"

namespace trainrt::launch {

/// Returns false if PMI_FD does not name an open socket or pipe of this process. The PMI variables were then inherited from
/// another launcher, and PMI_RANK is not the rank of this process. Returns true if PMI_FD is not set.
bool has_pmi_socket(const Environment& environment);

}  // namespace trainrt::launch
