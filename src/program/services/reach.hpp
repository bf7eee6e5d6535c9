#pragma once
#include <span>
#include <string>
#include <vector>

namespace trainrt::program {

/// How long to try to reach several addresses.
struct ConnectLimits {
  double limit_s;        ///< in all
  double after_first_s;  ///< for the others, once one has been reached
};

/// Tries all addresses at once, for a Beacon that listens on `port` and has `nonce`: for each the address of this node
/// that it was reached from, "" if it was not.
std::vector<std::string> reached_from(std::span<const std::string> addresses, int port, const std::string& nonce,
                                      ConnectLimits limits);

}  // namespace trainrt::program
