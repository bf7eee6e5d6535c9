#include "core/memory.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>
#include <trainrt/error.hpp>

#include "core/host.hpp"

namespace trainrt {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

/// The number behind a word in a file of lines "word number ..."; `otherwise` if there is none.
std::uint64_t number_behind(const fs::path& file, const std::string& wanted, std::uint64_t otherwise) {
  std::ifstream in(file);
  for (std::string word; in >> word;) {
    if (std::uint64_t number = 0; word == wanted && in >> number) return number;
    in.clear();
  }
  return otherwise;
}

/// The number that a file holds; "max", or no such file: unlimited.
std::uint64_t number_in(const fs::path& file) {
  std::ifstream in(file);
  std::uint64_t number = 0;
  return in >> number ? number : unlimited;
}

std::uint64_t difference(std::uint64_t limit, std::uint64_t used) { return limit > used ? limit - used : 0; }

/// Of one cgroup. Its page cache counts as used, but can be dropped.
std::uint64_t left_in(const fs::path& group, const char* limit_name, const char* usage_name) {
  const auto limit = number_in(group / limit_name), used = number_in(group / usage_name);
  if (limit == unlimited || used == unlimited) return unlimited;
  return difference(limit, difference(used, number_behind(group / "memory.stat", "inactive_file", 0)));
}

/// The least of a cgroup and those around it.
std::uint64_t left_in_groups(const fs::path& root, fs::path inner, const char* limit_name, const char* usage_name) {
  auto left = unlimited;
  for (;; inner = inner.parent_path()) {
    left = std::min(left, left_in(root / inner.relative_path(), limit_name, usage_name));
    if (!inner.has_relative_path()) return left;
  }
}

/// Lines of /proc/self/cgroup: "0::/path" (version 2), "4:memory:/path" (version 1).
std::uint64_t left_in_cgroups() {
  std::ifstream in("/proc/self/cgroup");
  auto left = unlimited;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("0::"))
      left = std::min(left, left_in_groups("/sys/fs/cgroup", line.substr(3), "memory.max", "memory.current"));
    if (const auto at = line.find(":memory:"); at != std::string::npos)
      left = std::min(left, left_in_groups("/sys/fs/cgroup/memory", line.substr(at + 8), "memory.limit_in_bytes",
                                           "memory.usage_in_bytes"));
  }
  return left;
}

std::uint64_t left_of_address_space() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return unlimited;
  const auto pages = number_in("/proc/self/statm");
  return difference(limit.rlim_cur, pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)));
}

std::string gibibytes(std::uint64_t bytes) { return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / 0x1p30); }

}  // namespace

std::uint64_t available_memory() {
  const auto of_node = number_behind("/proc/meminfo", "MemAvailable:", unlimited >> 10) << 10;
  return std::min({of_node, left_in_cgroups(), left_of_address_space()});
}

void require_memory(std::uint64_t bytes, const std::string& what) {
  const auto available = available_memory();
  if (bytes <= available) return;
  throw UsageError(fmt::format("{} takes {} of memory ({} bytes), and {} ({} bytes) are left on {}", what, gibibytes(bytes),
                               bytes, gibibytes(available), available, host_name()));
}

std::string out_of_memory_text() {
  return fmt::format("out of memory on {}: more was asked for than there is ({} are left now)", host_name(),
                     gibibytes(available_memory()));
}

}  // namespace trainrt
