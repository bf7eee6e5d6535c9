#pragma once
#include <functional>
#include <string>

namespace trainrt::checkpoint {

/// A new name for a directory that this process alone writes into: ".saving-HOST.PID.START.SCOPE.NUMBER", where START and
/// SCOPE (core/host.hpp) tell this process from any other that ever has its number.
std::string private_directory_name();

/// Removes the directories of such names inside `directory` whose process is gone: those of this host's processes that do
/// not run any more, and of others any that have not changed for a day. One of a living process stays. `say` is told what
/// cannot be removed, and of living processes, which must not save here too.
void remove_abandoned(const std::string& directory, const std::function<void(const std::string&)>& say);

}  // namespace trainrt::checkpoint
