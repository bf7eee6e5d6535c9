#pragma once
#include <string>
#include <vector>

#include <sys/types.h>

#include "core/environment.hpp"

namespace trainrt::rundir {

/// The users and groups that the current user trusts. The current user may resume the runs and sweeps of trusted users.
struct Trust {
  std::vector<std::string> owners;  ///< names or numbers of trusted users, from --trust-owner
  /// names of trusted groups, from key trust_group in the user's or the centre's trainrt.ini
  std::vector<std::string> groups;
};

/// Name of the environment variable that passes the value of --trust-owner to the processes of a run.
inline constexpr const char* trust_owner_variable = "TRAINRT_TRUST_OWNER";

/// Declares `users` (names or numbers, separated by commas) as trusted in this process and its child processes. Must be
/// called before threads are started, because it sets an environment variable. Throws UsageError for an unknown user.
void trust_owners(const std::string& users);

/// Returns the trusted users and groups. The users are read from the environment variable TRAINRT_TRUST_OWNER; the groups
/// from key trust_group in /etc/trainrt/trainrt.ini and $XDG_CONFIG_HOME/trainrt/trainrt.ini (~/.config if that variable is
/// not set). A file that users other than root and the current user can write is ignored, with a warning. For any other
/// line than `trust_group = NAME, ...` in section [trust], throws a UsageError that names the file and the line.
Trust trust_of(const Environment& environment);

/// Returns whether `user` is trusted: `trust` contains the user, or a group of which the user is a member.
bool is_trusted(uid_t user, const Trust& trust);

/// Throws ForeignRun if the run or sweep in `directory` belongs to another user that is not trusted. Does nothing if the
/// directory is missing. Called by one rank.
/// - The owners of the directory, of the link if `directory` is a link, and of the file `record` in the directory are
///   checked.
/// - Root counts as another user.
/// - If the file system gives new files of the current user another owner, that owner counts as the current user.
void require_trusted_owner(const std::string& directory, const std::string& record);

}  // namespace trainrt::rundir
