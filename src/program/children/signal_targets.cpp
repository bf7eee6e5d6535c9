#include "program/children/signal_targets.hpp"

#include <algorithm>

#include "core/process/processes.hpp"

namespace trainrt::program {

std::vector<pid_t> first_to_catch(std::span<const GroupMember> group, pid_t leader) {
  std::vector<pid_t> found;
  std::vector<pid_t> parents;
  for (const auto& member : group)
    if (member.pid == leader) (member.catches ? found : parents).push_back(leader);
  while (!parents.empty()) {
    const auto parent = parents.back();
    parents.pop_back();
    for (const auto& member : group)
      if (member.parent == parent && member.pid != leader) (member.catches ? found : parents).push_back(member.pid);
  }
  std::ranges::sort(found);
  return found;
}

std::vector<GroupMember> members_of_group(pid_t leader, int signal) {
  std::vector<GroupMember> members;
  for (const pid_t process : all_processes())
    if (const auto kin = kinship(process); kin && kin->group == leader)
      members.push_back({process, kin->parent, catches(process, signal)});
  return members;
}

}  // namespace trainrt::program
