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
  std::uint64_t offset = 0;  ///< offset of the entry's first byte in the archive
  std::uint64_t bytes = 0;
};

/// Reads the headers of a tar archive (POSIX.1-1988 ustar, POSIX.1-2001 pax, GNU and V7) from the beginning to the end.
/// Calls `take` for each regular file, in order. Directories are left out, and contents of files are not read.
///
/// The argument `first` of `take` contains those bytes of the file's content that were read together with its header. It
/// may be empty, and is valid only during the call.
///
/// Throws UsageError, which names archive and entry, for:
/// - links, devices, sparse files and other entries without plain content
/// - names that are absolute or lead out of the archive
/// - sizes that exceed the archive
/// - damaged headers
/// - an archive without an end marker, or with data after the end marker
/// - compressed archives
void walk_tar(const InputFile& archive, const std::function<void(TarEntry entry, std::span<const std::byte> first)>& take);

}  // namespace trainrt::data
