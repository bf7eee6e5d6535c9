#pragma once
#include <string>
#include <vector>

#include <sys/types.h>

#include "core/environment.hpp"

namespace trainrt::rundir {

/// Whose runs and sweeps this user continues besides their own.
struct Trust {
  std::vector<std::string> owners;  ///< names or numbers of users, as --trust-owner gives them
  std::vector<std::string> groups;  ///< names of groups, as trust_group of a user's or a centre's trainrt.ini gives them
};

/// The environment variable that hands --trust-owner=USER on to the processes of a run.
inline constexpr const char* trust_owner_variable = "TRAINRT_TRUST_OWNER";

/// Trusts these users (names or numbers, separated by commas) in this process and those that it starts. Call it before
/// threads begin. Throws UsageError for a name that no user has.
void trust_owners(const std::string& users);

/// What the environment names, and trust_group of /etc/trainrt/trainrt.ini and of $XDG_CONFIG_HOME/trainrt/trainrt.ini
/// (~/.config if that variable is not set). A file that others than root and this user can write is ignored, with a
/// warning. Throws UsageError that names file and line for what is no `trust_group = NAME, ...` in [trust].
Trust trust_of(const Environment& environment);

/// Whether `trust` names the user, or a group that the user belongs to.
bool is_trusted(uid_t user, const Trust& trust);

/// Throws ForeignRun if the run or sweep in `directory` is another user's, who is not trusted: the directory itself, a link
/// in its place, or its file `record`. Root is another user. On a file system that gives this user's files another owner,
/// that owner is this user. Does nothing if the directory is missing. One rank calls.
void require_trusted_owner(const std::string& directory, const std::string& record);

}  // namespace trainrt::rundir
