#include "frameworks/program/signal_targets.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

namespace trainrt::program {

namespace fs = std::filesystem;

namespace {

/// The parent's pid and the process group, which stand behind the name in brackets and the state.
std::optional<std::pair<pid_t, pid_t>> parent_and_group(const fs::path& process) {
  std::ifstream file(process / "stat");
  std::string text;
  std::getline(file, text, '\0');
  const auto name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(name_end + 1));
  char state = 0;
  pid_t parent = 0;
  pid_t group = 0;
  if (!(fields >> state >> parent >> group) || state == 'Z') return std::nullopt;
  return std::pair(parent, group);
}

/// By the mask SigCgt: its lowest bit is signal 1.
bool catches(const fs::path& process, int signal) {
  constexpr std::string_view key = "SigCgt:\t";
  std::ifstream file(process / "status");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    std::uint64_t mask = 0;
    std::from_chars(line.data() + key.size(), line.data() + line.size(), mask, 16);
    return (mask >> (signal - 1) & 1) != 0;
  }
  return false;
}

std::optional<pid_t> number_in(const std::string& name) {
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return pid;
}

}  // namespace

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
  std::error_code none;
  for (const auto& entry : fs::directory_iterator("/proc", fs::directory_options::skip_permission_denied, none)) {
    const auto pid = number_in(entry.path().filename().string());
    if (!pid) continue;
    const auto ids = parent_and_group(entry.path());
    if (ids && ids->second == leader) members.push_back({*pid, ids->first, catches(entry.path(), signal)});
  }
  return members;
}

}  // namespace trainrt::program
