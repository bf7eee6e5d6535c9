#pragma once
#include <functional>
#include <string>

namespace trainrt::checkpoint {

/// Returns a new name for a directory that only this process writes into, ".saving-HOST.PID.START.SCOPE.NUMBER". START and
/// SCOPE (core/host.hpp) distinguish this process from other processes with the same process id.
std::string private_directory_name();

/// Removes directories with such names from `directory` if their process is no longer running on this host, or, for
/// processes of other hosts, if they have not changed for a day. Calls `warn` for each directory that cannot be removed,
/// and for each running process, because only one program at a time may save into a directory.
void remove_abandoned(const std::string& directory, const std::function<void(const std::string&)>& warn);

}  // namespace trainrt::checkpoint
