#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace trainrt::io {

/// Properties of the file system that contains a path.
struct FileSystem {
  std::string_view name;          ///< "lustre", "gpfs", "beegfs", "nfs", "tmpfs", "ext4", "xfs", ...; "unknown"
  bool parallel = false;          ///< many nodes can write to it at once at full speed
  bool shared = false;            ///< other nodes may access the same files
  bool durable = true;            ///< files survive a crash of the node (false for tmpfs and ramfs)
  std::uint64_t block_bytes = 0;  ///< preferred size of a write (f_bsize)
  std::uint64_t free_bytes = 0;   ///< available to an ordinary user
};
/// Returns the properties of the file system that contains `path`, by statfs(2). Throws StorageError if that fails.
FileSystem file_system_of(const std::string& path);

/// Returns the properties that follow from the magic number alone (linux/magic.h; for Lustre, GPFS and BeeGFS their
/// sources); the sizes are 0. Pure function.
FileSystem file_system_from_magic(std::uint64_t magic);

}  // namespace trainrt::io
