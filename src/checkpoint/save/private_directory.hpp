#pragma once
#include <functional>
#include <string>

namespace trainrt::checkpoint {

/// Returns a new name for a directory that only this process writes into, ".saving-HOST.PID.START.SCOPE.NUMBER". START, the
/// start time of the process, and SCOPE (pid_scope() in core/host.hpp) distinguish the process from other processes with
/// the same process id.
std::string private_directory_name();

/// Removes subdirectories of `directory` that killed processes have left. Candidates are subdirectories with a name of
/// private_directory_name():
/// - If the process belongs to this host, the subdirectory is removed if the process is no longer running.
/// - Otherwise, it is removed if its modification time is older than a day, as the process cannot be checked.
/// - Calls `warn` for each subdirectory that cannot be removed.
/// - Calls `warn` for each process that is still running, because only one program at a time may save into a directory.
void remove_abandoned(const std::string& directory, const std::function<void(const std::string&)>& warn);

}  // namespace trainrt::checkpoint
