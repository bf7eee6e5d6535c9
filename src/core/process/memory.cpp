#include "core/process/memory.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <vector>

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>
#include <trainrt/error.hpp>

#include "core/host.hpp"

namespace trainrt {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

/// Names of those files in a memory cgroup's folder that contain its limit, its usage and its kills. They depend on the
/// version of cgroups.
struct CgroupFiles {
  const char* limit;
  const char* usage;
  /// File with a line "oom_kill N": number of processes of the cgroup that the kernel killed because memory ran out.
  /// Version 2 also counts the cgroup's descendants.
  const char* kills;
};
constexpr CgroupFiles version_2 = {"memory.max", "memory.current", "memory.events"};
constexpr CgroupFiles version_1 = {"memory.limit_in_bytes", "memory.usage_in_bytes", "memory.oom_control"};

/// A cgroup with memory accounting: its folder, and the names of the files in the folder.
struct MemoryCgroup {
  fs::path folder;
  CgroupFiles files;
};

/// Adds the cgroup with the path `inner` below the mount point `root`, and its ancestors, to `groups`. Folders that do not
/// exist are skipped: in a container, `inner` may be a path outside the container.
void add_with_ancestors(std::vector<MemoryCgroup>& groups, const fs::path& root, fs::path inner, const CgroupFiles& files) {
  for (;; inner = inner.parent_path()) {
    std::error_code none;
    const auto folder = root / inner.relative_path();
    if (fs::exists(folder / files.usage, none)) groups.push_back({folder, files});
    if (!inner.has_relative_path()) return;
  }
}

/// Returns the memory cgroups of this process that are visible to it, the innermost first. They are read from
/// /proc/self/cgroup, which has lines such as "0::/path" (version 2) and "4:memory:/path" (version 1).
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

/// Returns the number after the word `wanted` in a file with lines "word number ..."; nullopt if the word is missing.
std::optional<std::uint64_t> number_after(const std::string& wanted, const fs::path& file) {
  std::ifstream in(file);
  for (std::string word; in >> word;) {
    if (std::uint64_t number = 0; word == wanted && in >> number) return number;
    in.clear();
  }
  return std::nullopt;
}

/// Returns the number in a file of a memory cgroup; `unlimited` if the file contains "max" or does not exist.
std::uint64_t number_in_file(const fs::path& file) {
  std::ifstream in(file);
  std::uint64_t number = 0;
  return in >> number ? number : unlimited;
}

std::uint64_t difference(std::uint64_t limit, std::uint64_t used) { return limit > used ? limit - used : 0; }

/// Returns the bytes that are left of a cgroup's memory limit; `unlimited` if it has no limit. Inactive page cache counts
/// as free here, although the kernel counts it as used, since the kernel can drop it.
std::uint64_t left_in(const MemoryCgroup& group) {
  const auto limit = number_in_file(group.folder / group.files.limit),
             used = number_in_file(group.folder / group.files.usage);
  if (limit == unlimited || used == unlimited) return unlimited;
  return difference(limit, difference(used, number_after("inactive_file", group.folder / "memory.stat").value_or(0)));
}

std::uint64_t left_in_cgroups() {
  auto left = unlimited;
  for (const auto& group : memory_cgroups()) left = std::min(left, left_in(group));
  return left;
}

std::uint64_t node_bytes(const std::string& line) {
  return number_after(line, "/proc/meminfo").value_or(unlimited >> 10) << 10;
}

std::uint64_t left_of_address_space() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return unlimited;
  const auto pages = number_in_file("/proc/self/statm");
  return difference(limit.rlim_cur, pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)));
}

}  // namespace

std::uint64_t available_memory() {
  return std::min({node_bytes("MemAvailable:"), left_in_cgroups(), left_of_address_space()});
}

std::uint64_t memory_limit() {
  auto limit = node_bytes("MemTotal:");
  for (const auto& group : memory_cgroups()) limit = std::min(limit, number_in_file(group.folder / group.files.limit));
  return limit;
}

std::optional<MemoryShare> fullest_cgroup() {
  std::optional<MemoryShare> fullest;
  const auto node_kib = number_after("MemTotal:", "/proc/meminfo").value_or(0);
  for (const auto& group : memory_cgroups()) {
    const auto limit = number_in_file(group.folder / group.files.limit),
               used = number_in_file(group.folder / group.files.usage);
    if (limit == 0 || limit >= node_kib << 10 || used == unlimited)
      continue;  // no limit: version 1 of cgroups then reports a huge number
    const auto stat = group.folder / "memory.stat";
    const auto cache = number_after("inactive_file", stat).value_or(0) + number_after("active_file", stat).value_or(0);
    const MemoryShare found{difference(used, cache), limit};
    if (!fullest || found.share() > fullest->share()) fullest = found;
  }
  return fullest;
}

MemoryKills memory_kills() {
  const auto groups = memory_cgroups();
  const auto file = groups.empty() ? fs::path() : groups.front().folder / groups.front().files.kills;
  return {.cgroup = number_after("oom_kill", file), .node = number_after("oom_kill", "/proc/vmstat")};
}

void require_memory(std::uint64_t bytes, const std::string& what) {
  const auto available = available_memory();
  if (bytes <= available) return;
  throw UsageError(fmt::format("{} takes {} of memory ({} bytes), and {} ({} bytes) are left on {}", what, gibibytes(bytes),
                               bytes, gibibytes(available), available, host_name()));
}

std::string out_of_memory_text() {
  return fmt::format("out of memory on {}: an allocation failed ({} are left now)", host_name(),
                     gibibytes(available_memory()));
}

std::string gibibytes(std::uint64_t bytes) { return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / 0x1p30); }

}  // namespace trainrt
