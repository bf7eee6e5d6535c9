#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace trainrt::io {

/// What a path lies on, as statfs(2) says it.
struct FileSystem {
  std::string_view name;          ///< "lustre", "gpfs", "beegfs", "nfs", "tmpfs", "ext4", "xfs", ...; "unknown"
  bool parallel = false;          ///< many nodes write it at once at full speed
  bool shared = false;            ///< other nodes may see it
  bool durable = true;            ///< survives the node (tmpfs and ramfs do not)
  std::uint64_t block_bytes = 0;  ///< the size that it likes to be written in
  std::uint64_t free_bytes = 0;   ///< for us
};
/// Throws Error if the path cannot be looked at.
FileSystem file_system_of(const std::string& path);

/// Same, from the magic number alone (linux/magic.h; Lustre, GPFS and BeeGFS from their sources). Pure.
FileSystem file_system_from_magic(std::uint64_t magic);

}  // namespace trainrt::io
