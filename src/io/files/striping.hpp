#pragma once
#include <cstdint>
#include <string>

namespace trainrt::io {

/// How a Lustre file is spread over its servers.
struct Striping {
  int count = 1;  ///< object storage targets; -1 = all
  std::uint64_t stripe_bytes = std::uint64_t{1} << 20;
};

/// What to choose for shard files of that size when so many are written at once (wiki.lustre.org, "Striping Best
/// Practices": under 1 GiB one target, one large file of a single client 4 to 8, many files one each; a few files share as
/// many as one would have). Pure.
Striping striping_for(std::uint64_t file_bytes, int files);

/// Sets what files that are made in `directory` from now on get, by the program `lfs`, which every Lustre client has (its
/// library's interface for a directory's default varies with its version). Returns "" if it worked; else why not (it
/// took longer than the limit, for one): the file system's default then stays.
std::string set_striping(const std::string& directory, const Striping& striping, double limit_seconds = 10);

}  // namespace trainrt::io
