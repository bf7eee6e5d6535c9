#pragma once
#include <filesystem>
#include <vector>

namespace trainrt {

/// How the files of a version of memory cgroups are called.
struct CgroupFiles {
  const char* limit;
  const char* usage;
  const char* kills;  ///< has a line "oom_kill N": of this cgroup, in version 2 also of those in it
};

/// A cgroup that counts and limits memory.
struct MemoryCgroup {
  std::filesystem::path folder;
  CgroupFiles files;
};

/// Those that this process is in, as far as they can be seen from here: the innermost first.
std::vector<MemoryCgroup> memory_cgroups();

}  // namespace trainrt
