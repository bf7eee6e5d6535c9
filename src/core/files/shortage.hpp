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
  space,        ///< of the file system
  inodes,       ///< of the file system: its number of files is limited
  quota_bytes,  ///< of the user, group or project
  quota_files,  ///< the same, for the number of files
  quota         ///< one of these two, and the system does not report which
};

/// Free capacity of a file system, as an ordinary user may use it.
struct StorageRoom {
  std::uint64_t free_bytes = 0;
  std::optional<std::uint64_t> free_inodes;  ///< nothing if the file system makes inodes as it needs them
};

/// A shortage, and a clause for an error message that says how much is left and what to do. It names no config key.
struct ShortageFound {
  Shortage shortage = Shortage::none;
  std::string text;
};

/// Returns the path itself if it exists, else its nearest parent that does ("/" or "." at last).
std::string existing_part(const std::string& path);

/// Returns the free capacity at `path`, or at its nearest parent that exists; nothing if the file system cannot be asked.
/// Under a project quota of XFS or ext4 this is the capacity of the project. Any thread.
std::optional<StorageRoom> storage_room_at(const std::string& path);

/// Finds out why a call on `path` failed with `error_number`. For anything but ENOSPC and EDQUOT the shortage is `none` and
/// the text empty. Call it before anything is removed. It takes milliseconds, and up to 6 seconds on Lustre over its quota.
/// Never throws. Any thread.
ShortageFound shortage_at(const std::string& path, int error_number);

/// The decision itself. Pure function.
ShortageFound shortage_from(int error_number, const std::optional<StorageRoom>& room, std::span<const Quota> quotas);

/// Returns the system's text for `error_number`, with that of shortage_at() after "; ".
std::string reason_with_shortage(const std::string& path, int error_number);

}  // namespace trainrt
