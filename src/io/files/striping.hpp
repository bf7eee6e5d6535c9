#pragma once
#include <cstdint>
#include <string>

namespace trainrt::io {

/// How Lustre distributes a file over its object storage targets.
struct Striping {
  int count = 1;  ///< number of targets; -1 = all
  std::uint64_t stripe_bytes = std::uint64_t{1} << 20;
};

/// Returns the striping for `files` files of `file_bytes` bytes each that are written at the same time. Follows
/// wiki.lustre.org, "Striping Best Practices": one target per file below 1 GiB, 4 to 8 targets for a single large file, one
/// each for many files. A few files share as many targets as a single file would have. Pure function.
Striping striping_for(std::uint64_t file_bytes, int files);

/// Sets the striping of files created in `directory` from now on, by the program `lfs`, which every Lustre client has (the
/// interface of its library depends on the version). Returns "" on success. Otherwise returns the reason, for example that
/// `lfs` ran for more than `limit_seconds`; files then get the file system's default.
std::string set_striping(const std::string& directory, const Striping& striping, double limit_seconds = 10);

}  // namespace trainrt::io
