#pragma once
#include <span>
#include <vector>

#include <sys/types.h>

namespace trainrt::program {

/// A process of a program's process group.
struct GroupMember {
  pid_t pid = 0;
  pid_t parent = 0;
  bool catches = false;  ///< it has a handler for the signal
};

/// Returns the processes of a program that must get a signal: on each path down from the first process `leader`, the first
/// one that catches the signal. A shell in front of the program passes no signal on; workers of a data loader must live
/// until their parent ends them. Returns nothing if no process catches the signal; send it to the group then. Pure.
std::vector<pid_t> first_to_catch(std::span<const GroupMember> group, pid_t leader);

/// Returns the running processes of the group that `leader` leads; omits those that cannot be read.
std::vector<GroupMember> members_of_group(pid_t leader, int signal);

}  // namespace trainrt::program
