#pragma once
#include "core/environment.hpp"

namespace trainrt::launch {

/// Returns whether the environment variable PMI_FD is not set, or names an open socket or pipe of this process. If false,
/// the PMI variables were inherited from another launcher, and PMI_RANK is not the rank of this process.
bool has_pmi_socket(const Environment& environment);

/// Returns whether the peer of `socket` has closed the connection, or has died. Does not block, and reads nothing.
bool has_hung_up(int socket);

}  // namespace trainrt::launch
