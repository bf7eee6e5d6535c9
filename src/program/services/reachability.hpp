#pragma once
#include <span>
#include <string>
#include <vector>

namespace trainrt::program {

/// Time limits for probing several addresses at the same time.
struct ConnectLimits {
  double limit_s;        ///< total time for all addresses
  double after_first_s;  ///< time for the remaining addresses after one address was reached
};

/// Connects to all addresses at the same time and checks whether an IdentityListener with this port and nonce answers.
/// Returns, for each address, the local address of the connection, or "" if the listener was not reached.
std::vector<std::string> probe_addresses(std::span<const std::string> addresses, int port, const std::string& nonce,
                                         ConnectLimits limits);

}  // namespace trainrt::program
