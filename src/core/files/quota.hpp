#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainrt {

/// Usage and limits of one disk quota. A limit of 0 means that there is none.
struct Quota {
  std::string holder;  ///< whose quota it is: "user", "group" or "project"
  std::uint64_t used_bytes = 0;
  std::uint64_t max_bytes = 0;  ///< the hard limit; the soft limit if its grace time has expired, or if it is the only one
  std::uint64_t used_files = 0;
  std::uint64_t max_files = 0;  ///< the same for the number of files, folders and links
};

/// Returns the quotas with a limit that apply to this process's user, group and project on the file system of `path`, which
/// exists. Asks the kernel (quotactl) and, on Lustre, the program `lfs` if it is installed: at most 2 seconds each. Returns
/// nothing for what neither reports (NFS, BeeGFS, GPFS). An answer for the same path is reused for 10 seconds. Never
/// throws. Any thread.
std::vector<Quota> quotas_at(const std::string& path);

/// Returns "user quota: 1.0 GiB of 10.0 GiB, 9 of 100 files". Pure function.
std::string usage_text(const Quota& quota);

/// Parses the line that `lfs quota -q` prints: path, KiB used, soft and hard limit, grace time, and the same for files.
/// Returns nothing if it is no such line, or sets no limit. Pure function.
std::optional<Quota> parse_lfs_quota(std::string_view text, std::string_view holder);

}  // namespace trainrt
