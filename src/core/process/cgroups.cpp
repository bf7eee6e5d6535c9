#include "core/process/cgroups.hpp"

#include <fstream>
#include <string>

namespace trainrt {

namespace fs = std::filesystem;

namespace {

constexpr CgroupFiles version_2 = {"memory.max", "memory.current", "memory.events"};
constexpr CgroupFiles version_1 = {"memory.limit_in_bytes", "memory.usage_in_bytes", "memory.oom_control"};

/// Adds a cgroup and its ancestors. A container may see its own cgroup as the root, with the path that it has outside.
void add_with_ancestors(std::vector<MemoryCgroup>& groups, const fs::path& root, fs::path inner, const CgroupFiles& files) {
  for (;; inner = inner.parent_path()) {
    std::error_code none;
    const auto folder = root / inner.relative_path();
    if (fs::exists(folder / files.usage, none)) groups.push_back({folder, files});
    if (!inner.has_relative_path()) return;
  }
}

}  // namespace

/// Lines of /proc/self/cgroup: "0::/path" (version 2), "4:memory:/path" (version 1).
std::vector<MemoryCgroup> memory_cgroups() {
  std::ifstream in("/proc/self/cgroup");
  std::vector<MemoryCgroup> groups;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("0::")) add_with_ancestors(groups, "/sys/fs/cgroup", line.substr(3), version_2);
    if (const auto at = line.find(":memory:"); at != std::string::npos)
      add_with_ancestors(groups, "/sys/fs/cgroup/memory", line.substr(at + 8), version_1);
  }
  return groups;
}

}  // namespace trainrt
