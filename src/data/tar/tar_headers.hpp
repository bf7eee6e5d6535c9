#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "data/bytes/input_file.hpp"

namespace trainrt::data {

/// A regular file in a tar archive.
struct TarEntry {
  std::string name;
  std::uint64_t offset = 0;  ///< of its first byte, in the archive
  std::uint64_t bytes = 0;
};

/// Walks through the headers of a tar archive (POSIX.1-1988 ustar and POSIX.1-2001 pax, GNU, and the old V7 form), once,
/// from its beginning to its end. Contents are not read, but for long names. `take` gets each regular file in its order,
/// and `first`: those of its first bytes that were read anyway. Directories are left out. Throws UsageError that names
/// archive and entry: links, devices, sparse files and whatever else is no plain content; names that are absolute or lead
/// out by `..`; sizes that reach beyond the archive; damaged headers; an archive without an end, or with something behind
/// it; and compressed archives, with advice.
void walk_tar(const InputFile& archive, const std::function<void(TarEntry entry, std::span<const std::byte> first)>& take);

}  // namespace trainrt::data
