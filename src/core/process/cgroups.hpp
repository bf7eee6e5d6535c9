#pragma once
#include <filesystem>
#include <vector>

namespace trainrt {

/// The names of the files of a memory cgroup, which depend on the version of cgroups.
struct CgroupFiles {
  const char* limit;
  const char* usage;
  const char* kills;  ///< has a line "oom_kill N": kills in this cgroup; in version 2 also in its descendants
};

/// A cgroup that counts and limits memory.
struct MemoryCgroup {
  std::filesystem::path folder;
  CgroupFiles files;
};

/// Returns the memory cgroups of this process that are visible from here, the innermost first.
std::vector<MemoryCgroup> memory_cgroups();

}  // namespace trainrt
