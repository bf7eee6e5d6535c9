#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/files/quota.hpp"

namespace trainrt {

/// The resource that a failed write lacked.
enum class Shortage {
  none,
  space,        ///< free space of the file system
  inodes,       ///< inodes of the file system, which limit its number of files
  quota_bytes,  ///< the quota of bytes of the user, group or project
  quota_files,  ///< their quota of the number of files
  quota         ///< one of these two quotas; the system does not report which
};

/// Free capacity of a file system for users other than root.
struct StorageRoom {
  std::uint64_t free_bytes = 0;
  std::optional<std::uint64_t> free_inodes;  ///< nullopt if the file system creates inodes on demand
};

/// A shortage, and the part of an error message that states the remaining amount and the remedy.
struct ShortageFound {
  Shortage shortage = Shortage::none;
  std::string text;
};

/// Returns the path itself if it exists, else its nearest existing parent ("/" or "." at the end). A path that cannot be
/// checked, for example without permission, counts as existing.
std::string existing_part(const std::string& path);

/// Returns the free capacity at existing_part(path); nullopt if statvfs(3) fails. Under a project quota of XFS or ext4 this
/// is the capacity of the project. Any thread may call it.
std::optional<StorageRoom> storage_room_at(const std::string& path);

/// Returns the resource that a call on `path` lacked when it failed with `error_number`: Shortage::none and an empty text
/// unless the number is ENOSPC or EDQUOT. Must be called before anything is removed. Takes milliseconds; up to 6 seconds on
/// Lustre if a quota is exceeded. Does not throw. Any thread may call it.
ShortageFound shortage_at(const std::string& path, int error_number);

/// Returns the shortage for known free capacity and quotas. Pure function.
ShortageFound shortage_from(int error_number, const std::optional<StorageRoom>& room, std::span<const Quota> quotas);

/// Returns the system's message for `error_number`, followed by "; " and the text of shortage_at().
std::string reason_with_shortage(const std::string& path, int error_number);

}  // namespace trainrt
