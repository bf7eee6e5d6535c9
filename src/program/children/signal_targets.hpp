#pragma once
#include <span>
#include <vector>

#include <sys/types.h>

namespace trainrt::program {

/// A process of a program's process group.
struct GroupMember {
  pid_t pid = 0;
  pid_t parent = 0;
  bool catches = false;  ///< it has a handler for the signal in question
};

/// Which processes of a program get a signal: from its first process down, those that are the first to catch it. They know
/// what to do with the processes that they started: workers of a data loader must live until their parent ends them, and a
/// shell in front of the program passes nothing on. None if no process catches it: then it is for the whole group. Pure.
std::vector<pid_t> first_to_catch(std::span<const GroupMember> group, pid_t leader);

/// The processes of the group that live now; those that cannot be read are left out.
std::vector<GroupMember> members_of_group(pid_t leader, int signal);

}  // namespace trainrt::program
