#pragma once
#include <span>
#include <string>
#include <vector>

namespace trainrt::program {

/// Time limits for probing several addresses.
struct ConnectLimits {
  double limit_s;        ///< for all addresses together
  double after_first_s;  ///< for the remaining addresses once one was reached
};

/// Probes all addresses at the same time for an IdentityListener with this port and nonce. Returns, for each address, the
/// local address that the connection came from, or "" if the listener was not reached.
std::vector<std::string> probe_addresses(std::span<const std::string> addresses, int port, const std::string& nonce,
                                         ConnectLimits limits);

}  // namespace trainrt::program
