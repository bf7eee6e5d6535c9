#pragma once
#include <cstdint>
#include <string>

namespace trainrt::io {

/// Striping of a file on Lustre: its distribution over object storage targets.
struct Striping {
  int count = 1;  ///< number of object storage targets; -1 = all
  std::uint64_t stripe_bytes = std::uint64_t{1} << 20;
};

/// Returns the Lustre striping for `files` files of `file_bytes` bytes each that are written at the same time. Follows
/// wiki.lustre.org, "Striping Best Practices":
/// - files below 1 GiB: one object storage target per file;
/// - a single larger file: 4 to 8 targets;
/// - a few larger files: together as many targets as a single file;
/// - many larger files: one target per file.
/// Pure function.
Striping striping_for(std::uint64_t file_bytes, int files);

/// Sets the Lustre striping of files that are created in `directory` from now on. Runs the program `lfs`, which every
/// Lustre client has (the interface of Lustre's library depends on the version). Returns "" on success, otherwise the
/// reason for the failure, for example that `lfs` ran for more than `limit_seconds`. After a failure, new files get the
/// file system's default striping.
std::string set_striping(const std::string& directory, const Striping& striping, double limit_seconds = 10);

}  // namespace trainrt::io
