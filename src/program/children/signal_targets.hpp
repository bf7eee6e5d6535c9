#pragma once
#include <span>
#include <vector>

#include <sys/types.h>

namespace trainrt::program {

/// A process of the process group of a program.
struct GroupMember {
  pid_t pid = 0;
  pid_t parent = 0;
  bool catches = false;  ///< the process has a handler for the stop signal
};

/// Returns the processes that must receive the stop signal of a program: each process that catches the signal, unless one
/// of its ancestors also catches it. Ancestors are checked up to `leader`, the first process of the group. A shell around
/// the program does not forward the signal, and worker processes of a data loader must run until their parent ends them.
/// Returns nothing if no process catches the signal; the caller must then signal the group. Pure function.
std::vector<pid_t> first_to_catch(std::span<const GroupMember> group, pid_t leader);

/// Returns the running processes of the process group of `leader`, and whether each process catches `signal`. Omits
/// processes that cannot be read in /proc.
std::vector<GroupMember> members_of_group(pid_t leader, int signal);

}  // namespace trainrt::program
