#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainrt {

/// Usage and limits of one disk quota. A limit of 0 means no limit.
struct Quota {
  std::string holder;  ///< "user", "group" or "project"
  std::uint64_t used_bytes = 0;
  std::uint64_t max_bytes = 0;  ///< hard limit; the soft limit if its grace time has expired or no hard limit is set
  std::uint64_t used_files = 0;
  std::uint64_t max_files = 0;  ///< the same for the number of files, folders and links
};

/// Returns the quotas with a limit that apply to this process's user, group and project on the file system of `path`, which
/// must exist. Queries the kernel (quotactl) and, on Lustre, the program `lfs` if it is installed, at most 2 seconds each.
/// Other file systems (NFS, BeeGFS, GPFS) report no quotas. A result for the same path is reused for 10 seconds. Does not
/// throw. Any thread may call it.
std::vector<Quota> quotas_at(const std::string& path);

/// Returns "user quota: 1.0 GiB of 10.0 GiB, 9 of 100 files". Pure function.
std::string usage_text(const Quota& quota);

/// Parses the line that `lfs quota -q` prints: path, KiB used, soft and hard limit, grace time, and the same for files.
/// Returns nullopt if the line has another form or no limit. Pure function.
std::optional<Quota> parse_lfs_quota(std::string_view text, std::string_view holder);

}  // namespace trainrt
