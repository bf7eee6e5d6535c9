#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace trainrt::io {

/// Properties of the file system that contains a path.
struct FileSystem {
  std::string_view name;          ///< "lustre", "gpfs", "beegfs", "nfs", "tmpfs", "ext4", "xfs", ..., or "unknown"
  bool parallel = false;          ///< many nodes can write to the file system at the same time, at full speed
  bool shared = false;            ///< other nodes may access the same files
  bool durable = true;            ///< files survive a crash of the node (false for tmpfs and ramfs)
  std::uint64_t block_bytes = 0;  ///< preferred size of a write in bytes (f_bsize of statfs(2))
  std::uint64_t free_bytes = 0;   ///< free space in bytes that is available to unprivileged users
};
/// Returns the properties of the file system that contains `path`, by statfs(2). Throws StorageError if that fails.
FileSystem file_system_of(const std::string& path);

/// Returns the properties of a file system that are known from its magic number alone (f_type of statfs(2)); the sizes
/// are 0. Pure function.
FileSystem file_system_from_magic(std::uint64_t magic);

}  // namespace trainrt::io
