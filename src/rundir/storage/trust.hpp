#pragma once
#include <string>
#include <vector>

#include <sys/types.h>

#include "core/environment.hpp"

namespace trainrt::rundir {

/// The trusted users: this user may resume their runs and sweeps.
struct Trust {
  std::vector<std::string> owners;  ///< names or numbers of users, from --trust-owner
  std::vector<std::string> groups;  ///< names of groups, from trust_group in a user's or a centre's trainrt.ini
};

/// The environment variable that passes --trust-owner=USER to the processes of a run.
inline constexpr const char* trust_owner_variable = "TRAINRT_TRUST_OWNER";

/// Trusts `users` (names or numbers, separated by commas) in this process and its child processes. Must be called before
/// threads are started, because it changes the environment. Throws UsageError for an unknown user.
void trust_owners(const std::string& users);

/// Returns the users in the environment, and the groups in key trust_group of /etc/trainrt/trainrt.ini and of
/// $XDG_CONFIG_HOME/trainrt/trainrt.ini (~/.config if that variable is not set). A file that users other than root and this
/// user can write is ignored, with a warning. Throws UsageError, which names file and line, for any other line than
/// `trust_group = NAME, ...` in section [trust].
Trust trust_of(const Environment& environment);

/// Returns whether `trust` contains the user, or a group of which the user is a member.
bool is_trusted(uid_t user, const Trust& trust);

/// Throws ForeignRun if the run or sweep in `directory` belongs to another user who is not trusted.
///
/// The owners of the directory, of a link in its place, and of its file `record` are checked. Root counts as another user.
/// On a file system that gives this user's new files another owner, that owner counts as this user. Does nothing if the
/// directory is missing. One rank calls it.
void require_trusted_owner(const std::string& directory, const std::string& record);

}  // namespace trainrt::rundir
