#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/files/quota.hpp"

namespace trainrt {

/// The storage resource that was used up when a write failed.
enum class Shortage {
  none,
  space,        ///< free space of the file system
  inodes,       ///< inodes of the file system, which limit its number of files
  quota_bytes,  ///< the quota of bytes of the user, group or project
  quota_files,  ///< the quota of the number of files of the user, group or project
  quota         ///< the quota of bytes or of files; the system does not report which one
};

/// Free capacity of a file system for users other than root.
struct StorageRoom {
  std::uint64_t free_bytes = 0;
  std::optional<std::uint64_t> free_inodes;  ///< number of free inodes; nullopt if the file system creates inodes on demand
};

/// The result of shortage_at(): the storage resource that was used up when a write failed, and the end of an error message
/// (`text`), which states the amount that is left and the remedy.
struct ShortageFound {
  Shortage shortage = Shortage::none;
  std::string text;
};

/// Returns `path` itself if it exists, else its nearest existing parent ("/" or "." if no other parent exists). A path that
/// cannot be checked, for example without permission, counts as existing.
std::string existing_part(const std::string& path);

/// Returns the free capacity of the file system that contains `path`, or its nearest existing parent if `path` does not
/// exist; nullopt if statvfs(3) fails. If a project quota of XFS or ext4 applies, returns the capacity left in the project.
/// Thread-safe.
std::optional<StorageRoom> storage_room_at(const std::string& path);

/// Returns the storage resource that was used up when a system call on `path` failed with `error_number` (errno). Returns
/// Shortage::none and an empty text unless the number is ENOSPC or EDQUOT. Call this function before removing any file,
/// which would change the result. Takes milliseconds; up to 6 seconds on Lustre if a quota is exceeded. Does not throw.
/// Thread-safe.
ShortageFound shortage_at(const std::string& path, int error_number);

/// Returns the result of shortage_at() for an error number (errno), the free capacity `room` of the file system, and
/// `quotas`. Pure function.
ShortageFound shortage_from(int error_number, const std::optional<StorageRoom>& room, std::span<const Quota> quotas);

/// Returns the system's message for `error_number` (errno). If shortage_at() finds a cause, "; " and its text are appended.
std::string reason_with_shortage(const std::string& path, int error_number);

}  // namespace trainrt
