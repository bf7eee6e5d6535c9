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
  std::uint64_t max_files = 0;  ///< limit of the number of files, folders and links; hard or soft limit as for `max_bytes`
};

/// Returns the disk quotas of this process's user, group and project on the file system of `path`, which must exist.
/// Quotas without a limit are left out.
///
/// Queries the kernel (quotactl) and, on Lustre, the program `lfs` if it is installed; each call of `lfs` takes at most 2
/// seconds. Other network file systems (NFS, BeeGFS, GPFS) report no quotas, so that the result is empty. The last result
/// is reused for 10 seconds if `path` is the same. Does not throw. Thread-safe.
std::vector<Quota> quotas_at(const std::string& path);

/// Returns usage and limits of a quota as text: "user quota: 1.0 GiB of 10.0 GiB, 9 of 100 files". Pure function.
std::string usage_text(const Quota& quota);

/// Parses a line of the output of `lfs quota -q`: path; KiB used, soft limit, hard limit, grace time; the same four for the
/// number of files. `holder` becomes Quota::holder. Returns nullopt if the line has another format or contains no limit.
/// Pure function.
std::optional<Quota> parse_lfs_quota(std::string_view text, std::string_view holder);

}  // namespace trainrt
